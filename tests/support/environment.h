// Numbers that a test takes from its environment.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace sluice::fixtures {

inline uint64_t fromEnvironment(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

} // namespace sluice::fixtures
