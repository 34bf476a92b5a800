# What the project needs from outside, all from Debian (third_party/debian-packages.txt). Other
# installations that stand first on PATH or in the environment, such as conda's, are not searched.
set(CMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH OFF)
set(CMAKE_FIND_USE_CMAKE_ENVIRONMENT_PATH OFF)
list(APPEND CMAKE_PREFIX_PATH /usr/lib/llvm-19)
find_package(MLIR 19.1 REQUIRED CONFIG)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
# Directory includes, because mlir_tablegen reads nothing else.
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})

# Protobuf before ONNX: the ONNX package's targets refer to it.
find_package(Protobuf REQUIRED)
find_package(ONNX REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(ZLIB REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
find_package(Threads REQUIRED)
# It has no package for CMake.
find_package(PkgConfig REQUIRED)
pkg_check_modules(jemalloc REQUIRED IMPORTED_TARGET jemalloc)
# Draws the pages of sluice report, which contain it.
find_file(SLUICE_D3 d3.min.js PATHS /usr/share/nodejs/d3/dist NO_DEFAULT_PATH REQUIRED)
# The system interpreter: it sees the python3-* packages.
if(EXISTS /usr/bin/python3)
  set(Python3_EXECUTABLE /usr/bin/python3)
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
