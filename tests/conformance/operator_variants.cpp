#include "tests/conformance/operator_variants.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace sluice::frontend::test {
namespace {

using onnx::AttributeProto;
using onnx::ModelProto;
using onnx::NodeProto;
using onnx::TensorProto;
using Shape = std::vector<int64_t>;

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(),
                  kMost = std::numeric_limits<int64_t>::max();

class Variants {
public:
  Variants(const ModelProto &model, int node, const Operator &entry, const VariantVisitor &visit)
      : model(model), node(node), entry(entry), visit(visit) {}

  void all() {
    operands();
    for (int input = 0; input < original().input_size(); ++input) {
      shapes(input);
      values(input);
    }
    results();
    for (const AttributeSpec &spec : entry.attributes)
      attribute(spec);
    strangeAttributes();
  }

private:
  using Change = std::function<void(ModelProto &, NodeProto &)>;

  const NodeProto &original() const { return model.graph().node(node); }

  void add(const std::string &what, Outcome outcome, const Change &change) {
    ModelProto changed = model;
    change(changed, *changed.mutable_graph()->mutable_node(node));
    visit(what, outcome, changed);
  }

  bool isRequired(int input) const {
    return static_cast<size_t>(input) < entry.inputs.size() &&
           entry.inputs[input].presence == Presence::Required;
  }

  void operands() {
    add("no inputs", isRequired(0) ? Outcome::Refused : Outcome::Either,
        [](ModelProto &, NodeProto &changed) { changed.clear_input(); });
    for (int input = 0; input < original().input_size(); ++input)
      add("input " + std::to_string(input) + " left out",
          isRequired(input) ? Outcome::Refused : Outcome::Either,
          [&](ModelProto &, NodeProto &changed) { changed.mutable_input(input)->clear(); });
    add("a name that nothing has", Outcome::Refused, [](ModelProto &, NodeProto &changed) {
      changed.clear_input();
      changed.add_input("nothing has this name");
    });
    const auto room = static_cast<int>(entry.inputs.size()) - original().input_size();
    const bool endless = !entry.inputs.empty() && isList(entry.inputs.back().presence);
    if (original().input_size() > 0)
      add("more inputs", endless ? Outcome::Either : Outcome::Refused,
          [&](ModelProto &, NodeProto &changed) {
            for (int i = 0; i <= room; ++i)
              changed.add_input(changed.input(0));
          });
    for (int input = 1; input < original().input_size(); ++input)
      add("inputs 0 and " + std::to_string(input) + " exchanged", Outcome::Either,
          [&](ModelProto &, NodeProto &changed) {
            changed.mutable_input()->SwapElements(0, input);
          });
  }

  /// Another tensor that is computed, whatever it was before.
  void shapes(int input) {
    static const std::vector<Shape> all = {{},           {1},           {2},
                                           {7},          {2, 3},        {1, 1},
                                           {3, 2, 5},    {1, 2, 3, 4},  {2, 2, 2, 2, 2},
                                           {2147483647}, {65536, 65536}};
    for (const Shape &shape : all)
      add("input " + std::to_string(input) + " is computed, of rank " +
              std::to_string(shape.size()),
          Outcome::Either, [&](ModelProto &changed, NodeProto &of) {
            auto &value = *changed.mutable_graph()->add_input();
            value.set_name("another");
            auto &type = *value.mutable_type()->mutable_tensor_type();
            type.set_elem_type(TensorProto::FLOAT);
            type.mutable_shape();
            for (const int64_t extent : shape)
              type.mutable_shape()->add_dim()->set_dim_value(extent);
            of.set_input(input, "another");
          });
  }

  /// A tensor that is known; of most of them some operators can do something.
  void values(int input) {
    const auto known = [&](const std::string &what, Outcome outcome, const TensorProto &tensor) {
      add("input " + std::to_string(input) + " is known: " + what, outcome,
          [&](ModelProto &changed, NodeProto &of) {
            changed.mutable_graph()->add_initializer()->CopyFrom(tensor);
            of.set_input(input, tensor.name());
          });
    };
    const auto tensor = [](int type, const Shape &shape) {
      TensorProto out;
      out.set_name("another");
      out.set_data_type(type);
      out.mutable_dims()->Add(shape.begin(), shape.end());
      return out;
    };
    for (const int64_t number : {int64_t{0}, int64_t{-1}, kLeast, kMost}) {
      TensorProto scalar = tensor(TensorProto::INT64, {});
      scalar.add_int64_data(number);
      known("int64 " + std::to_string(number), Outcome::Either, scalar);
      TensorProto list = tensor(TensorProto::INT64, {3});
      for (const int64_t element : {int64_t{1}, number, int64_t{2}})
        list.add_int64_data(element);
      known("int64 1, " + std::to_string(number) + ", 2", Outcome::Either, list);
    }
    for (const float number : {0.0F, -1e38F, std::numeric_limits<float>::quiet_NaN()}) {
      TensorProto scalar = tensor(TensorProto::FLOAT, {});
      scalar.add_float_data(number);
      known("float " + std::to_string(number), Outcome::Either, scalar);
      TensorProto square = tensor(TensorProto::FLOAT, {2, 2});
      for (const float element : {1.0F, number, -1.0F, 0.5F})
        square.add_float_data(element);
      known("float of rank 2, " + std::to_string(number), Outcome::Either, square);
    }
    known("float without elements", Outcome::Either, tensor(TensorProto::FLOAT, {0}));
    known("int64 without elements", Outcome::Either, tensor(TensorProto::INT64, {0}));
    TensorProto truth = tensor(TensorProto::BOOL, {2});
    truth.add_int32_data(1);
    truth.add_int32_data(0);
    known("bool", Outcome::Either, truth);
    TensorProto byte = tensor(TensorProto::INT8, {1});
    byte.add_int32_data(-128);
    known("int8", Outcome::Either, byte);
    TensorProto text = tensor(TensorProto::STRING, {1});
    text.add_string_data("text");
    known("string", Outcome::Refused, text);
    known("complex", Outcome::Refused, tensor(TensorProto::COMPLEX64, {0}));
    known("fewer elements than its shape", Outcome::Refused, tensor(TensorProto::FLOAT, {2}));
  }

  void results() {
    add("no outputs", Outcome::Refused,
        [](ModelProto &, NodeProto &changed) { changed.clear_output(); });
    if (!isList(entry.outputs.back().presence))
      add("more outputs", Outcome::Refused, [&](ModelProto &, NodeProto &changed) {
        for (size_t i = changed.output_size(); i <= entry.outputs.size(); ++i)
          changed.add_output("more" + std::to_string(i));
      });
    add("every output", Outcome::Either, [&](ModelProto &, NodeProto &changed) {
      for (size_t i = changed.output_size(); i < entry.outputs.size(); ++i)
        changed.add_output("more" + std::to_string(i));
    });
    add("an output of the name of another tensor", Outcome::Refused,
        [](ModelProto &, NodeProto &changed) {
          changed.add_output(changed.output(changed.output_size() - 1));
        });
  }

  bool isGiven(const std::string &name) const {
    return std::ranges::any_of(original().attribute(),
                               [&](const AttributeProto &one) { return one.name() == name; });
  }

  /// The attribute of that name, or a new one.
  static AttributeProto &find(NodeProto &of, const std::string &name) {
    for (AttributeProto &one : *of.mutable_attribute())
      if (one.name() == name)
        return one;
    return *of.add_attribute();
  }

  /// With the attribute set by `set`, in place of the one that is there.
  void given(const AttributeSpec &spec, const std::string &what, Outcome outcome,
             const std::function<void(AttributeProto &)> &set) {
    add("attribute " + spec.name + " is " + what, outcome, [&](ModelProto &, NodeProto &changed) {
      AttributeProto &one = find(changed, spec.name);
      one.Clear();
      one.set_name(spec.name);
      set(one);
    });
  }

  void ints(const AttributeSpec &spec, const std::string &what, const Shape &list) {
    given(spec, what, Outcome::Either, [&](AttributeProto &one) {
      one.set_type(AttributeProto::INTS);
      one.mutable_ints()->Add(list.begin(), list.end());
    });
  }

  void attribute(const AttributeSpec &spec) {
    if (isGiven(spec.name)) {
      add("attribute " + spec.name + " left out",
          spec.required ? Outcome::Refused : Outcome::Either,
          [&](ModelProto &, NodeProto &changed) {
            auto &list = *changed.mutable_attribute();
            list.erase(
                std::remove_if(list.begin(), list.end(),
                               [&](const AttributeProto &one) { return one.name() == spec.name; }),
                list.end());
          });
      add("attribute " + spec.name + " given twice", Outcome::Refused,
          [&](ModelProto &, NodeProto &changed) {
            const AttributeProto there = find(changed, spec.name);
            changed.add_attribute()->CopyFrom(there);
          });
    }
    const auto typed = [&](const std::string &what, AttributeProto::AttributeType type,
                           const std::function<void(AttributeProto &)> &set,
                           Outcome outcome = Outcome::Either) {
      given(spec, what, outcome, [&](AttributeProto &one) {
        one.set_type(type);
        set(one);
      });
    };
    switch (spec.kind) {
    case AttributeKind::Int:
      for (const int64_t number : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{2}, int64_t{7},
                                   int64_t{-9}, kLeast, kMost})
        typed(std::to_string(number), AttributeProto::INT,
              [&](AttributeProto &one) { one.set_i(number); });
      return;
    case AttributeKind::Float:
      for (const float number : {0.0F, -1.0F, 1e-40F, 3e38F, std::numeric_limits<float>::infinity(),
                                 std::numeric_limits<float>::quiet_NaN()})
        typed(std::to_string(number), AttributeProto::FLOAT,
              [&](AttributeProto &one) { one.set_f(number); });
      return;
    case AttributeKind::String:
      for (const char *text : {"", "nonsense", "..."})
        typed(std::string("'") + text + "'", AttributeProto::STRING,
              [&](AttributeProto &one) { one.set_s(text); });
      return;
    case AttributeKind::Ints:
      for (const int64_t number :
           {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{2}, int64_t{5}, kLeast, kMost})
        for (const size_t count : {size_t{0}, size_t{1}, size_t{2}, size_t{3}, size_t{4}})
          if (count > 0 || number == 0)
            ints(spec, std::to_string(count) + " times " + std::to_string(number),
                 Shape(count, number));
      return;
    case AttributeKind::Floats:
      for (const size_t count : {size_t{0}, size_t{1}, size_t{3}})
        typed(std::to_string(count) + " times NaN", AttributeProto::FLOATS,
              [&](AttributeProto &one) {
                for (size_t i = 0; i < count; ++i)
                  one.add_floats(std::numeric_limits<float>::quiet_NaN());
              });
      return;
    case AttributeKind::Strings:
      for (const size_t count : {size_t{0}, size_t{1}, size_t{4}})
        typed(std::to_string(count) + " names", AttributeProto::STRINGS, [&](AttributeProto &one) {
          for (size_t i = 0; i < count; ++i)
            one.add_strings("nonsense");
        });
      return;
    case AttributeKind::Tensor:
      typed(
          "a tensor without a type", AttributeProto::TENSOR,
          [](AttributeProto &one) { one.mutable_t(); }, Outcome::Refused);
      typed("a tensor without elements", AttributeProto::TENSOR, [](AttributeProto &one) {
        one.mutable_t()->set_data_type(TensorProto::FLOAT);
        one.mutable_t()->add_dims(0);
      });
      return;
    case AttributeKind::SparseTensor:
      typed(
          "a sparse tensor without a type", AttributeProto::SPARSE_TENSOR,
          [](AttributeProto &one) { one.mutable_sparse_tensor(); }, Outcome::Refused);
      return;
    case AttributeKind::Graph:
      typed("an empty graph", AttributeProto::GRAPH, [](AttributeProto &one) { one.mutable_g(); });
      typed(
          "a graph that gives what nothing computes", AttributeProto::GRAPH,
          [](AttributeProto &one) { one.mutable_g()->add_output()->set_name("nothing"); },
          Outcome::Refused);
      return;
    case AttributeKind::Type:
      typed("an empty type", AttributeProto::TYPE_PROTO,
            [](AttributeProto &one) { one.mutable_tp(); });
      return;
    }
  }

  void strangeAttributes() {
    const auto strange = [&](const std::string &what,
                             const std::function<void(AttributeProto &)> &set) {
      add(what, Outcome::Refused,
          [&](ModelProto &, NodeProto &changed) { set(*changed.add_attribute()); });
    };
    strange("an attribute that no operator has", [](AttributeProto &one) {
      one.set_name("no operator has this");
      one.set_type(AttributeProto::INT);
    });
    strange("an attribute without a name",
            [](AttributeProto &one) { one.set_type(AttributeProto::INT); });
    if (!entry.attributes.empty())
      strange("an attribute of another node's", [&](AttributeProto &one) {
        one.set_name(entry.attributes.front().name);
        one.set_ref_attr_name("of a function");
        one.set_type(AttributeProto::INT);
      });
  }

  const ModelProto &model;
  const int node;
  const Operator &entry;
  const VariantVisitor &visit;
};

} // namespace

void forEachVariant(const ModelProto &model, int node, const Operator &entry,
                    const VariantVisitor &visit) {
  Variants(model, node, entry, visit).all();
}

} // namespace sluice::frontend::test
