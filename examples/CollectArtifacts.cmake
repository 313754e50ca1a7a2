# cmake -DFOLDER=... -DTARGET=... -P CollectArtifacts.cmake: gives what `lintel compile` has written to FOLDER names that
# a build knows beforehand: lib${TARGET}.a, and ${TARGET}.h, in which the kernel is called ${TARGET}_kernel.
file(GLOB libraries ${FOLDER}/liblintel_*.a)
file(GLOB headers ${FOLDER}/lintel_*.h)
list(LENGTH libraries found)
if(NOT found EQUAL 1)
  message(FATAL_ERROR "expected one library in ${FOLDER}, found ${found}")
endif()
get_filename_component(header ${headers} NAME)
get_filename_component(symbol ${headers} NAME_WE)
configure_file(${libraries} ${FOLDER}/lib${TARGET}.a COPYONLY)
file(WRITE ${FOLDER}/${TARGET}.h "#include \"${header}\"\n#define ${TARGET}_kernel ${symbol}\n")
