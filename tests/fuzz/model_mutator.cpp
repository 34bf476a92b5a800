#include "tests/fuzz/model_mutator.h"

#include <array>
#include <limits>

namespace sluice::test {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

void ModelMutator::change(onnx::ModelProto &model) {
  places.clear();
  names.clear();
  collect(model);
  const Place place = places[below(places.size())];
  if (place.field->is_repeated() &&
      place.message->GetReflection()->FieldSize(*place.message, place.field) > 0 && below(2))
    changeList(place);
  else
    changeValue(place);
}

void ModelMutator::collect(Message &message) {
  const Reflection &reflection = *message.GetReflection();
  const auto *type = message.GetDescriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldDescriptor *field = type->field(i);
    const bool repeated = field->is_repeated();
    const int size = repeated ? reflection.FieldSize(message, field)
                              : static_cast<int>(reflection.HasField(message, field));
    // Absent fields are set rarely: there are many of them.
    if (size > 0 || below(16) == 0)
      places.push_back({&message, field});
    for (int k = 0; k < size; ++k) {
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE)
        collect(repeated ? *reflection.MutableRepeatedMessage(&message, field, k)
                         : *reflection.MutableMessage(&message, field));
      else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING && names.size() < 1000)
        names.push_back(repeated ? reflection.GetRepeatedString(message, field, k)
                                 : reflection.GetString(message, field));
    }
  }
}

void ModelMutator::changeList(const Place &place) {
  const Reflection &reflection = *place.message->GetReflection();
  const int size = reflection.FieldSize(*place.message, place.field);
  const int last = size - 1, at = static_cast<int>(below(static_cast<size_t>(size)));
  switch (below(3)) {
  case 0:
    reflection.SwapElements(place.message, place.field, at, last);
    reflection.RemoveLast(place.message, place.field);
    break;
  case 1:
    reflection.SwapElements(place.message, place.field, at, last);
    break;
  default:
    if (place.field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      const auto &from = reflection.GetRepeatedMessage(*place.message, place.field, at);
      const std::unique_ptr<Message> copy(from.New());
      copy->CopyFrom(from);
      reflection.AddMessage(place.message, place.field)->CopyFrom(*copy);
    } else {
      changeValue(place);
    }
  }
}

int64_t ModelMutator::number() {
  static constexpr std::array<int64_t, 18> values = {0,
                                                     1,
                                                     -1,
                                                     2,
                                                     3,
                                                     7,
                                                     10,
                                                     11,
                                                     16,
                                                     -9,
                                                     100,
                                                     65536,
                                                     1 << 30,
                                                     std::numeric_limits<int32_t>::max(),
                                                     std::numeric_limits<int32_t>::min(),
                                                     int64_t{1} << 40,
                                                     std::numeric_limits<int64_t>::max(),
                                                     std::numeric_limits<int64_t>::min()};
  return values[below(values.size())];
}

void ModelMutator::changeValue(const Place &place) {
  const Reflection &reflection = *place.message->GetReflection();
  Message *message = place.message;
  const FieldDescriptor *field = place.field;
  if (!field->is_repeated() && below(4) == 0) {
    reflection.ClearField(message, field);
    return;
  }
  const int size = field->is_repeated() ? reflection.FieldSize(*message, field) : 0;
  const int at = size > 0 ? static_cast<int>(below(static_cast<size_t>(size))) : -1;
  const auto set = [&](auto setOne, auto setInList, auto add, const auto &value) {
    if (!field->is_repeated())
      (reflection.*setOne)(message, field, value);
    else if (at >= 0)
      (reflection.*setInList)(message, field, at, value);
    else
      (reflection.*add)(message, field, value);
  };
  switch (field->cpp_type()) {
  case FieldDescriptor::CPPTYPE_INT32:
    return set(&Reflection::SetInt32, &Reflection::SetRepeatedInt32, &Reflection::AddInt32,
               static_cast<int32_t>(number()));
  case FieldDescriptor::CPPTYPE_INT64:
    return set(&Reflection::SetInt64, &Reflection::SetRepeatedInt64, &Reflection::AddInt64,
               number());
  case FieldDescriptor::CPPTYPE_UINT64:
    return set(&Reflection::SetUInt64, &Reflection::SetRepeatedUInt64, &Reflection::AddUInt64,
               static_cast<uint64_t>(number()));
  case FieldDescriptor::CPPTYPE_FLOAT: {
    static constexpr float inf = std::numeric_limits<float>::infinity();
    static constexpr std::array<float, 8> values = {
        0, -0.0F, 1e-40F, -1e38F, inf, -inf, std::numeric_limits<float>::quiet_NaN(), 0.5F};
    return set(&Reflection::SetFloat, &Reflection::SetRepeatedFloat, &Reflection::AddFloat,
               values[below(values.size())]);
  }
  case FieldDescriptor::CPPTYPE_STRING: {
    std::string text = names.empty() || below(6) == 0 ? std::string() : names[below(names.size())];
    if (below(8) == 0)
      text += static_cast<char>(random());
    return set(&Reflection::SetString, &Reflection::SetRepeatedString, &Reflection::AddString,
               text);
  }
  case FieldDescriptor::CPPTYPE_ENUM: {
    const auto *type = field->enum_type();
    const auto *value =
        type->value(static_cast<int>(below(static_cast<size_t>(type->value_count()))));
    return set(&Reflection::SetEnum, &Reflection::SetRepeatedEnum, &Reflection::AddEnum, value);
  }
  case FieldDescriptor::CPPTYPE_MESSAGE:
    if (field->is_repeated())
      reflection.AddMessage(message, field);
    else
      reflection.MutableMessage(message, field);
    return;
  default:
    return; // ONNX uses no others that are read
  }
}

} // namespace sluice::test
