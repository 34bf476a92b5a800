// --require: limits for what a command measures. One that is not met makes the exit code 1.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "tools/cli/command_output.h"

namespace sluice::cli {

/// Something that a command measures.
struct Quantity {
  std::string name;                           ///< "error"
  std::string unit;                           ///< "%", "dB"; empty: cycles
  std::optional<double> value = std::nullopt; ///< nothing: not measured
};

class Requirements {
public:
  /// Adds the flag to a command. `example` stands in its help.
  void add(CLI::App &command, std::string_view example);

  [[nodiscard]] bool empty() const { return texts.empty(); }

  /// Reads the values of the flag. E0601 for each that is malformed or about none of `known`.
  void read(const std::vector<Quantity> &known, Problems &problems);

  /// Compares with the measured quantities.
  void judge(const std::vector<Quantity> &measured);

  [[nodiscard]] bool areMet() const;

  /// "required            cycles<=300: 54, met", a line for each.
  [[nodiscard]] std::string text() const;

  /// E0620 for each that is not met.
  [[nodiscard]] Problems problems() const;

  /// Adds "required" to a command's result, and "errors" with "ok" false if any is not met. Nothing
  /// without the flag.
  void addTo(Json &result) const;

private:
  struct Requirement {
    std::string text;    ///< "cycles<=300"
    std::string name;    ///< "cycles"
    std::string compare; ///< "<="
    double limit = 0;
    Quantity found = {};

    [[nodiscard]] bool isMet() const;
    [[nodiscard]] std::string foundText() const;
  };

  void readOne(std::string_view text, const std::vector<Quantity> &known, Problems &problems);

  std::vector<std::string> texts;
  std::vector<Requirement> requirements;
};

} // namespace sluice::cli
