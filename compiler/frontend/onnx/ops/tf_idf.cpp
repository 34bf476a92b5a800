// TfIdfVectorizer of integers known at import: how often n-grams of a pool occur.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

using Gram = std::vector<int64_t>;

/// Most elements of a result.
constexpr int64_t kMostCounts = int64_t{1} << 24;

/// Most steps of a search through one row: its places, lengths of n-grams and gaps between words.
constexpr int64_t kMostSearched = int64_t{1} << 24;

int64_t rowsOf(const NodeView &node) {
  const Shape &shape = node.in(0).shape;
  return shape.size() == 2 ? shape[0] : 1;
}

/// The n-grams of the pool by their place in it: those of length n begin at 'ngram_counts'[n - 1].
std::map<Gram, int64_t> pool(const NodeView &node) {
  const auto &starts = node.integers("ngram_counts");
  const auto &words = node.integers("pool_int64s");
  std::map<Gram, int64_t> out;
  int64_t place = 0;
  for (size_t n = 1; n <= starts.size(); ++n) {
    const auto size = static_cast<int64_t>(n);
    const int64_t end = n < starts.size() ? starts[n] : static_cast<int64_t>(words.size());
    for (int64_t at = starts[n - 1]; at + size <= end; at += size)
      out.emplace(Gram(words.begin() + at, words.begin() + at + size), place++);
  }
  return out;
}

/// How many n-grams the pool has, checked are its bounds.
int64_t poolSize(const NodeView &node) {
  const auto &starts = node.integers("ngram_counts");
  int64_t count = 0;
  for (size_t n = 1; n <= starts.size(); ++n) {
    const int64_t end =
        n < starts.size() ? starts[n] : static_cast<int64_t>(node.integers("pool_int64s").size());
    count += (end - starts[n - 1]) / static_cast<int64_t>(n);
  }
  return count;
}

/// Adds 1 for every n-gram of the pool in a row, by words with up to 'max_skip_count' others
/// between each two. Words that stand alone have no gaps, and count once.
void count(const NodeView &node, const int64_t *row, int64_t length,
           const std::map<Gram, int64_t> &places, std::vector<float> &counts) {
  const auto &indexes = node.integers("ngram_indexes");
  const int64_t least = node.integer("min_gram_length"), most = node.integer("max_gram_length");
  for (int64_t size = least; size <= most; ++size)
    for (int64_t gap = 1; gap <= (size == 1 ? 0 : node.integer("max_skip_count")) + 1; ++gap)
      for (int64_t start = 0; start + (size - 1) * gap < length; ++start) {
        Gram gram;
        for (int64_t k = 0; k < size; ++k)
          gram.push_back(row[start + k * gap]);
        if (const auto found = places.find(gram); found != places.end())
          ++counts[indexes[found->second]];
      }
}

void buildTfIdf(NodeBuilder &node) {
  const HostTensor &x = *node.in(0).known;
  const auto &indexes = node.integers("ngram_indexes");
  const int64_t width = *std::max_element(indexes.begin(), indexes.end()) + 1;
  const int64_t rows = rowsOf(node), length = x.shape.back();
  const std::string &mode = node.attribute<std::string>("mode");
  const std::map<Gram, int64_t> places = pool(node);
  std::vector<float> weights(width, 1.0F);
  if (node.given("weights"))
    for (size_t i = 0; i < indexes.size(); ++i)
      weights[indexes[i]] = node.attribute<std::vector<float>>("weights")[i];
  std::vector<float> all;
  for (int64_t row = 0; row < rows; ++row) {
    std::vector<float> counts(width, 0.0F);
    count(node, x.ints.data() + row * length, length, places, counts);
    for (int64_t i = 0; i < width; ++i) {
      const float frequency = mode == "IDF" ? std::min(counts[i], 1.0F) : counts[i];
      all.push_back(mode == "TF" ? frequency : frequency * weights[i]);
    }
  }
  Shape shape = x.shape;
  shape.back() = width;
  node.result(Tensor::ofKnown(HostTensor::ofFloats(shape, std::move(all))));
}

std::vector<Requirement> requirements() {
  return {{"input 'X' must be int32 or int64 of rank 1 or 2, with at least one element",
           [](const NodeView &node) -> std::string {
             const HostTensor &x = *node.in(0).known;
             const bool integers =
                 x.type == onnx::TensorProto::INT32 || x.type == onnx::TensorProto::INT64;
             return integers && (x.shape.size() == 1 || x.shape.size() == 2) && x.size() > 0
                        ? ""
                        : fmt::format("{} {}", dataTypeName(x.type), shapeText(x.shape));
           },
           kShapes},
          {"attribute 'mode' must be 'TF', 'IDF' or 'TFIDF'",
           [](const NodeView &node) -> std::string {
             const auto &mode = node.attribute<std::string>("mode");
             return mode == "TF" || mode == "IDF" || mode == "TFIDF" ? "" : inQuotes(mode);
           },
           kShapes},
          {"attribute 'pool_int64s' must be given, and 'pool_strings' left out",
           [](const NodeView &node) -> std::string {
             return node.given("pool_strings")   ? "'pool_strings'"
                    : !node.given("pool_int64s") ? "none"
                                                 : "";
           }},
          {"'ngram_counts' must ascend from 0 to at most the size of 'pool_int64s', and "
           "'ngram_indexes' must have one element of at least 0 per n-gram",
           [](const NodeView &node) -> std::string {
             const auto &starts = node.integers("ngram_counts");
             const auto &indexes = node.integers("ngram_indexes");
             const auto words = static_cast<int64_t>(node.integers("pool_int64s").size());
             const bool fits = !starts.empty() && starts[0] >= 0 && starts.back() <= words &&
                               std::is_sorted(starts.begin(), starts.end()) && !indexes.empty() &&
                               static_cast<int64_t>(indexes.size()) == poolSize(node) &&
                               std::all_of(indexes.begin(), indexes.end(),
                                           [](int64_t index) { return index >= 0; });
             return fits ? "" : fmt::format("{} and {}", shapeText(starts), shapeText(indexes));
           },
           kShapes},
          {fmt::format("the result must have at most {} elements", kMostCounts),
           [](const NodeView &node) -> std::string {
             const auto &indexes = node.integers("ngram_indexes");
             const int64_t last = *std::max_element(indexes.begin(), indexes.end());
             return last < kMostCounts && elementCount({rowsOf(node), last + 1}, kMostCounts) >= 0
                        ? ""
                        : fmt::format("{} rows and index {}", rowsOf(node), last);
           }},
          {"'weights', if given, must have as many elements as 'ngram_indexes'",
           [](const NodeView &node) -> std::string {
             if (!node.given("weights"))
               return "";
             const size_t count = node.attribute<std::vector<float>>("weights").size();
             return count == node.integers("ngram_indexes").size() ? "" : fmt::format("{}", count);
           },
           kShapes},
          {fmt::format("'min_gram_length' must be in [1, 'max_gram_length'], 'max_skip_count' at "
                       "least 0, and the search at most {} steps",
                       kMostSearched),
           [](const NodeView &node) -> std::string {
             const int64_t least = node.integer("min_gram_length"),
                           most = node.integer("max_gram_length"),
                           gaps = node.integer("max_skip_count");
             const bool ordered = least >= 1 && most >= least && gaps >= 0;
             return ordered && elementCount({node.in(0).known->size(), most, most,
                                             std::min(gaps, kMostSearched) + 1},
                                            kMostSearched) >= 0
                        ? ""
                        : fmt::format("{}, {} and {}", least, most, gaps);
           },
           kShapes}};
}

} // namespace

void addTfIdf(OperatorTable &table) {
  Operator entry;
  entry.name = "TfIdfVectorizer";
  entry.form = "known at compile time";
  entry.inputs = {{"X", Types::Any, Presence::Required, true}};
  entry.outputs = {{"Y"}};
  entry.attributes = {{"max_gram_length", AttributeKind::Int, std::nullopt, true},
                      {"max_skip_count", AttributeKind::Int, std::nullopt, true},
                      {"min_gram_length", AttributeKind::Int, std::nullopt, true},
                      {"mode", AttributeKind::String, std::nullopt, true},
                      {"ngram_counts", AttributeKind::Ints, std::nullopt, true},
                      {"ngram_indexes", AttributeKind::Ints, std::nullopt, true},
                      {"pool_int64s", AttributeKind::Ints},
                      {"pool_strings", AttributeKind::Strings},
                      {"weights", AttributeKind::Floats}};
  entry.requirements = requirements();
  entry.build = buildTfIdf;
  table.add({9}, entry);
}

} // namespace sluice::frontend::ops
