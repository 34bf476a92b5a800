// What is said of a model as a whole.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/frontend/onnx/importer.h"

namespace sluice::frontend {

void Importer::noteCaution(std::string_view caution, const std::string &node) {
  std::vector<std::string> &nodes = cautions[std::string(caution)];
  if (std::ranges::find(nodes, node) == nodes.end())
    nodes.push_back(node);
}

void Importer::noteCautions() {
  constexpr size_t kNamed = 3;
  for (const auto &[caution, nodes] : cautions) {
    const size_t named = std::min(kNamed, nodes.size());
    std::string text =
        fmt::format("{}: {}", caution, fmt::join(nodes.begin(), nodes.begin() + named, ", "));
    if (named < nodes.size())
      text += fmt::format(" and {} more", nodes.size() - named);
    info.notes.push_back(std::move(text));
  }
}

void Importer::blameReplaced(const std::vector<Replaced> &replaced, size_t before) {
  std::vector<std::string> texts;
  for (const Replaced &one : replaced)
    texts.push_back(one.text());
  info.notes.insert(info.notes.end(), texts.begin(), texts.end());
  const auto follows = [](const Problem &one) { return one.isFor<WrongShapes>(); };
  const auto first =
      std::find_if(problems.begin() + static_cast<ptrdiff_t>(before), problems.end(), follows);
  if (replaced.empty() || first == problems.end())
    return;
  Problem blamed;
  blamed.code = kWrongShape.text;
  blamed.reason = WrongOption();
  blamed.message =
      fmt::format("the model does not allow the given extents: {}", fmt::join(texts, ", "));
  for (auto one = first; one != problems.end(); ++one)
    if (follows(*one))
      blamed.notes.push_back(one->node ? fmt::format("{}: {}", nodeText(*one->node), one->message)
                                       : one->message);
  blamed.fixes.push_back(
      fix("use the extents that the model declares, or export it with a dynamic batch axis"));
  *first = std::move(blamed);
  problems.erase(std::remove_if(std::next(first), problems.end(), follows), problems.end());
}

} // namespace sluice::frontend
