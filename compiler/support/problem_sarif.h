// Problems for code review tools: SARIF 2.1.0.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "compiler/support/problem.h"

namespace sluice {

/// A SARIF 2.1.0 log with one result per problem of `file`. `titleOf` gives the
/// title of a code's page.
///
/// A model is no text, so its places are logical locations: the ONNX node. Lines
/// of source are physical ones. The chain of deductions is relatedLocations, in
/// its order. A fix changes no artifact, so it is not SARIF's `fixes` (which must
/// replace text) but in the message, and as data in properties/fixes.
nlohmann::ordered_json
problemsSarif(const Problems &problems, const std::string &file, const std::string &version,
              const std::function<std::string_view(std::string_view)> &titleOf);

} // namespace sluice
