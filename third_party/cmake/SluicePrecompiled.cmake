# Headers of others that many sources begin with, compiled once for all targets that ask for the same
# set: parsing them is most of what a source takes to compile. A source names what it needs all the
# same; clang-tidy compiles it without.
set(SLUICE_STANDARD_HEADERS
  <algorithm> <array> <bit> <cmath> <cstdint> <deque> <functional> <map> <memory> <numeric> <optional>
  <random> <set> <span> <string> <string_view> <tuple> <utility> <variant> <vector>
  <fmt/format.h> <fmt/ranges.h>)
set(SLUICE_MLIR_HEADERS
  <mlir/IR/Builders.h> <mlir/IR/BuiltinAttributes.h> <mlir/IR/BuiltinOps.h> <mlir/IR/BuiltinTypes.h>
  <mlir/IR/Matchers.h> <mlir/IR/OpImplementation.h> <mlir/IR/PatternMatch.h>
  <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/Func/IR/FuncOps.h> <mlir/Dialect/Math/IR/Math.h>
  <mlir/Interfaces/FunctionInterfaces.h> <mlir/Pass/Pass.h>)
set(SLUICE_TEST_HEADERS <gmock/gmock.h> <gtest/gtest.h>)

# sluice_precompiled(<set> LINK <libraries of the headers> HEADERS <headers>)
function(sluice_precompiled set)
  cmake_parse_arguments(ARG "" "" "LINK;HEADERS" ${ARGN})
  set(source ${PROJECT_BINARY_DIR}/precompiled/${set}.cpp)
  if(NOT EXISTS ${source})
    file(WRITE ${source} "// Its headers are all there is.\n")
  endif()
  add_library(sluice_precompiled_${set} OBJECT ${source})
  target_link_libraries(sluice_precompiled_${set} PRIVATE fmt::fmt ${ARG_LINK})
  # Without the times of its files, so that the compiler cache knows it again.
  target_compile_options(sluice_precompiled_${set} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  target_precompile_headers(sluice_precompiled_${set} PRIVATE ${SLUICE_STANDARD_HEADERS} ${ARG_HEADERS})
endfunction()

# Of libraries, whose code may be loaded anywhere, and of tests: the flags must be the same.
sluice_precompiled(standard)
sluice_precompiled(command LINK CLI11::CLI11 nlohmann_json::nlohmann_json HEADERS <CLI/CLI.hpp> <nlohmann/json.hpp>)
sluice_precompiled(mlir HEADERS ${SLUICE_MLIR_HEADERS})
sluice_precompiled(onnx LINK onnx onnx_proto protobuf::libprotobuf HEADERS ${SLUICE_MLIR_HEADERS} <onnx/onnx_pb.h>)
set_target_properties(sluice_precompiled_standard sluice_precompiled_command sluice_precompiled_mlir
                      sluice_precompiled_onnx PROPERTIES POSITION_INDEPENDENT_CODE ON)
sluice_precompiled(test LINK GTest::gmock HEADERS ${SLUICE_TEST_HEADERS})
sluice_precompiled(mlir_test LINK GTest::gmock HEADERS ${SLUICE_TEST_HEADERS} ${SLUICE_MLIR_HEADERS})
sluice_precompiled(onnx_test LINK GTest::gmock onnx onnx_proto protobuf::libprotobuf
                   HEADERS ${SLUICE_TEST_HEADERS} ${SLUICE_MLIR_HEADERS} <onnx/onnx_pb.h>)

# The target's sources begin with a set, the default one unless another is named.
function(sluice_reuse target set default)
  if(NOT set)
    set(set ${default})
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.c$")
  set_source_files_properties(${sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  target_precompile_headers(${target} REUSE_FROM sluice_precompiled_${set})
endfunction()
