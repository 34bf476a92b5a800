# Builds what an installation needs and the build folder does not have yet, so that `cmake --install`
# works after any build.
#
# SLUICE_BUILD  build folder
# SLUICE_FILES  files that the installation copies
set(missing FALSE)
foreach(file IN LISTS SLUICE_FILES)
  if(NOT EXISTS ${file})
    set(missing TRUE)
  endif()
endforeach()
if(missing)
  set(command "cmake --build ${SLUICE_BUILD} --target installed")
  message(STATUS "Building what is missing: ${command}")
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${SLUICE_BUILD} --target installed RESULT_VARIABLE result)
  if(result)
    # A leading space: the line is not wrapped.
    message(FATAL_ERROR " cannot install, this command must succeed first: ${command}")
  endif()
endif()
