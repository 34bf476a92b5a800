// Words of command lines that messages show.
#pragma once

#include <string>
#include <vector>

namespace sluice::cli {

/// Returns a word in quotes if a shell needs them.
std::string shellWord(const std::string &word);

/// Returns a command line of words.
std::string shellText(const std::vector<std::string> &words);

} // namespace sluice::cli
