# Compiler flags, warnings, linker and compiler cache of every target.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # Paths below the checkout count as relative, so that another clone hits too.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
add_link_options(-fuse-ld=lld-19)
if(SLUICE_ASAN)
  # Not vptr: libMLIR and libprotobuf come without the type information it reads. Not object-size: it takes a seventh of
  # the compile time, and the address sanitizer finds accesses outside of objects, too.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=vptr,object-size -fno-omit-frame-pointer
                      -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=address,undefined)
endif()

if(SLUICE_TSAN)
  add_compile_options(-fsanitize=thread)
  add_link_options(-fsanitize=thread)
endif()

if(SLUICE_COVERAGE)
  add_link_options(-fprofile-instr-generate)
endif()

# Compiles these sources by themselves where CMAKE_UNITY_BUILD joins others: their sections have the
# names that the sections of their neighbours have.
function(sluice_compile_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# Warnings of our own code; third-party headers are SYSTEM.
function(sluice_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Werror -Wno-unused-parameter)
endfunction()

# Gives an executable the heap of jemalloc, with which models are compiled in less time. Sanitizers have a heap of their
# own.
function(sluice_heap target)
  if(NOT SLUICE_ASAN AND NOT SLUICE_TSAN)
    target_link_libraries(${target} PRIVATE PkgConfig::jemalloc)
  endif()
endfunction()

# A static library of ours: sluice_library(name SOURCES... [LINK libs...] [PRECOMPILED set]); the set
# is one of SluicePrecompiled.
function(sluice_library name)
  cmake_parse_arguments(ARG "" "PRECOMPILED" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  sluice_warnings(${name})
  sluice_reuse(${name} "${ARG_PRECOMPILED}" standard)
  if(SLUICE_COVERAGE AND CMAKE_CURRENT_SOURCE_DIR MATCHES "/compiler/(conversion|transforms|layout)(/|$)")
    target_compile_options(${name} PRIVATE -fprofile-instr-generate -fcoverage-mapping)
  endif()
endfunction()

# Writes files into a C++ source of the binary folder, as the list that a function returns:
# sluice_embed(SOURCE NAMESPACE FUNCTION COMMENT files...)
function(sluice_embed source namespace function comment)
  set(embed ${PROJECT_SOURCE_DIR}/tools/embed.py)
  add_custom_command(
    OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${source}
    COMMAND ${Python3_EXECUTABLE} ${embed} ${CMAKE_CURRENT_BINARY_DIR}/${source} ${namespace} ${function} ${ARGN}
    DEPENDS ${ARGN} ${embed}
    COMMENT "${comment}")
endfunction()

# Builds what the tests labelled "sanitize" need.
add_custom_target(sanitize_tests)

# Labels a ctest so that the sanitizer build runs it: sluice_sanitize(test targets...)
function(sluice_sanitize test)
  # Vectors, and LLVM's allocators that poison what they have not given out, are shared with
  # libraries that are not instrumented.
  set_property(TEST ${test} APPEND PROPERTY LABELS sanitize)
  set_tests_properties(${test} PROPERTIES
                       ENVIRONMENT ASAN_OPTIONS=detect_container_overflow=0:allow_user_poisoning=0)
  add_dependencies(sanitize_tests ${ARGN})
endfunction()

# Leaves tests of the sanitizer build to tools/whole.sh: those that take long, and whose paths shorter ones also take.
function(sluice_sanitize_in_full)
  foreach(test IN LISTS ARGN)
    set_property(TEST ${test} APPEND PROPERTY LABELS full)
  endforeach()
endfunction()

# Tells tests where models and cases of others are; the parts that need them skip where they are not.
# Label "shared".
function(sluice_needs_shared)
  foreach(test IN LISTS ARGN)
    set_property(TEST ${test} APPEND PROPERTY LABELS shared)
    set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT SLUICE_SHARED=${SLUICE_SHARED})
  endforeach()
endfunction()

# Leaves tests to tools/check.sh: what developers check and users need not. Label "check".
function(sluice_check_only)
  foreach(test IN LISTS ARGN)
    set_property(TEST ${test} APPEND PROPERTY LABELS check)
  endforeach()
endfunction()

# Builds what the tests labelled "threads" need: few, of libraries that are all instrumented.
add_custom_target(thread_tests)

# Labels a ctest, besides, so that the thread sanitizer's build runs it: (test targets...)
function(sluice_sanitize_threads test)
  set_property(TEST ${test} APPEND PROPERTY LABELS threads)
  add_dependencies(thread_tests ${ARGN})
endfunction()

# The static libraries of ours that a target needs, and itself: their names, and the files that are no
# targets. For what is position independent, and for what becomes one object.
function(sluice_static_closure target out)
  set(found ${target})
  set(next ${target})
  while(next)
    list(POP_FRONT next one)
    if(NOT TARGET ${one})
      continue() # a file
    endif()
    get_target_property(libraries ${one} LINK_LIBRARIES)
    foreach(library IN LISTS libraries)
      string(REGEX REPLACE "^\\$<\\$<TARGET_EXISTS:([a-z_]+)>:([a-z_]+)>$" "\\1" library "${library}")
      if(NOT library IN_LIST found AND (library MATCHES "\\.a$" OR (TARGET "${library}" AND library MATCHES "^sluice_")))
        list(APPEND found ${library})
        list(APPEND next ${library})
      endif()
    endforeach()
  endwhile()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# A GoogleTest binary registered with ctest: sluice_test(name SOURCES... [LINK libs...]). Unit tests
# also run with sanitizers. PRECOMPILED as for libraries.
function(sluice_test name)
  cmake_parse_arguments(ARG "" "PRECOMPILED" "SOURCES;LINK;ARGS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gmock GTest::gtest GTest::gtest_main)
  sluice_heap(${name})
  sluice_warnings(${name})
  sluice_reuse(${name} "${ARG_PRECOMPILED}" test)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name} ${ARG_ARGS})
  if(CMAKE_CURRENT_SOURCE_DIR MATCHES "/tests/unit/")
    sluice_sanitize(${name} ${name})
  endif()
endfunction()
