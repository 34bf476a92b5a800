// Samples as JSON, in which a child process returns them.
#pragma once

#include <nlohmann/json.hpp>

#include "compiler/reduce/facts.h"

namespace sluice::reduce {

inline nlohmann::json jsonOf(const Sample &sample) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto &[name, tensor] : sample)
    json[name] = {{"shape", tensor.shape}, {"values", tensor.values}};
  return json;
}

inline Sample sampleOf(const nlohmann::json &json) {
  Sample sample;
  for (const auto &[name, one] : json.items())
    sample[name] = {one.at("shape").get<reference::Shape>(),
                    one.at("values").get<std::vector<double>>()};
  return sample;
}

} // namespace sluice::reduce
