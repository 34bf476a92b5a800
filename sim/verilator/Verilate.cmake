# sluice_verilate(<rtl> <fast|waves>): the library sluice_rtl_<rtl>_<flavour>, a
# model (model.h) of sluice_top with the parameters of the presets that name <rtl>.
# Sets SLUICE_GEOMETRY_INITIALIZER and SLUICE_HAS_WAVES for the registry.
find_program(VERILATOR verilator REQUIRED)
set(SLUICE_VERILATE_DIR ${CMAKE_CURRENT_LIST_DIR})
execute_process(COMMAND ${VERILATOR} --getenv VERILATOR_ROOT
                OUTPUT_VARIABLE VERILATOR_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE)

set(SLUICE_RTL_WAVES "c2b8" CACHE STRING "Geometries to build with assertions and waves")

file(GLOB SLUICE_RTL_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/hw/rtl/*.sv)
# Packages first.
set(SLUICE_RTL_PACKAGES ${SLUICE_RTL_SOURCES})
list(FILTER SLUICE_RTL_PACKAGES INCLUDE REGEX "_pkg\\.sv$")
list(FILTER SLUICE_RTL_SOURCES EXCLUDE REGEX "_pkg\\.sv$")
list(PREPEND SLUICE_RTL_SOURCES ${SLUICE_ISA_PKG} ${SLUICE_RTL_PACKAGES})

# Every Verilator run of the project. XOR trees are miscompiled by 5.006 without
# -fno-const-bit-op-tree.
set(SLUICE_VERILATOR_FLAGS -sv -fno-const-bit-op-tree -I${PROJECT_SOURCE_DIR}/hw/rtl
    -Wall -Wno-UNUSED -Wno-DECLFILENAME)

# The run-time library once for all models.
if(NOT TARGET sluice_verilated)
  add_library(sluice_verilated STATIC
    ${VERILATOR_ROOT}/include/verilated.cpp
    ${VERILATOR_ROOT}/include/verilated_threads.cpp
    ${VERILATOR_ROOT}/include/verilated_fst_c.cpp)
  target_include_directories(sluice_verilated SYSTEM PUBLIC
    ${VERILATOR_ROOT}/include ${VERILATOR_ROOT}/include/vltstd)
  target_compile_definitions(sluice_verilated PUBLIC VM_COVERAGE=0 VM_SC=0 VM_TRACE=1 VM_TRACE_FST=1 VM_TRACE_VCD=0)
  target_compile_options(sluice_verilated PRIVATE -w)
  set_target_properties(sluice_verilated PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(sluice_verilated PUBLIC Threads::Threads ZLIB::ZLIB)
endif()

# Reads the presets of <rtl>: the deepest memories, in the order of the parameters.
function(sluice_read_geometry rtl)
  set(names cores lanes pe_terms weight_blocks inbox_rows local_rows accumulators preload_rows
            instructions host_instructions tables)
  foreach(name ${names})
    set(deepest_${name} 0)
  endforeach()
  file(GLOB presets CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/hw/targets/*.json)
  foreach(preset ${presets})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${preset})
    file(READ ${preset} text)
    string(JSON named GET "${text}" rtl)
    if(NOT named STREQUAL rtl)
      continue()
    endif()
    foreach(name ${names})
      string(JSON value GET "${text}" ${name})
      if(value GREATER deepest_${name})
        set(deepest_${name} ${value})
      endif()
    endforeach()
  endforeach()
  if(deepest_cores EQUAL 0)
    message(FATAL_ERROR "no preset in hw/targets names the rtl ${rtl}")
  endif()
  set(parameters "")
  set(initializer "{\"${rtl}\", \"${rtl}\"")
  foreach(name ${names})
    string(REPLACE "_" ";" parts ${name})
    set(parameter "")
    foreach(part ${parts})
      string(SUBSTRING ${part} 0 1 head)
      string(SUBSTRING ${part} 1 -1 tail)
      string(TOUPPER ${head} head)
      string(APPEND parameter ${head}${tail})
    endforeach()
    list(APPEND parameters -G${parameter}=${deepest_${name}})
    string(APPEND initializer ", ${deepest_${name}}")
  endforeach()
  set(SLUICE_PARAMETERS ${parameters} PARENT_SCOPE)
  set(SLUICE_GEOMETRY_INITIALIZER "${initializer}, 0}" PARENT_SCOPE)
endfunction()

# Verilates <top> to the class <class> in <folder> and compiles it to
# <folder>/<class>__ALL.a; further arguments go to Verilator.
function(sluice_verilated_archive class folder top)
  add_custom_command(
    OUTPUT ${folder}/${class}__ALL.a ${folder}/${class}.h
    COMMAND sh -c "\"$@\" > ${folder}.log 2>&1 || { cat ${folder}.log; exit 1; }" --
            ${VERILATOR} --cc --build -j 2 --top-module ${top} --prefix ${class} --Mdir ${folder}
            ${SLUICE_VERILATOR_FLAGS} ${ARGN} ${SLUICE_RTL_SOURCES} -CFLAGS -std=c++20
            -MAKEFLAGS OPT_FAST=-O2 -MAKEFLAGS OPT_GLOBAL=-O2 -MAKEFLAGS CXX=${CMAKE_CXX_COMPILER}
            -MAKEFLAGS LINK=${CMAKE_CXX_COMPILER} -MAKEFLAGS OBJCACHE=${CCACHE_PROGRAM}
    DEPENDS ${SLUICE_RTL_SOURCES} ${PROJECT_SOURCE_DIR}/hw/rtl/assert.svh sluice_isa_gen
    COMMENT "Verilating ${class}" VERBATIM)
endfunction()

# sluice_rtl_test(<name> TOP <module> SOURCES <C++>... [VERILOG <files>...] [PARAMETERS -G...] [LINK libs...]):
# a GoogleTest of one module, as class V<name>, with assertions and random initial contents.
function(sluice_rtl_test name)
  cmake_parse_arguments(ARG "" "TOP" "SOURCES;VERILOG;PARAMETERS;LINK" ${ARGN})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/V${name})
  sluice_verilated_archive(V${name} ${folder} ${ARG_TOP} --assert --x-assign unique
    --x-initial unique ${ARG_PARAMETERS} ${ARG_VERILOG})
  sluice_test(${name} SOURCES ${ARG_SOURCES} ${folder}/V${name}.h
    LINK ${ARG_LINK} ${folder}/V${name}__ALL.a sluice_verilated)
  target_include_directories(${name} SYSTEM PRIVATE ${folder})
endfunction()

function(sluice_verilate rtl flavour)
  sluice_read_geometry(${rtl})
  string(COMPARE EQUAL "${flavour}" "waves" waves)
  if(waves)
    set(flags --assert --x-assign unique --x-initial unique --trace-fst
        ${SLUICE_VERILATE_DIR}/waves.vlt)
  else()
    set(flags --noassert --x-assign fast --x-initial fast)
  endif()
  # Position independent, for the shared runtime.
  list(APPEND flags -fno-table ${SLUICE_VERILATE_DIR}/sharing.vlt -CFLAGS -fPIC)
  set(class V${rtl}_${flavour})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${rtl}_${flavour})
  sluice_verilated_archive(${class} ${folder} sluice_top ${flags} ${SLUICE_PARAMETERS})
  add_library(sluice_rtl_${rtl}_${flavour} STATIC ${CMAKE_CURRENT_SOURCE_DIR}/model.cpp
    ${folder}/${class}.h)
  set_target_properties(sluice_rtl_${rtl}_${flavour} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(sluice_rtl_${rtl}_${flavour} SYSTEM PRIVATE ${folder})
  target_compile_definitions(sluice_rtl_${rtl}_${flavour} PRIVATE SLUICE_CLASS=${class}
    SLUICE_HEADER="${class}.h" SLUICE_FACTORY=make_${rtl}_${flavour} SLUICE_WAVES=${waves})
  target_link_libraries(sluice_rtl_${rtl}_${flavour} PUBLIC ${folder}/${class}__ALL.a sluice_verilated)
  sluice_warnings(sluice_rtl_${rtl}_${flavour})
  set(SLUICE_GEOMETRY_INITIALIZER ${SLUICE_GEOMETRY_INITIALIZER} PARENT_SCOPE)
  set(SLUICE_HAS_WAVES ${waves} PARENT_SCOPE)
endfunction()
