// A compilation that has ended.
#pragma once

#include "compiler/pipeline/pipeline.h"
#include "compiler/pipeline/verdict.h"

namespace sluice::pipeline {

struct Compilation {
  CompileResult result; ///< without a program, what was found out before
  Problems problems;    ///< why there is no program, for the user
  Verdict verdict = Rejected();
  Problems lacking = {}; ///< of forms that are not planned (conversion::ModelForms)

  template <typename V> [[nodiscard]] bool is() const { return std::holds_alternative<V>(verdict); }
  [[nodiscard]] bool compiles() const { return is<Compiles>(); }
};

} // namespace sluice::pipeline
