#include "compiler/dialect/sluice/layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

namespace sluice::ir {
namespace {

struct Rule {
  llvm::StringLiteral id, code, formula;
};

constexpr Rule kRules[] = {
    {"DD-PW", "E0301", "[a b! c] (*) [a b! c] -> [a b! c]"},
    {"DD-MM-CONST", "E0302", "[* i j] @ [* j! k] -> [* i! k] and [* k j!] @ [* j i] -> [* k i!]"},
    {"DD-RESHAPE", "E0303", "the data dimension keeps its stride: [a (n*b)! c] -> [a n b! c]"},
    {"DD-SQZ", "E0303", "the data dimension keeps its stride: [1 b!] -> [b!]"},
    {"DD-REDUCE", "E0304", "[a! b].sum(0, keepdims) -> [1! b] and [a! b].sum(1) -> [a!]"},
    {"DD-CONCAT", "E0305", "[a! b] ++ [a! c] -> [a! (b+c)]"},
    {"DD-MM-DYN", "E0306",
     "one operand of a product is a constant, unless --allow-dynamic-weights is given"},
    {"DD-MM-DYN-X", "E0307",
     "[* i! j] @ [* j! k] -> [* i! k], [* i j!] @ [* j k!] -> [* i k!] and [* i j!] @ [* j! k] -> "
     "[* i k!]"},
    {"DD-STATE", "E0312", "a state and its next value share one data dimension: [a b!] in [a b!]"},
};

} // namespace

LayoutRefusal refusal(llvm::StringRef rule, std::string message) {
  const auto *found = llvm::find_if(kRules, [&](const Rule &entry) { return entry.id == rule; });
  if (found == std::end(kRules))
    llvm::report_fatal_error("layout rule without an entry: " + rule);
  return {found->code, found->id, found->formula, std::move(message)};
}

int64_t LayoutQuery::rows(llvm::ArrayRef<int64_t> shape, int64_t dim) const {
  int64_t rows = 1;
  for (auto [axis, extent] : llvm::enumerate(shape))
    rows *= static_cast<int64_t>(axis) == dim ? (extent + lanes - 1) / lanes : extent;
  return rows;
}

RelayoutCost relayoutCost(llvm::ArrayRef<int64_t> shape, int64_t from, int64_t to,
                          const LayoutQuery &query) {
  if (shape[from] == 1 && shape[to] == 1)
    return {}; // the same rows, of one element each
  // From a first row in to a first row out: matrix unit, vector unit, network.
  constexpr int64_t kPass = 16;
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  // Each row of the result selects from a source row for each of its elements.
  const RelayoutCost selection{(elements + query.cores - 1) / query.cores + kPass, false};
  // Each source row is written once; each row of the result is one product.
  const RelayoutCost weights{query.rows(shape, from) + query.rows(shape, to) + kPass, true};
  return query.allowDynamicWeights && weights.cycles < selection.cycles ? weights : selection;
}

std::string notation(llvm::ArrayRef<int64_t> shape, std::optional<int64_t> dim) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  for (auto [axis, extent] : llvm::enumerate(shape))
    os << (axis ? " " : "") << extent << (dim == static_cast<int64_t>(axis) ? "!" : "");
  os << ']';
  return text;
}

std::optional<int64_t> reshapeDim(llvm::ArrayRef<int64_t> from, int64_t dim,
                                  llvm::ArrayRef<int64_t> to) {
  int64_t stride = 1;
  for (int64_t extent : from.drop_front(dim + 1))
    stride *= extent;
  std::optional<int64_t> leftmost;
  int64_t right = 1;
  for (auto axis = static_cast<int64_t>(to.size()) - 1; axis >= 0; --axis) {
    if (right == stride)
      leftmost = axis;
    right *= to[axis];
  }
  return leftmost;
}

std::optional<AxisRange> mergedAxes(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to,
                                    int64_t axis) {
  int64_t right = 1;
  for (int64_t extent : to.drop_front(axis + 1))
    right *= extent;
  auto end = static_cast<int64_t>(from.size());
  for (int64_t product = 1; product != right; product *= from[--end])
    if (end == 0)
      return std::nullopt;
  int64_t first = end, product = 1;
  while (first > 0 && product * from[first - 1] <= to[axis])
    product *= from[--first];
  return product == to[axis] && first < end ? std::optional(AxisRange{first, end}) : std::nullopt;
}

} // namespace sluice::ir
