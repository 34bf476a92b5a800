#include "compiler/frontend/onnx/cut_levels.h"

#include <algorithm>
#include <new>

#include "compiler/frontend/onnx/cut_graph.h"
#include "compiler/frontend/onnx/model_file.h"

namespace sluice::frontend {
namespace {

bool multiplies(const onnx::NodeProto &node) {
  static const std::set<std::string> products{
      "Attention", "Conv",  "ConvInteger", "ConvTranspose", "Einsum",      "GRU",
      "Gemm",      "LSTM",  "MatMul",      "MatMulInteger", "QLinearConv", "QLinearMatMul",
      "RNN",       "QGemm", "QAttention",  "FusedGemm",     "FusedMatMul", "FusedConv",
      "Loop",      "If",    "Scan",        "DeformConv"};
  return products.contains(node.op_type());
}

class LevelFinder {
public:
  LevelFinder(const onnx::GraphProto &proto, const std::set<int64_t> &missing)
      : proto(proto), graph(proto), missing(missing) {
    std::vector<std::string> outputs;
    for (const onnx::ValueInfoProto &output : proto.output())
      outputs.push_back(output.name());
    needed = graph.needs(outputs, {}).nodes;
    for (size_t n = 0; n < needed.size(); ++n)
      if (graph.isConstantNode(n))
        needed[n] = false; // every part has its own
  }

  Levels run() {
    const std::vector<size_t> order = sorted();
    std::vector<size_t> depth(needed.size()), height(needed.size());
    const auto isMissing = [&](size_t node) {
      return missing.contains(static_cast<int64_t>(node)) ? size_t{1} : size_t{0};
    };
    for (const size_t n : order)
      for (const size_t from : before(n))
        depth[n] = std::max(depth[n], depth[from] + isMissing(from));
    for (auto n = order.rbegin(); n != order.rend(); ++n)
      for (const size_t from : before(*n))
        height[from] = std::max(height[from], height[*n] + isMissing(*n));
    return {levels(depth), levels(height)};
  }

private:
  /// The needed nodes that compute what a node reads.
  [[nodiscard]] std::vector<size_t> before(size_t node) const {
    std::vector<size_t> nodes;
    for (const std::string &name : graph.reads(node))
      if (const auto from = graph.producer(name); from && needed[*from])
        nodes.push_back(*from);
    return nodes;
  }

  /// The needed nodes, each behind those that it reads; without those of cycles.
  [[nodiscard]] std::vector<size_t> sorted() const {
    std::vector<size_t> left(needed.size()), order;
    std::vector<std::vector<size_t>> after(needed.size());
    for (size_t n = 0; n < needed.size(); ++n) {
      if (!needed[n])
        continue;
      for (const size_t from : before(n)) {
        ++left[n];
        after[from].push_back(n);
      }
      if (left[n] == 0)
        order.push_back(n);
    }
    for (size_t i = 0; i < order.size(); ++i)
      for (const size_t next : after[order[i]])
        if (--left[next] == 0)
          order.push_back(next);
    return order;
  }

  [[nodiscard]] std::vector<Level> levels(const std::vector<size_t> &number) const {
    std::vector<Level> found;
    const size_t count = number.empty() ? 0 : *std::ranges::max_element(number) + 1;
    for (size_t level = 0; level < count; ++level) {
      std::vector<bool> nodes(needed.size());
      for (size_t n = 0; n < needed.size(); ++n)
        nodes[n] = needed[n] && number[n] == level && !missing.contains(static_cast<int64_t>(n));
      found.push_back(between(nodes));
      if (found.back().cut.outputs.empty())
        found.pop_back();
    }
    return found;
  }

  /// The tensors that enter and leave some nodes.
  [[nodiscard]] Level between(const std::vector<bool> &nodes) const {
    Level level;
    std::set<std::string> read, readOutside, made;
    for (const onnx::ValueInfoProto &output : proto.output())
      readOutside.insert(output.name());
    for (size_t n = 0; n < nodes.size(); ++n) {
      const auto &reads = graph.reads(n);
      if (nodes[n])
        read.insert(reads.begin(), reads.end());
      else if (needed[n])
        readOutside.insert(reads.begin(), reads.end());
      if (!nodes[n])
        continue;
      const onnx::NodeProto &node = proto.node(static_cast<int>(n));
      level.hasProducts |= multiplies(node);
      made.insert(node.output().begin(), node.output().end());
    }
    for (const std::string &name : graph.names()) {
      if (read.contains(name) && !made.contains(name))
        level.cut.inputs.push_back(name);
      if (made.contains(name) && readOutside.contains(name))
        level.cut.outputs.push_back(name);
    }
    return level;
  }

  const onnx::GraphProto &proto;
  const CutGraph graph;
  const std::set<int64_t> &missing;
  std::vector<bool> needed; ///< by node
};

} // namespace

Outcome<Levels> levelsAround(const ImportOptions &options, const std::set<int64_t> &missing) {
  Problems problems;
  Report report(problems);
  try {
    if (const auto model = readModelFile(options.path, report))
      return LevelFinder(model->graph(), missing).run();
  } catch (const std::bad_alloc &) {
    report.add("E0103", "the model needs more memory than this machine has");
  }
  return problems;
}

} // namespace sluice::frontend
