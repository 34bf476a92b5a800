// A model of one node, and what its import says about it.
#pragma once

#include "test_model.h"

namespace sluice::frontend::test {

/// A node over run-time tensors and known ones, in the order they are given.
struct OneNodeModel {
  explicit OneNodeModel(std::string op, int64_t opset = 18) : model(opset), op(std::move(op)) {
    model.output("y");
    model.node(this->op, {}, {"y"});
  }
  OneNodeModel &input(const Ints &shape) {
    const std::string name = next();
    model.input(name, shape);
    model.graph().mutable_node(0)->add_input(name);
    return *this;
  }
  OneNodeModel &ints(const Ints &shape, const Ints &values, int type = onnx::TensorProto::INT64) {
    const std::string name = next();
    model.ints(name, shape, values);
    if (type != onnx::TensorProto::INT64) {
      auto &tensor = *model.graph().mutable_initializer()->rbegin();
      tensor.clear_int64_data();
      tensor.clear_raw_data();
      tensor.set_data_type(type);
      for (const int64_t value : values)
        tensor.add_int32_data(static_cast<int32_t>(value));
    }
    model.graph().mutable_node(0)->add_input(name);
    return *this;
  }
  OneNodeModel &floats(const Ints &shape, const Floats &values) {
    const std::string name = next();
    model.floats(name, shape, values);
    model.graph().mutable_node(0)->add_input(name);
    return *this;
  }
  OneNodeModel &none() {
    ++count;
    model.graph().mutable_node(0)->add_input("");
    return *this;
  }
  template <typename Value> OneNodeModel &with(const std::string &name, const Value &value) {
    Node(model.graph().mutable_node(0)).attribute(name, value);
    return *this;
  }
  OneNodeModel &with(const std::string &name, const char *value) {
    return with(name, std::string(value));
  }
  /// "E0206 what is required; found what", or all messages.
  std::string problem() const {
    const std::string text = import(model).messages();
    const std::string start = " node 0 (" + op + "): " + op + ": ";
    return text.size() > 5 && text.substr(5).starts_with(start) &&
                   text.find("; found ") != std::string::npos
               ? text.substr(0, 5) + " " + text.substr(5 + start.size())
               : text;
  }

  Model model;
  std::string op;

private:
  std::string next() { return "i" + std::to_string(count++); }
  int count = 0;
};

} // namespace sluice::frontend::test
