// Changes ONNX models field by field, so that they still parse.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "test_model.h"

namespace sluice::test {

class ModelMutator {
public:
  explicit ModelMutator(uint64_t seed) : random(seed) {}

  /// One change somewhere: a number set to a value that breaks things, a name
  /// to another one of the model, an element of a list dropped, doubled or
  /// moved, a field cleared or set.
  void change(onnx::ModelProto &model);

private:
  struct Place {
    google::protobuf::Message *message;
    const google::protobuf::FieldDescriptor *field;
  };

  void collect(google::protobuf::Message &message);
  void changeList(const Place &place);
  void changeValue(const Place &place);
  int64_t number();
  size_t below(size_t bound) { return random() % bound; }

  std::mt19937_64 random;
  std::vector<Place> places;
  std::vector<std::string> names;
};

} // namespace sluice::test
