// One row of B lanes, and what makes it: the nodes of a row graph.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include "compiler/conversion/rows/bias.h"
#include "hw/isa/isa.h"

namespace sluice::rows {

/// Index into Graph::rows.
using RowId = uint32_t;
inline constexpr RowId kNoRow = std::numeric_limits<RowId>::max();

/// One block product: weight block (index into Graph::blocks) times a row.
struct Term {
  RowId x = kNoRow;
  uint32_t block = 0;
};

/// A row that becomes part of a weight block.
struct BlockWrite {
  RowId row = kNoRow;
  uint32_t index = 0; ///< output lane, or input position if columns are written

  auto operator<=>(const BlockWrite &) const = default;
};

/// What is written into a block in every inference. The other elements keep
/// those of Graph::blocks.
struct DynamicBlock {
  /// Lane i goes to output lane i, input position `index`; else to output lane
  /// `index`, input position i.
  bool columns = false;
  std::vector<BlockWrite> writes; ///< distinct indices; no row is constant
  std::vector<uint32_t> nodes;    ///< source nodes, indices into Graph::nodes, ascending
};

/// The datapath of one vector beat: post(alu2(reduce(table(alu1(a, rhs1))), rhs2)).
struct VectorStep {
  isa::Alu alu1 = isa::Alu::Pass;
  isa::Rhs1 rhs1 = isa::Rhs1::B;
  float imm1 = 0;
  std::optional<uint32_t> table; ///< index into Graph::tables
  isa::Reduce reduce = isa::Reduce::None;
  isa::Alu alu2 = isa::Alu::Pass;
  isa::Rhs2 rhs2 = isa::Rhs2::C;
  float imm2 = 0;
  isa::Post post = isa::Post::None;
  bool bBroadcast = false; ///< lane 0 of b in every lane
  /// b is fp32: the upper halves in row b, the lower halves in row c, which no unit reads then.
  bool bWide = false;
  isa::Part part = isa::Part::Bf16; ///< of the result; halves are read as a wide b alone
  bool cBroadcast = false;

  /// The same operation: immediates are compared by their bits, so that NaN equals itself.
  bool operator==(const VectorStep &other) const {
    const auto key = [](const VectorStep &s) {
      return std::tuple(s.alu1, s.rhs1, std::bit_cast<uint32_t>(s.imm1), s.table, s.reduce, s.alu2,
                        s.rhs2, std::bit_cast<uint32_t>(s.imm2), s.post, s.bBroadcast, s.cBroadcast,
                        s.bWide, s.part);
    };
    return key(*this) == key(other);
  }
};

/// No index into Graph::tensors.
inline constexpr uint32_t kNoTensor = std::numeric_limits<uint32_t>::max();

/// What the lanes of a row are to the user: in trip t the elements of row `first` + t * `step` of a
/// tensor of the model, lane by lane. No tensor: what the nodes of the row have between them.
struct Elements {
  uint32_t tensor = kNoTensor; ///< index into Graph::tensors
  uint32_t first = 0;
  int32_t step = 0;
  bool partial = false; ///< not the elements but a sum that goes into them

  [[nodiscard]] bool known() const { return tensor != kNoTensor; }
  /// Of a row that is part of the sum that these are.
  [[nodiscard]] Elements part() const { return {tensor, first, step, known()}; }
  auto operator<=>(const Elements &) const = default;
};

/// How a row comes to be.
enum class RowKind : uint8_t {
  Input,    ///< row `inputRow` of the model's input `input`
  State,    ///< what Graph::states[state] kept in the inference before
  Constant, ///< `lanes`
  Linear,   ///< a = bias + sum over terms of block * x (on the matrix unit), then `step`
  Vector,   ///< a = one row, or with step.reduce one or more accumulated over beats; then `step`
};

struct Row {
  RowKind kind = RowKind::Constant;
  uint32_t input = 0;
  uint32_t inputRow = 0;
  uint32_t state = 0;
  std::vector<uint16_t> lanes; ///< Constant: B bf16
  std::vector<Term> terms;     ///< Linear: at least one
  Bias bias;                   ///< Linear
  std::vector<RowId> a;        ///< Vector
  RowId b = kNoRow;            ///< operand b of `step`, Linear and Vector
  RowId c = kNoRow;            ///< operand c of `step`, Linear and Vector
  VectorStep step;
  /// Linear, made by the planner: a partial sum that is not rounded to bf16 but
  /// kept as fp32 in two rows, upper halves first. Read as operand b alone.
  bool wide = false;
  /// Linear, made by the planner: a sum that stays in the preload row from which the row that
  /// names it as `start` begins in the next inference. It has no step.
  bool ahead = false;
  /// Linear, made by the planner: the sum begins with what this row left in the inference before,
  /// and in the first inference with `bias`.
  RowId start = kNoRow;
  uint32_t group = 0; ///< rows of one operation share a group; groups ascend in topological order
  std::vector<uint32_t> nodes; ///< source nodes, indices into Graph::nodes, ascending
  Elements elements;           ///< says nothing of how the row is computed
};

} // namespace sluice::rows
