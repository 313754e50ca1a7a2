# Halide comes as a wheel from PyPI (Debian 12 has none recent enough); only codegen/halide may link it.
file(GLOB _halide_roots ${LINTEL_VENV}/lib/python3*/site-packages/halide)
find_path(LINTEL_HALIDE_INCLUDE Halide.h HINTS ${_halide_roots} PATH_SUFFIXES include NO_DEFAULT_PATH REQUIRED)
find_library(LINTEL_HALIDE_LIBRARY Halide HINTS ${_halide_roots} PATH_SUFFIXES lib64 lib NO_DEFAULT_PATH REQUIRED)
add_library(lintel_libhalide SHARED IMPORTED)
set_target_properties(lintel_libhalide PROPERTIES IMPORTED_LOCATION ${LINTEL_HALIDE_LIBRARY})
target_include_directories(lintel_libhalide SYSTEM INTERFACE ${LINTEL_HALIDE_INCLUDE})
