// A row graph under construction: rows, weight blocks and tables, each distinct
// one once, and what is known about the lanes beyond a row's elements.
#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/conversion/row_graph.h"
#include "compiler/conversion/rows/lane_values.h"

namespace sluice::rows {

/// What is known of a row. The first lanes of a row can be a row of another tensor: beyond them,
/// that one has its padding where this one has elements and padding of its own.
struct RowFacts {
  uint32_t used = 0;    ///< lanes with elements, from lane 0
  bool uniform = false; ///< every one of the B lanes holds the same value
  LaneValues elements = LaneValues::anything();
  LaneValues padding = LaneValues::known(0); ///< beyond the elements; as they are, if uniform

  /// The lanes beyond the elements are zero, or there are none.
  [[nodiscard]] bool zeroBeyond(uint32_t lanes) const;
};

/// What is known of the values of a function table.
struct TableFacts {
  LaneValues ofFinite = LaneValues::anything(), ofNumbers = ofFinite, ofAll = ofFinite,
             ofNotPositive = ofFinite;
  bool notNegative = false;  ///< no value has a minus sign, but for NaN
  bool isReciprocal = false; ///< of powers of 2, at least
};

class GraphBuilder {
public:
  explicit GraphBuilder(const format::Geometry &geometry);

  [[nodiscard]] uint32_t lanes() const { return graph.geometry.lanes; }
  [[nodiscard]] uint32_t cores() const { return graph.geometry.cores; }

  /// Whether products clear elements that they do not read and that may be harmful. Views that read
  /// all elements need not: a harmful element poisons the sums of its row as it is.
  bool clearsUnread = true;

  /// Rows made from now on belong to a new group and come from these nodes.
  void beginGroup(std::vector<uint32_t> nodes);

  RowId input(uint32_t port, uint32_t row, uint32_t used, const LaneValues &elements,
              const LaneValues &beyond);
  /// What the inference before kept: in the first one these first lanes. The others are zero. What
  /// is kept is taken for finite: an element that is not poisons the state when it is moved.
  RowId state(std::string name, std::vector<double> initial);
  /// What a state is in the next inference.
  void keep(RowId state, RowId next);
  /// The first `values.size()` lanes; the others are zero.
  RowId constant(const std::vector<double> &values);
  /// As fp32, not larger than bf16: the row with the upper halves and that with the lower ones.
  std::pair<RowId, RowId> wideConstant(const std::vector<double> &values);
  RowId splat(double value);
  /// `inside` in the first `used` lanes, `outside` in the others.
  RowId mask(uint32_t used, double inside, double outside);
  /// `beyond` is what the lanes beyond `used` hold, if they are not uniform: by default the bias.
  RowId linear(std::vector<Term> terms, std::vector<float> bias, uint32_t used, bool uniform,
               std::optional<LaneValues> beyond = std::nullopt);
  /// b and c may be kNoRow. Step.table indexes tables of this graph.
  RowId vector(const VectorStep &step, std::vector<RowId> a, RowId b, RowId c, uint32_t used);
  /// The same row again where it was asked for before; it then serves the nodes of this group too.
  RowId vectorOnce(const VectorStep &step, std::vector<RowId> a, RowId b, RowId c, uint32_t used);

  uint32_t table(const std::shared_ptr<const format::TableImage> &image);
  /// Whether `table` has added an image.
  [[nodiscard]] bool hasTable(const format::TableImage &image) const {
    return tableNumbers.contains({image.header, image.entries});
  }
  uint32_t block(const WeightBlock &weights);
  /// The block by which the first `used` lanes of a row are its own; the others are zero.
  uint32_t identity(uint32_t used);
  /// A block these rows are written to in every inference, for the nodes of this
  /// group. Constant rows are in it from the start.
  uint32_t dynamicBlock(bool columns, std::vector<BlockWrite> writes);

  /// What the lanes of a row are; the first that is said of a row stays, as others are views of it.
  void setElements(RowId row, const Elements &elements);
  /// Of a row whose elements are the first `used` lanes.
  [[nodiscard]] RowFacts facts(RowId row, uint32_t used) const;
  /// Says that every lane of a row holds the same value, one of these.
  void setUniform(RowId row, uint32_t used, const LaneValues &elements);
  /// A matrix product whose step is still empty.
  [[nodiscard]] bool isPlainLinear(RowId row) const;
  /// A matrix product whose step is empty, or such a product times a number.
  [[nodiscard]] bool isScaledLinear(RowId row) const;
  /// Block products of a scaled matrix product.
  [[nodiscard]] size_t termsOf(RowId row) const;
  /// Computes a scaled matrix product once more.
  RowId repeated(RowId row);
  /// Neither an input nor a constant.
  [[nodiscard]] bool isComputed(RowId row) const;
  /// `row`, or a copy, that cannot poison a matrix product by the lanes that the product does not
  /// read. `read` says so by lane; lanes behind its end are not read. Empty: all
  /// lanes are.
  RowId forProduct(RowId row, const std::vector<bool> &read);
  /// `row`, or a copy, with zeros beyond the first `used` lanes.
  RowId withZeroPadding(RowId row, uint32_t used);

  /// The graph so far; the builder is empty afterwards.
  Graph take() { return std::move(graph); }

private:
  /// A row of this inference with what a state holds; other rows as they are.
  RowId recalled(RowId row);
  /// `copy`, which has the elements of `row`.
  RowId copyOf(RowId row, RowId copy);
  RowId push(Row row, RowFacts facts);
  /// Adds the nodes of this group to those of a row or a block.
  void serve(std::vector<uint32_t> &all) const;
  RowId constantRow(std::vector<uint16_t> lanes, uint32_t used);
  /// Whether a step is a table of x - max(x): of numbers that are not positive.
  [[nodiscard]] bool isBelowMaximum(const VectorStep &step, const std::vector<RowId> &a,
                                    RowId b) const;
  /// Whether a step multiplies a row by the reciprocal of a sum that has all elements of the row,
  /// and nothing negative. If a product is not finite, none is.
  [[nodiscard]] bool isShare(const VectorStep &step, const std::vector<RowId> &a, RowId c) const;
  /// Whether no lane of a row is negative.
  [[nodiscard]] bool isNotNegative(RowId id) const;
  /// Whether a term adds each element of its row once, and nothing negative.
  [[nodiscard]] bool sumsUp(const Term &term) const;
  /// The sum of significands of the weights of a term, of the output lane where it is largest.
  [[nodiscard]] uint64_t weightOf(const Term &term) const;
  /// A sum that might overflow an accumulator, as a sum of sums that are rounded to bf16.
  RowId sumOfParts(const std::vector<Term> &terms, std::vector<float> bias, uint32_t used,
                   bool uniform, const std::optional<LaneValues> &beyond);
  /// What a step makes of lanes whose operands are known so far.
  [[nodiscard]] LaneValues after(const VectorStep &step, const LaneValues &a, const LaneValues &b,
                                 const LaneValues &c) const;

  Graph graph;
  std::vector<RowFacts> rowFacts;
  std::vector<TableFacts> tableFacts; ///< parallel to the graph's tables
  std::vector<bool> isRead;           ///< rows that others are computed from
  /// Results of sumsUp, by block and the used lanes of the row.
  mutable std::map<std::pair<uint32_t, uint32_t>, bool> sums;
  std::map<std::vector<uint16_t>, RowId> constants;
  std::map<RowId, RowId> copies; ///< of states
  using Operands = std::tuple<std::vector<RowId>, RowId, RowId, uint32_t>;
  std::map<Operands, std::vector<std::pair<VectorStep, RowId>>> once;
  struct HashOfBlock {
    size_t operator()(const WeightBlock &block) const { return block.hash(); }
  };
  std::unordered_map<WeightBlock, uint32_t, HashOfBlock> blockNumbers; ///< of those not dynamic
  std::map<std::pair<bool, std::vector<BlockWrite>>, uint32_t> dynamicNumbers;
  std::map<std::pair<std::array<uint64_t, 4>, std::vector<uint16_t>>, uint32_t> tableNumbers;
  std::map<std::shared_ptr<const format::TableImage>, uint32_t> imageNumbers; ///< the same by image
  std::vector<uint32_t> nodes;
  uint32_t group = 0;
};

} // namespace sluice::rows
