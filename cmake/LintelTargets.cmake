# Flags live on interface targets, never on directories: lintel_warnings for all of our code, lintel_mlir for what uses
# MLIR or LLVM (the runtime never links it). lintel_library() declares a room's library in one line.

add_library(lintel_warnings INTERFACE)
target_compile_options(lintel_warnings INTERFACE -Wall -Wextra -Wno-unused-parameter)
if(LINTEL_SANITIZE)
  target_compile_options(lintel_warnings INTERFACE -fsanitize=${LINTEL_SANITIZE} -fno-omit-frame-pointer
                                                   -fno-sanitize-recover=undefined)
  target_link_options(lintel_warnings INTERFACE -fsanitize=${LINTEL_SANITIZE})
  # LLVM and MLIR are not instrumented: containers that cross the border would be false alarms, and their RTTI is not
  # complete enough for the vptr check. Compiled kernels have no type in front of them for the function check, which
  # reads memory that need not be there.
  target_compile_options(lintel_warnings INTERFACE -fno-sanitize=vptr,function)
endif()
if(LINTEL_FUZZ)
  target_compile_options(lintel_warnings INTERFACE -fsanitize=fuzzer-no-link)
endif()

add_library(lintel_mlir INTERFACE)
target_include_directories(lintel_mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_include_directories(lintel_mlir INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
target_link_libraries(lintel_mlir INTERFACE MLIR LLVM lintel_warnings)
target_compile_options(lintel_mlir INTERFACE -fno-exceptions)

# One precompiled header of MLIR for every library that includes it; without it MLIR's headers are most of the build.
if(NOT LINTEL_NO_PCH)
  add_library(lintel_pch OBJECT ${PROJECT_SOURCE_DIR}/cmake/pch.cpp)
  target_precompile_headers(lintel_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/pch.h)
  target_link_libraries(lintel_pch PRIVATE lintel_mlir)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_compile_options(lintel_mlir INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  endif()
endif()

# lintel_library(NAME SOURCES a.cpp ... [LINK lib ...] [DEPENDS target ...] [NO_PCH])
function(lintel_library name)
  cmake_parse_arguments(ARG "NO_PCH" "" "SOURCES;LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC lintel_mlir ${ARG_LINK})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  if(NOT ARG_NO_PCH AND NOT LINTEL_NO_PCH)
    target_precompile_headers(${name} REUSE_FROM lintel_pch)
  endif()
endfunction()
