// Where: the core of every row, who reads it, its addresses, and what every
// memory holds.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/conversion/plan/order/pins.h"
#include "compiler/conversion/plan/order/work.h"

namespace sluice::plan {

/// Unit bits of a signal (isa.json, sig_units).
inline constexpr uint32_t kMatrixBit = 1, kVectorBit = 2;
inline constexpr uint32_t kHostMask = 1U << isa::kHostBit;
inline constexpr uint32_t kNone = ~uint32_t{0};

struct RowPlace {
  uint32_t core = kNone;      ///< computes it; none for inputs and constants
  uint32_t matrixReaders = 0; ///< mask of cores
  uint32_t vectorReaders = 0; ///< mask of cores
  bool net = false;           ///< travels as a packet; else a local row
  uint32_t inbox = kNone;     ///< address at every reader, if net; a wide row has the next too
  /// Computed into a weight block of its own core, and nowhere else: the block and
  /// the index there. Nobody reads it as a row.
  std::optional<std::pair<uint32_t, uint32_t>> weights;
  uint32_t indexInStage = 0; ///< position among the rows of its stage on its core (inputs: of all)
  uint32_t turn = 0;         ///< position among all rows of its stage
  rows::RowId holder = rows::kNoRow; ///< of a state, the row in whose place it is

  uint32_t readers() const { return matrixReaders | vectorReaders; }
  uint32_t units() const {
    return (matrixReaders != 0 ? kMatrixBit : 0) | (vectorReaders != 0 ? kVectorBit : 0);
  }
};

/// The memories of one core.
struct CoreMemory {
  std::vector<uint32_t> localAddress; ///< by row; kNone where not local here
  std::vector<rows::RowId> constants; ///< constant rows in local memory
  uint32_t localRows = 0;             ///< used
  std::vector<uint32_t> preloadRow;   ///< by row; kNone without a bias here
  std::vector<rows::RowId> preloads;  ///< by preload row, the first row that begins with it
  std::vector<uint32_t> tables;       ///< graph tables by slot
  uint32_t zeroRow = kNone;           ///< local row of zeros, for rows whose terms all vanish
  bool busy = false;                  ///< computes anything at all
};

struct Placement {
  std::vector<RowPlace> rows; ///< by row
  std::vector<CoreMemory> cores;
  uint32_t inboxRows = 0;
};

struct PlacementOptions {
  /// A stage of at most this many block products stays on one core.
  uint32_t keepTogether = 4;
  /// Every input row goes to every core that reads any: one instruction of the
  /// host port for many rows.
  bool inputsEverywhere = false;
  /// How many stages behind its last reader's a row's address may be given to
  /// another row; 0: never. The proof says whether that is late enough.
  uint32_t reuse = 0;
  /// By row, kNone where free; null: all are free.
  const std::vector<uint32_t> *cores = nullptr;
  /// By node, the cores that may compute its rows; null: all may. No row may have none.
  const NodeCores *pins = nullptr;
  /// Cores that may each write a copy of the same dynamic blocks, at least 1.
  uint32_t copies = 1;
  /// Rows that read different dynamic blocks with the same operand stay together.
  bool byOperand = true;
  /// A row stays on the core that computes its operands, if there is only one;
  /// the rows that become weights are not asked if the others say it.
  bool follow = false;
  /// Rows of one cell stay together, wherever that is free.
  bool byCell = false;
  /// Late rows of cells (work.h) even out what the cores have; else they stay with theirs.
  bool lateApart = false;
  /// Rows of a stage go round the cores in the order in which their operands are
  /// expected, not in that of the graph.
  bool byArrival = false;
  /// Runs of neighbouring rows that a core has of a stage; 0: rows go round the cores one by one.
  /// Rows that windows look at are neighbours: most of them are then on the core that reads them,
  /// and do not cross the network.
  uint32_t runs = 0;
  /// Rows of the vector unit are placed with the operands that no other row of their stage reads,
  /// and go round the cores where these are inputs. An operand that several rows read, such as the
  /// mean of a line, then keeps none of them on its core.
  bool byOwn = false;
  /// No row stays on the core that computes its operands: memory counts, not the way.
  bool spread = false;
  /// Each function table is on as many cores only as leaves room for all, and rows go where theirs
  /// is.
  bool tablesApart = false;
};

/// Block products and vector beats of the rows of a stage.
uint64_t costOf(const rows::Graph &graph, const Work &work, const std::vector<rows::RowId> &stage);

Placement place(const rows::Graph &graph, const Work &work, const PlacementOptions &options);

/// The rows of a stage in the order in which the cores take turns to finish them.
std::vector<rows::RowId> inTurn(std::vector<rows::RowId> stage, const Placement &placement);

/// Whether the sum of a linear row begins with a preload row: of its bias, or what another row
/// has left there.
bool beginsWithPreload(const rows::Row &row);

/// Whether the sums of two such rows begin with the same preload row: with equal biases, which no
/// other row overwrites.
bool sharePreload(const rows::Row &left, const rows::Row &right);

/// Whether a linear row multiplies zeros too: it has no products, or its only one would have to
/// read a preload row and write another.
bool needsZeros(const rows::Graph &graph, const Work &work, rows::RowId row);

/// The block that it multiplies them by: one of its own, or else of the sum that it begins with.
uint32_t blockOfZeros(const rows::Graph &graph, rows::RowId row);

/// By core, how many weight blocks its rows take.
std::vector<uint64_t> weightBlocksUsed(const rows::Graph &graph, const Work &work,
                                       const Placement &placement);

/// Address at which `core` reads a row; a state is where its holder is.
uint32_t addressAt(const Placement &placement, uint32_t core, rows::RowId row);

} // namespace sluice::plan
