// Fields that newer IR versions added to the messages libonnx knows.
#pragma once

#include <string>
#include <vector>

#include <google/protobuf/unknown_field_set.h>

namespace sluice::frontend {

/// Contents of an unknown length-delimited field, in order of occurrence.
inline std::vector<std::string> unknownField(const google::protobuf::UnknownFieldSet &fields,
                                             int number) {
  std::vector<std::string> out;
  for (int i = 0; i < fields.field_count(); ++i)
    if (fields.field(i).number() == number &&
        fields.field(i).type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      out.push_back(fields.field(i).length_delimited());
  return out;
}

} // namespace sluice::frontend
