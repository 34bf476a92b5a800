// The statements of a body on one core: instructions that make some rows of one
// position, and repeat for all positions of a group.
#pragma once

#include <optional>
#include <vector>

#include "compiler/conversion/loops/map.h"
#include "compiler/conversion/plan/beats/beats.h"
#include "hw/isa/isa.h"

namespace sluice::loops {

/// Registers by what they advance with every group, from register 1 on.
using Registers = std::vector<int32_t>;

/// One instruction for one position; loop 0 is left to the positions, with the
/// strides it has there. What its beats are for is by beat of one position.
struct Piece {
  isa::Instruction instruction;
  std::vector<plan::BeatOrigin> origins; ///< rows and blocks are those of the trip
  std::vector<uint32_t> nodes;           ///< indices into Program::nodes, ascending
};

/// Tokens of a unit's bank.
enum Token : uint32_t {
  kLocalToken = 0,                             ///< rows of the core's own vector unit
  kBlockToken = 1,                             ///< weight blocks that are written
  kReadToken = 1,                              ///< at the vector unit: the matrix unit has read
  kFoldToken = 2,                              ///< what a group has left of a fold
  kCoreTokens = 3,                             ///< families from core i
  kInputTokens = kCoreTokens + isa::kMaxCores, ///< rows of input i, a token a position
};
/// Tokens of the host port's bank: core i lets one more group, or inference, in.
enum HostToken : uint32_t { kCreditTokens = 0, kDoneTokens = isa::kMaxCores };

/// What a unit takes before a piece, each position on its own.
struct Waits {
  bool local = false;
  bool blocks = false; ///< once, not by position
  bool fold = false;   ///< once, not by position
  std::vector<uint32_t> inputs;
};

struct Statement {
  std::vector<Piece> matrix;   ///< accumulators are by position where there is more than one
  std::optional<Piece> vector; ///< nothing: products stay in accumulators of their own
  Waits matrixWaits, vectorWaits;
  uint32_t localUnits = 0; ///< whom its rows are announced to at every position
  bool writesBlock = false;
  bool announcesBlocks = false; ///< the matrix unit is told that blocks are written
  bool announcesFold = false;   ///< the vector unit is told that a group has left its rows
  bool announcesReads = false;  ///< the vector unit is told that products are read
  bool toHost = false;
};

/// Statements of one body on one core. Those that do not depend on the position come
/// before the loop. What is folded begins before it too, for each position of the first group
/// (`begin`), and a sum ends behind it (`end`).
struct Statements {
  std::vector<Statement> before, begin, loop, end;
  Registers registers;
  /// Index into `loop` of the last statement that reads an input, its size if only the end of
  /// a group tells; nothing: none does.
  std::optional<size_t> lastInput;
  /// At the end of every group the vector unit waits until the matrix unit has read all it adds
  /// up: no result says so.
  bool sums = false;
  uint32_t carried = 0; ///< statements of `loop` that announce what they leave
  /// Inputs whose tokens both units take as a group begins: later bodies read them too.
  std::vector<uint32_t> takenByBoth;
  std::vector<uint32_t> inputUnits; ///< by input of the program: who takes its tokens
  std::vector<uint32_t> wholeUnits; ///< by input: who reads rows of it that are everywhere
};

/// Nothing if a reduction is not one stream, or registers do not suffice.
std::optional<Statements> makeStatements(const rows::Program &program, const Map &map,
                                         const Choice &choice, uint32_t body, uint32_t core);

} // namespace sluice::loops
