// The parts of format::check. Each has its own source file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/format/program_file.h"

namespace sluice::format {

/// A list of at most `limit` problems. Further problems are dropped.
class ProblemList {
public:
  explicit ProblemList(size_t limit) : limit(limit) {}
  void add(std::string code, std::string message) {
    if (!full())
      problems.push_back({std::move(code), std::move(message)});
  }
  bool full() const { return problems.size() >= limit; }
  bool empty() const { return problems.empty(); }
  std::vector<FileProblem> take() { return std::move(problems); }

private:
  size_t limit;
  std::vector<FileProblem> problems;
};

/// Returns a message if a geometry is invalid.
std::optional<std::string> checkGeometry(const Geometry &geometry);

/// Returns a message if the inputs, outputs and arrays of a model contradict each other or their
/// types. Does not look at their rows.
std::optional<std::string> checkHostSide(const Model &model);

/// Whether a text is well-formed UTF-8.
bool isUtf8(std::string_view text);

void checkModels(const Program &program, ProblemList &problems);       // E0511
void checkState(const Program &program, ProblemList &problems);        // E0517
void checkInstructions(const Program &program, ProblemList &problems); // E0509, E0510, E0511
/// Checks what does not depend on the models: not the rows that the host sends and gets.
void checkLists(const Program &program, ProblemList &problems);        // E0509, E0510
void checkImages(const Program &program, ProblemList &problems);       // E0512
void checkSourceMap(const Program &program, ProblemList &problems);    // E0513
void checkComputedRows(const Program &program, ProblemList &problems); // E0513

} // namespace sluice::format
