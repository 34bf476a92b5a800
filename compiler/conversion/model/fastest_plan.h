// The plan of a model: of its forms the one that runs fastest.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/conversion/plan/plan.h"
#include "compiler/conversion/rows/program.h"
#include "compiler/support/outcome.h"

namespace sluice::conversion {

/// One form of a model. A variant of the form before it (rows::Program::variant) may be made when
/// the planner asks for it: none is planned if no other form fits.
class Form {
public:
  /// Makes a program; neither a program nor problems if the model has no such variant.
  using Maker = std::function<Outcome<rows::Program>()>;

  Form(rows::Program program) : name(program.variant), made(std::move(program)) {}
  Form(std::string variant, Maker maker) : name(std::move(variant)), maker(std::move(maker)) {}

  [[nodiscard]] const std::string &variant() const { return name; }
  /// Returns the program, which is made first if need be. Null if there is none; the reasons are
  /// added to `problems`.
  const rows::Program *program(Problems &problems);
  [[nodiscard]] bool isMade() const { return made.has_value(); }
  /// Returns the program of a form that is made.
  [[nodiscard]] const rows::Program &program() const { return *made; }

private:
  std::string name;
  Maker maker; ///< none if it was called, or if the program was given
  std::optional<rows::Program> made;
};

/// Plans forms of one model, which share the work of the options. Without work, it takes the first
/// form that fits. Returns no problems if a form is planned. Otherwise it returns those of the
/// first form, or of the form that comes closest to fitting if only memory is lacking; plan.memory
/// is then what that form uses.
[[nodiscard]] Problems planFastest(std::vector<Form> &forms, const plan::PlanOptions &options,
                                   plan::Plan &plan);

} // namespace sluice::conversion
