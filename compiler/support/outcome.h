// The outcome of a phase: what it makes, or the problems that keep it from making it.
#pragma once

#include <optional>
#include <utility>

#include "compiler/support/problem.h"

namespace sluice {

/// A caller that has another way to go drops the problems with the outcome.
template <typename T> struct Outcome {
  std::optional<T> value;
  Problems problems; ///< may be empty without a value: the phase has no such form of its input

  Outcome() = default;
  Outcome(T made) : value(std::move(made)) {}
  Outcome(Problems why) : problems(std::move(why)) {}

  explicit operator bool() const { return value.has_value(); }
  T &operator*() { return *value; }
  const T &operator*() const { return *value; }
  T *operator->() { return &*value; }
  const T *operator->() const { return &*value; }
};

} // namespace sluice
