// State of one lowering: where every value's elements are, and values whose
// rows are not made before somebody needs them, so that what follows can still
// be fused into them.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

#include "compiler/conversion/rows/graph_builder.h"
#include "compiler/conversion/rows/integer_differences.h"
#include "compiler/conversion/rows/known_sums.h"
#include "compiler/conversion/rows/linear_sum.h"
#include "compiler/conversion/rows/lower.h"
#include "compiler/conversion/rows/row_tensor.h"
#include "compiler/conversion/rows/trees.h"
#include "compiler/conversion/rows/value_numbers.h"
#include "compiler/conversion/scalar/map_select.h"
#include "compiler/reference/tensor.h"
#include "compiler/support/problem_fwd.h"

namespace sluice::rows {

class Lowering;
class LazyMap;
class LazyLinear;

/// A value that becomes rows when it is first needed as rows.
class Lazy {
public:
  virtual ~Lazy() = default;
  virtual RowTensor emit(Lowering &lowering) = 0;
  /// Adds the values whose rows `emit` reads, apart from those of the products that it emits
  /// itself: of these it adds the values that they read.
  virtual void addReads(Lowering &lowering, llvm::SmallVectorImpl<mlir::Value> &reads) = 0;
  virtual LazyMap *asMap() { return nullptr; }
  virtual LazyLinear *asLinear() { return nullptr; }

  llvm::SetVector<mlir::Operation *> ops; ///< operations it computes
};

/// scale * x + offset behind a matrix product, by the result's row-major index;
/// empty: 1 and 0.
struct OutputAffine {
  std::vector<double> scale, offset;
};

/// A matrix product, which takes an affine map of its result into weights and
/// bias.
class LazyLinear : public Lazy {
public:
  RowTensor emit(Lowering &lowering) override { return emitWith(lowering, {}); }
  LazyLinear *asLinear() override { return this; }
  virtual RowTensor emitWith(Lowering &lowering, const OutputAffine &after) = 0;
  /// Whether weights can take this scale exactly enough and without more
  /// blocks than before.
  virtual bool takesScale(Lowering &lowering, const std::vector<double> &scale) = 0;
  /// If all weights are integers that bf16 has: what no sum of their products with 8-bit integers
  /// exceeds, in whatever order. Weights that are scaled might not be bf16 numbers.
  virtual std::optional<double> mostOfIntegers(Lowering & /*lowering*/) { return std::nullopt; }
};

class Lowering {
public:
  /// `nominalProducts`: multiplications that may be spent on nominal values.
  Lowering(const format::Geometry &geometry, int64_t nominalProducts, const TreeShape &trees,
           TableCache &tables, Problems &problems)
      : graph(geometry), tables(tables), trees(trees), problems(problems),
        nominalProducts(nominalProducts) {}

  GraphBuilder graph;
  TableCache &tables;
  bool fewTables = false; ///< steps that need no table are better, however many
  uint64_t macs = 0;
  const TreeShape trees;  ///< in which rows are merged
  TreesSeen treesSeen;    ///< so far
  std::set<RowId> merges; ///< rows that are merged of others, lane by lane

  /// Elements of a constant. Not kept: weights are large.
  reference::Tensor constant(mlir::Value value);
  [[nodiscard]] RowLayout layoutOf(mlir::Value value) const {
    return rows::layoutOf(value, graph.lanes());
  }
  /// Golden value where every input of the model is zero, or the constant that is subtracted from
  /// it: a typical value, for what rounding weights does on average. Contractions that would take
  /// too long are sampled (`notes` says so).
  const reference::Tensor &nominal(mlir::Value value);
  /// Sets the nominal value of every element of an input.
  void setNominal(mlir::BlockArgument input, double value);
  /// Sets the nominal values of an input; `values` has its shape.
  void setNominal(mlir::BlockArgument input, reference::Tensor values);
  /// What was done in another way than asked for.
  std::vector<std::string> notes;

  void define(mlir::Value value, RowTensor rows);
  void defineLazy(mlir::Value value, std::unique_ptr<Lazy> lazy) {
    state(value).lazy = std::move(lazy);
  }
  /// The lazy value, unless its rows have been made.
  Lazy *lazy(mlir::Value value);

  /// Rows of a value; its elements are plain or constant.
  const RowTensor &rows(mlir::Value value);
  /// The same where elements may be scaled and shifted: before a matrix product, if all users of
  /// the value are such. Rows that the value does not have itself are added to `made`.
  const RowTensor &affineRows(mlir::Value value, std::deque<RowTensor> &made);
  /// Adds the value whose rows affineRows reads.
  void addAffineReads(mlir::Value value, llvm::SmallVectorImpl<mlir::Value> &reads);
  /// Every row held by a row of the graph, lane by lane. Lane broadcasts stay
  /// if `keepBroadcast`.
  RowTensor materialise(RowTensor tensor, bool keepBroadcast = false);
  /// The same of a value, those of a constant in this layout.
  RowTensor heldRows(mlir::Value value, const RowLayout &layout);
  /// Constant elements.
  RowTensor constantRows(const RowLayout &layout, const reference::Tensor &tensor);

  /// Rows made from now on belong to these operations.
  void beginGroup(const llvm::SetVector<mlir::Operation *> &ops);
  void beginGroup(mlir::Operation *op);
  /// What the rows of values are; null: nobody knows.
  const ValueElements *elements = nullptr;
  /// Of a value, if it is a tensor of the model.
  [[nodiscard]] const TensorRows *elementsOf(mlir::Value value) const;
  /// What is known of the numbers of values; null or without an entry: nothing.
  const ValueNumbers *numbers = nullptr;
  [[nodiscard]] Number numberOf(mlir::Value value) const {
    return numbers ? numbers->lookup(value) : Number();
  }
  /// Gets the nodes whose integers may differ from those of ONNX; null: nobody asks.
  IntegerDifferences *differences = nullptr;
  /// Number of an ONNX node in Graph::nodes, by its index.
  llvm::DenseMap<int64_t, uint32_t> nodeNumbers;

  /// Computes usersTakeAffine of all values of a block, users before their operands.
  void findAffineUsers(mlir::Block &block);
  [[nodiscard]] bool usersTakeAffine(mlir::Value value) const {
    return affineUsers.contains(value);
  }
  /// The sums that operations with the same weights have made.
  KnownSums &knownSums(const KnownSums::Weights &weights) { return sums[weights]; }
  /// Records a problem of an operation. Rows of zeros stand for its result, so
  /// that the rest is still checked.
  RowTensor fail(mlir::Operation *op, const std::string &code, std::string message,
                 std::vector<std::string> notes = {});

private:
  struct State {
    std::optional<RowTensor> rows;
    std::unique_ptr<Lazy> lazy;
    std::optional<reference::Tensor> nominal;
  };
  /// `selection` is of the elements, if they lie in several lanes or rows.
  /// Emits the row of a view: elements of other rows, and constants that may be infinite.
  RowId emitSelection(const LinearSum::Rounded &selection, uint32_t used);
  RowId materialise(const RowRef &ref, uint32_t used, bool keepBroadcast,
                    const LinearSum::Rounded &selection);

  /// The operands that are not constant have their nominal values.
  reference::Tensor nominalOf(mlir::Operation *op);
  /// Makes the rows of every pending value that `value` depends on, operands first.
  void emitOperands(mlir::Value value);

  State &state(mlir::Value value) {
    auto &slot = values[value];
    if (!slot)
      slot = std::make_unique<State>();
    return *slot;
  }

  Problems &problems;
  int64_t nominalProducts; ///< left
  uint32_t nesting = 0;    ///< calls of rows() under way
  llvm::DenseSet<mlir::Value> affineUsers;
  std::map<KnownSums::Weights, KnownSums> sums;
  // Looked up by key only: its order never reaches the output. Pointers, so
  // that references to rows stay valid.
  llvm::DenseMap<mlir::Value, std::unique_ptr<State>> values;
};

/// A row of a tensor made of these elements: held by a row where they are its
/// lanes in order, or lane 0 of one row again and again.
RowRef makeRef(const GraphBuilder &graph, std::vector<Element> elements);

} // namespace sluice::rows

#include "compiler/conversion/rows/interface.h.inc"
