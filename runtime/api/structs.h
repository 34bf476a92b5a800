// Structs of the C API between versions: their first member is the size that the
// caller compiled them with, which may be smaller or larger than ours.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "runtime/api/error.h"

namespace sluice::runtime {

template <typename T>
concept SizedStruct = std::is_standard_layout_v<T> && std::same_as<decltype(T::size), size_t>;

/// Bytes of a struct when it came into the header: the least that a caller has. To
/// be specialised where members are appended.
template <SizedStruct T> inline constexpr size_t kFirstSize = sizeof(T);
template <>
inline constexpr size_t kFirstSize<sluice_rt_tensor_info> = offsetof(sluice_rt_tensor_info, low);
template <>
inline constexpr size_t kFirstSize<sluice_rt_machine> = offsetof(sluice_rt_machine, clock_source);
template <>
inline constexpr size_t kFirstSize<sluice_rt_model_info> =
    offsetof(sluice_rt_model_info, random_draws);

/// What is wrong with the size that a caller gives, or "".
template <SizedStruct T> std::string wrongSize(const T &theirs) {
  if (theirs.size >= kFirstSize<T>)
    return "";
  return fmt::format(
      "the size of a struct is {}, allowed: {} or more; set its member 'size' to its sizeof",
      theirs.size, kFirstSize<T>);
}

/// Fills the members that the caller's struct has; what it has beyond ours is zero.
template <SizedStruct T> sluice_rt_status give(T *theirs, T ours) {
  if (std::string wrong = wrongSize(*theirs); !wrong.empty())
    return invalid(std::move(wrong));
  const size_t size = theirs->size, known = std::min(size, sizeof(T));
  ours.size = size;
  std::memcpy(theirs, &ours, known);
  std::memset(reinterpret_cast<char *>(theirs) + known, 0, size - known);
  return SLUICE_RT_OK;
}

/// Reads `count` structs of the caller, whose distance is the first one's size;
/// members that only we have are zero. What is wrong with them goes to `wrong`.
template <SizedStruct T> std::vector<T> take(const T *theirs, size_t count, std::string &wrong) {
  std::vector<T> all;
  for (size_t i = 0; i < count; ++i) {
    const auto *bytes = reinterpret_cast<const char *>(theirs) + i * theirs->size;
    T one{};
    std::memcpy(&one.size, bytes, sizeof one.size);
    wrong = wrongSize(one);
    if (wrong.empty() && one.size != theirs->size)
      wrong = fmt::format("struct {} has size {}, struct 0 has {}", i, one.size, theirs->size);
    if (!wrong.empty())
      return {};
    const size_t known = std::min(one.size, sizeof(T));
    if (std::any_of(bytes + known, bytes + one.size, [](char byte) { return byte != 0; })) {
      wrong =
          fmt::format("struct {} sets members that this library does not have, allowed: zero", i);
      return {};
    }
    std::memcpy(&one, bytes, known);
    all.push_back(one);
  }
  return all;
}

} // namespace sluice::runtime
