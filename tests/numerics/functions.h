// The functions of one variable that a model can ask for, each as ONNX nodes and
// as a definition in long double that shares no code with the compiler.
#pragma once

#include <string>
#include <vector>

#include "test_model.h"

namespace sluice::numerics_test {

struct Function {
  std::string name;
  /// Adds the nodes from "x" to "y" to a model of opset 20.
  void (*nodes)(frontend::test::Model &);
  long double (*exact)(long double);
};

/// In the order of the table.
const std::vector<Function> &functions();

} // namespace sluice::numerics_test
