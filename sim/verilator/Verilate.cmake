# sluice_verilate(<rtl> <fast|waves> [<target file>...]): the library sluice_rtl_<rtl>_<flavour>, a
# model (model.h) of sluice_top with the parameters of the target files that name <rtl>: the presets
# if no files are given.
# Sets SLUICE_GEOMETRY_INITIALIZER and SLUICE_HAS_WAVES for the registry.
find_program(VERILATOR verilator REQUIRED)
set(SLUICE_VERILATE_DIR ${CMAKE_CURRENT_LIST_DIR})
execute_process(COMMAND ${VERILATOR} --getenv VERILATOR_ROOT
                OUTPUT_VARIABLE VERILATOR_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE)

set(SLUICE_RTL_WAVES "c2b8" CACHE STRING "Geometries to build with assertions and waves")

file(GLOB SLUICE_RTL_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/hw/rtl/*.sv
     ${PROJECT_SOURCE_DIR}/hw/rtl/cells/*.sv)
# Packages first.
set(SLUICE_RTL_PACKAGES ${SLUICE_RTL_SOURCES})
list(FILTER SLUICE_RTL_PACKAGES INCLUDE REGEX "_pkg\\.sv$")
list(FILTER SLUICE_RTL_SOURCES EXCLUDE REGEX "_pkg\\.sv$")
list(PREPEND SLUICE_RTL_SOURCES ${SLUICE_ISA_PKG} ${SLUICE_RTL_PACKAGES})

# What this scope Verilates is made of the cells of a part: the files of hw/rtl/cells/<cells> take the
# place of the portable ones, and the folder <models> describes the part's primitives.
function(sluice_use_cells cells models)
  file(GLOB primitives CONFIGURE_DEPENDS ${models}/*.sv)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/hw/rtl/cells/${cells}/*.sv)
  set(sources ${SLUICE_RTL_SOURCES} ${files} ${primitives})
  foreach(file ${files})
    get_filename_component(name ${file} NAME)
    list(REMOVE_ITEM sources ${PROJECT_SOURCE_DIR}/hw/rtl/cells/${name})
  endforeach()
  set(SLUICE_RTL_SOURCES ${sources} PARENT_SCOPE)
endfunction()

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

# Sets <result> to the parameter of sluice_top that a field of a target file sets: NetHop of net_hop.
function(sluice_parameter_name name result)
  string(REPLACE "_" ";" parts ${name})
  set(parameter "")
  foreach(part ${parts})
    string(SUBSTRING ${part} 0 1 head)
    string(SUBSTRING ${part} 1 -1 tail)
    string(TOUPPER ${head} head)
    string(APPEND parameter ${head}${tail})
  endforeach()
  set(${result} ${parameter} PARENT_SCOPE)
endfunction()

# Sets <names> to the latencies of hw/isa/isa.json that a target sets, and <name>_default for each.
function(sluice_read_stages names)
  set(file ${PROJECT_SOURCE_DIR}/hw/isa/isa.json)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  string(JSON latencies GET "${text}" latencies)
  string(JSON last LENGTH "${latencies}")
  math(EXPR last "${last} - 1")
  set(found "")
  foreach(index RANGE ${last})
    string(JSON least ERROR_VARIABLE fixed GET "${latencies}" ${index} least)
    if(fixed)
      continue()
    endif()
    string(JSON name GET "${latencies}" ${index} name)
    string(JSON value GET "${latencies}" ${index} value)
    list(APPEND found ${name})
    set(${name}_default ${value} PARENT_SCOPE)
  endforeach()
  set(${names} ${found} PARENT_SCOPE)
endfunction()

# Reads the target files of <rtl>: the deepest memories, in the order of the parameters, and the
# stages, which are equal in all.
function(sluice_read_geometry rtl)
  set(names cores lanes pe_terms weight_blocks inbox_rows local_rows accumulators preload_rows
            instructions host_instructions tables)
  foreach(name ${names})
    set(deepest_${name} 0)
  endforeach()
  sluice_read_stages(stages)
  set(targets ${ARGN})
  if(NOT targets)
    file(GLOB targets CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/hw/targets/*.json)
  endif()
  set(stage_values "")
  foreach(preset ${targets})
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
    set(values "")
    foreach(name ${stages})
      string(JSON value ERROR_VARIABLE absent GET "${text}" stages ${name})
      if(absent)
        set(value ${${name}_default})
      endif()
      list(APPEND values ${value})
    endforeach()
    if(stage_values AND NOT stage_values STREQUAL values)
      message(FATAL_ERROR "the target files with \"rtl\": \"${rtl}\" have different stages; give one of them another \"rtl\"")
    endif()
    set(stage_values ${values})
  endforeach()
  if(deepest_cores EQUAL 0)
    message(FATAL_ERROR "no target file in hw/targets has \"rtl\": \"${rtl}\"; check SLUICE_RTL_TARGETS and SLUICE_RTL_WAVES")
  endif()
  set(parameters "")
  set(initializer "{\"${rtl}\", \"${rtl}\"")
  foreach(name ${names})
    sluice_parameter_name(${name} parameter)
    list(APPEND parameters -G${parameter}=${deepest_${name}})
    string(APPEND initializer ", ${deepest_${name}}")
  endforeach()
  foreach(name value IN ZIP_LISTS stages stage_values)
    sluice_parameter_name(${name} parameter)
    list(APPEND parameters -G${parameter}=${value})
  endforeach()
  list(JOIN stage_values ", " stage_values)
  set(SLUICE_PARAMETERS ${parameters} PARENT_SCOPE)
  set(SLUICE_CORES ${deepest_cores} PARENT_SCOPE)
  set(SLUICE_GEOMETRY_INITIALIZER "${initializer}, 0, \"nominal\", {${stage_values}}, {}}" PARENT_SCOPE)
endfunction()

# Verilates <top> to the class <class> in <folder> and compiles it to
# <folder>/<class>__ALL.a; further arguments go to Verilator. One job: Ninja has the other cores, and
# with more, make would Verilate a block twice at once, for each of the two files it waits for.
function(sluice_verilated_archive class folder top)
  cmake_parse_arguments(ARG "HIERARCHICAL" "" "RTL" ${ARGN})
  if(NOT ARG_RTL)
    set(ARG_RTL ${SLUICE_RTL_SOURCES})
  endif()
  get_filename_component(name ${folder} NAME)
  set(work ${folder})
  set(before "")
  set(after "")
  set(arguments ${SLUICE_VERILATOR_FLAGS} ${ARG_UNPARSED_ARGUMENTS} ${ARG_RTL})
  if(folder MATCHES " ")
    # GNU make builds nothing in a folder whose path has a space, so Verilator works elsewhere.
    string(MD5 hash ${folder})
    set(work /tmp/sluice-verilated-${hash}/${name})
    set(copies ${PROJECT_SOURCE_DIR}/hw/rtl/assert.svh ${arguments})
    list(FILTER copies INCLUDE REGEX "^/")
    list(JOIN copies "\" \"" copies)
    list(TRANSFORM arguments REPLACE "^/.*/" "${work}_rtl/")
    list(TRANSFORM arguments REPLACE "^-I/.*" "-I${work}_rtl")
    set(before "mkdir -p ${work}_rtl && cp \"${copies}\" ${work}_rtl && cd ${work}_rtl && ")
    set(after " && mkdir -p \"${folder}\" && cp ${work}/*.h ${work}/*.a \"${folder}\"")
  endif()
  set(settings ${ARG_UNPARSED_ARGUMENTS})
  list(FILTER settings INCLUDE REGEX "\\.vlt$")
  if(ARG_HIERARCHICAL)
    # Blocks that are built for themselves have an archive each.
    string(PREPEND after " && llvm-ar-19 qcLs ${work}/${class}__ALL.a ${work}/V*/lib*.a")
  endif()
  add_custom_command(
    OUTPUT ${folder}/${class}__ALL.a ${folder}/${class}.h
    COMMAND sh -c "{ ${before}\"$@\"${after}; } > \"${folder}.log\" 2>&1 || { cat \"${folder}.log\"; exit 1; }" --
            ${VERILATOR} --cc --build -j 1 --top-module ${top} --prefix ${class} --Mdir ${work}
            ${arguments} -CFLAGS -std=c++20
            -MAKEFLAGS OPT_FAST=-O2 -MAKEFLAGS OPT_GLOBAL=-O2 -MAKEFLAGS CXX=${CMAKE_CXX_COMPILER}
            -MAKEFLAGS LINK=${CMAKE_CXX_COMPILER} -MAKEFLAGS OBJCACHE=${CCACHE_PROGRAM}
    DEPENDS ${ARG_RTL} ${settings} ${PROJECT_SOURCE_DIR}/hw/rtl/assert.svh sluice_isa_gen
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

# Writes the top and the core of a geometry: its parameters are the defaults, as the run of a block
# that is built for itself takes none, and the core's name, which its symbols carry, is its own.
function(sluice_write_geometry rtl folder)
  foreach(module sluice_top core)
    file(READ ${PROJECT_SOURCE_DIR}/hw/rtl/${module}.sv text)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/hw/rtl/${module}.sv)
    if(module STREQUAL sluice_top)
      foreach(parameter ${SLUICE_PARAMETERS})
        string(REGEX MATCH "^-G([A-Za-z]+)=([0-9]+)$" _ ${parameter})
        string(REGEX REPLACE "(parameter int unsigned ${CMAKE_MATCH_1} *= )[A-Za-z0-9_:]+" "\\1${CMAKE_MATCH_2}" text "${text}")
      endforeach()
    endif()
    string(REPLACE " core #(" " core_${rtl} #(" text "${text}")
    file(CONFIGURE OUTPUT ${folder}/${module}.sv CONTENT "${text}" @ONLY)
  endforeach()
  file(CONFIGURE OUTPUT ${folder}/blocks.vlt CONTENT "`verilator_config\nhier_block -module \"core_${rtl}\"\n" @ONLY)
endfunction()

function(sluice_verilate rtl flavour)
  sluice_read_geometry(${rtl} ${ARGN})
  string(COMPARE EQUAL "${flavour}" "waves" waves)
  set(class V${rtl}_${flavour})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${rtl}_${flavour})
  # Position independent, for the shared runtime.
  set(flags -fno-table ${SLUICE_VERILATE_DIR}/sharing.vlt -CFLAGS -fPIC)
  if(waves)
    sluice_verilated_archive(${class} ${folder} sluice_top ${SLUICE_PARAMETERS} ${flags} --assert --x-assign unique
      --x-initial unique --trace-fst ${SLUICE_VERILATE_DIR}/waves.vlt)
  elseif(SLUICE_CORES LESS 3)
    sluice_verilated_archive(${class} ${folder} sluice_top ${SLUICE_PARAMETERS} ${flags} --noassert --x-assign fast
      --x-initial fast)
  else()
    # One core is built, and run by all: a fifth of the code of six. Such a block cannot be traced.
    sluice_write_geometry(${rtl} ${folder}_rtl)
    set(sources ${SLUICE_RTL_SOURCES})
    list(TRANSFORM sources REPLACE "^.*/(sluice_top|core)\\.sv$" "${folder}_rtl/\\1.sv")
    sluice_verilated_archive(${class} ${folder} sluice_top HIERARCHICAL --hierarchical -Wno-UNOPTFLAT --noassert
      --x-assign fast --x-initial fast ${folder}_rtl/blocks.vlt ${flags} RTL ${sources})
  endif()
  add_library(sluice_rtl_${rtl}_${flavour} STATIC ${SLUICE_VERILATE_DIR}/model.cpp
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
