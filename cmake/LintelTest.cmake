# How tests are declared. One CTest entry per binary (starting a binary that loads libMLIR costs more than most cases);
# scripts/run_tests.py counts the single cases from the files each entry leaves in ${LINTEL_TEST_RESULTS}.
find_package(GTest REQUIRED)

set(LINTEL_TEST_RESULTS ${PROJECT_BINARY_DIR}/test-results)
set(LINTEL_TEST_TIMEOUT 900 CACHE STRING "seconds after which one CTest entry is stopped and counted as failed")

# Halide's library and LLVM are not instrumented, so containers that cross the border and one-definition checks between
# shared libraries would be false alarms; so would LLVM's bump allocators, which poison memory in our code (they are
# inlined) and do not unpoison it in theirs; what LLVM keeps for the life of the process is named in lsan.supp.
set(LINTEL_TEST_ENVIRONMENT
    "ASAN_OPTIONS=detect_container_overflow=0:detect_odr_violation=0:allow_user_poisoning=0:strict_string_checks=1:detect_stack_use_after_return=1"
    "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/cmake/lsan.supp:print_suppressions=0"
    "UBSAN_OPTIONS=print_stacktrace=1"
    # Kernels are kept by all that they depend on, the build of the compiler among it: what has not changed since the last
    # run is loaded, not compiled again.
    "LINTEL_CACHE=${PROJECT_BINARY_DIR}/test/kernel-cache")

# lintel_test(NAME entry COMMAND ... [TIMEOUT s] [ALONE]): any program whose exit status is the verdict; counts as one.
function(lintel_test)
  cmake_parse_arguments(ARG "ALONE" "NAME;TIMEOUT;WORKING_DIRECTORY" "COMMAND" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT ${LINTEL_TEST_TIMEOUT})
  endif()
  if(NOT ARG_WORKING_DIRECTORY)
    set(ARG_WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
  endif()
  add_test(NAME ${ARG_NAME} COMMAND ${ARG_COMMAND} WORKING_DIRECTORY ${ARG_WORKING_DIRECTORY})
  set_tests_properties(${ARG_NAME} PROPERTIES TIMEOUT ${ARG_TIMEOUT} ENVIRONMENT "${LINTEL_TEST_ENVIRONMENT}")
  if(ARG_ALONE)
    set_tests_properties(${ARG_NAME} PROPERTIES RUN_SERIAL ON)
  endif()
endfunction()

# lintel_unit_test(NAME SOURCES a.cpp ... LINK lib ... [DATA dir] [TIMEOUT s] [ALONE] [NO_MLIR] [NO_PCH])
# A GoogleTest binary (with gtest's own main). Its code sees three string macros: LINTEL_TEST_SOURCE_DIR (DATA, or the
# folder of the CMakeLists.txt), LINTEL_SOURCE_DIR (the project) and LINTEL_BIN_DIR (where lintel and lintel-opt are).
# NO_MLIR keeps MLIR's include paths and libraries away (tests of the runtime). ALONE: nothing else runs beside it.
function(lintel_unit_test name)
  cmake_parse_arguments(ARG "NO_MLIR;NO_PCH;ALONE" "DATA;TIMEOUT" "SOURCES;LINK" ${ARGN})
  if(NOT ARG_DATA)
    set(ARG_DATA ${CMAKE_CURRENT_SOURCE_DIR})
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} lintel_warnings GTest::gtest GTest::gtest_main)
  if(NOT ARG_NO_MLIR)
    target_link_libraries(${name} PRIVATE lintel_mlir)
    if(NOT ARG_NO_PCH AND NOT LINTEL_NO_PCH)
      target_precompile_headers(${name} REUSE_FROM lintel_pch)
      # CMake gives executables -fPIE, which does not fit the header compiled for libraries; the later flag wins.
      target_compile_options(${name} PRIVATE -fPIC)
    endif()
  endif()
  target_compile_definitions(${name} PRIVATE
    LINTEL_TEST_SOURCE_DIR="${ARG_DATA}" LINTEL_SOURCE_DIR="${PROJECT_SOURCE_DIR}" LINTEL_BIN_DIR="${PROJECT_BINARY_DIR}/bin")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test/bin)
  set(more)
  if(ARG_ALONE)
    set(more ALONE)
  endif()
  lintel_test(NAME unit.${name} TIMEOUT ${ARG_TIMEOUT} ${more}
              COMMAND ${name} --gtest_output=xml:${LINTEL_TEST_RESULTS}/unit.${name}.xml)
endfunction()

# lintel_lit_suite(NAME SOURCE dir [EACH_ROOM]): runs lit over a folder; with EACH_ROOM one entry per sub-folder, so that
# a failure names its room. lit finds lit.cfg.py of test/lit for every suite.
function(lintel_lit_suite name)
  cmake_parse_arguments(ARG "EACH_ROOM" "SOURCE" "" ${ARGN})
  set(LINTEL_LIT_NAME ${name})
  set(LINTEL_LIT_SOURCE ${ARG_SOURCE})
  set(LINTEL_LIT_EXEC ${PROJECT_BINARY_DIR}/test/lit/${name})
  configure_file(${PROJECT_SOURCE_DIR}/test/lit/lit.site.cfg.py.in ${LINTEL_LIT_EXEC}/lit.site.cfg.py @ONLY)
  set(rooms .)
  if(ARG_EACH_ROOM)
    file(GLOB rooms RELATIVE ${ARG_SOURCE} CONFIGURE_DEPENDS ${ARG_SOURCE}/*)
  endif()
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  foreach(room ${rooms})
    set(patterns)
    foreach(suffix attn mlir test sched)
      list(APPEND patterns ${ARG_SOURCE}/${room}/*.${suffix})
    endforeach()
    file(GLOB_RECURSE files CONFIGURE_DEPENDS ${patterns})
    # A folder whose files have no RUN: line is data for other tests; lit takes a run without tests for a mistake.
    set(runs)
    foreach(file ${files})
      file(STRINGS ${file} runs REGEX "RUN:" LIMIT_COUNT 1)
      if(runs)
        break()
      endif()
    endforeach()
    if(NOT runs OR room STREQUAL "Inputs")
      continue()
    endif()
    set(entry lit.${name})
    if(ARG_EACH_ROOM)
      set(entry lit.${room})
    endif()
    lintel_test(NAME ${entry} COMMAND ${LINTEL_VENV}/bin/python ${LINTEL_VENV}/bin/lit -v
                -o ${LINTEL_TEST_RESULTS}/${entry}.json ${LINTEL_LIT_EXEC}/${room})
    # lit fills every core by itself.
    set_tests_properties(${entry} PROPERTIES PROCESSORS ${cores})
  endforeach()
endfunction()

# lintel_fuzz_test(NAME SOURCES a.cpp ... LINK lib ... [CORPUS dir] [DICT file] [RUNS n] [MAX_LEN n] [NO_MLIR])
# A libFuzzer target (the source defines LLVMFuzzerTestOneInput). `make test` replays the corpus and does RUNS seeded
# mutations of it; `make fuzz` runs it for FUZZ_SECONDS with our libraries instrumented.
function(lintel_fuzz_test name)
  cmake_parse_arguments(ARG "NO_MLIR" "CORPUS;DICT;RUNS;MAX_LEN" "SOURCES;LINK" ${ARGN})
  if(NOT ARG_RUNS)
    set(ARG_RUNS 5000)
  endif()
  if(NOT ARG_MAX_LEN)
    set(ARG_MAX_LEN 4096)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} lintel_warnings)
  if(NOT ARG_NO_MLIR)
    target_link_libraries(${name} PRIVATE lintel_mlir)
  endif()
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test/fuzz/bin)
  set(work ${PROJECT_BINARY_DIR}/test/fuzz/${name})
  set(seeds)
  if(ARG_CORPUS)
    set(seeds ${ARG_CORPUS})
  endif()
  set(dict)
  if(ARG_DICT)
    set(dict -dict=${ARG_DICT})
  endif()
  # libFuzzer writes what it finds to the first folder; the seeds are only read.
  file(MAKE_DIRECTORY ${work}/found)
  lintel_test(NAME fuzz.${name} WORKING_DIRECTORY ${work}
              COMMAND ${name} -runs=${ARG_RUNS} -seed=1 -max_len=${ARG_MAX_LEN} -timeout=20 -rss_limit_mb=2048
                      -max_total_time=60 -verbosity=0 -print_final_stats=1 ${dict} ${work}/found ${seeds})
  set_property(GLOBAL APPEND PROPERTY LINTEL_FUZZ_TARGETS ${name})
  set_property(GLOBAL APPEND_STRING PROPERTY LINTEL_FUZZ_LIST "${name}|${ARG_MAX_LEN}|${ARG_DICT}|${seeds}\n")
endfunction()

# lintel_spec_fuzz(NAME SOURCES a.cpp ... LINK lib ... COUNT n)
# A fuzzer that is a plain program (test/fuzz/spec_fuzz.cpp): `make test` runs COUNT random specs of a fixed seed, `make
# fuzz` as many as there is time for, of a seed of the day.
function(lintel_spec_fuzz name)
  cmake_parse_arguments(ARG "" "COUNT" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} lintel_warnings lintel_mlir)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test/fuzz/bin)
  set(work ${PROJECT_BINARY_DIR}/test/fuzz/${name})
  file(MAKE_DIRECTORY ${work})
  lintel_test(NAME fuzz.${name} WORKING_DIRECTORY ${work}
              COMMAND ${name} --seed=1 --count=${ARG_COUNT} --shrink=60 --out=${work})
  set_property(GLOBAL APPEND PROPERTY LINTEL_FUZZ_TARGETS ${name})
  set_property(GLOBAL APPEND_STRING PROPERTY LINTEL_FUZZ_LIST "${name}|specs||\n")
endfunction()
