# Writes OUT, a C++ file with a hash of the sources that decide which code a kernel becomes, unless it says so already:
#
#   cmake -DSOURCE=<this project> -DOUT=<file.cpp> -P CodeHash.cmake
#
# Tuning figures belong to one of these. Left out is what only drives the compiler: tools, the search, most of the driver.
function(lintel_code_sources source result)
  set(folders dialect compiler/frontend compiler/analysis compiler/transforms compiler/pipelines codegen/schedule codegen/halide
              codegen/cpu codegen/emit runtime)
  set(patterns)
  foreach(folder ${folders})
    foreach(ending cpp h td def c)
      list(APPEND patterns ${source}/${folder}/*.${ending})
    endforeach()
  endforeach()
  file(GLOB_RECURSE files ${ARGN} ${patterns} ${source}/compiler/driver/Compilation.* ${source}/cmake/requirements.txt)
  list(SORT files)
  set(${result} ${files} PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  lintel_code_sources(${SOURCE} files)
  set(all)
  foreach(file ${files})
    file(SHA256 ${file} hash)
    file(RELATIVE_PATH name ${SOURCE} ${file})
    string(APPEND all "${name} ${hash}\n")
  endforeach()
  string(SHA256 hash "${all}")
  string(SUBSTRING ${hash} 0 16 hash)
  file(CONFIGURE OUTPUT ${OUT} CONTENT "// Written by cmake/CodeHash.cmake.
namespace lintel {
extern const char codeHash[];
const char codeHash[] = \"@hash@\";
} // namespace lintel
")
endif()
