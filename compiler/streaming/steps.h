// The work of streaming one function, operation by operation.
#pragma once

#include <map>

#include "compiler/dialect/sluice/operations.h"
#include "compiler/streaming/bands.h"
#include "compiler/streaming/history.h"
#include "compiler/streaming/refusals.h"

namespace sluice::streaming {

/// How a value depends on time.
struct Timing {
  enum Kind : uint8_t {
    Fixed,   ///< not: a constant, or an input that is given with every inference
    Stream,  ///< it has positions along time
    Pairs,   ///< it has an element for each position of a sequence and each one of another
    AsOfNow, ///< it depends on all steps up to the newest
    Refused, ///< what it is made of cannot be streamed
  } kind = Fixed;
  Sequence sequence = {}; ///< of a stream
  int64_t length = 0;     ///< of a stream: its positions in the model
  /// Of a stream with positions to come: what those are that lie before its first one.
  double past = 0;
  /// Of a stream that reads ahead of the input: the first operation that does.
  std::optional<mlir::Location> reader = std::nullopt;
  unsigned others = 0; ///< of pairs: the axis of the other sequence
  /// Of pairs that no mask has made a band yet: how far that one is behind.
  int64_t othersBehind = 0;
  /// Of pairs, once a mask has said so: those that count.
  std::optional<Band> band = std::nullopt;
  /// Of pairs in a band: what the others are, and the number next to the others that are; another
  /// one where minus infinity stands for what is masked.
  double outside = 0, nearest = 0;
};

/// The axis that a loop runs along, alone and element by element.
std::optional<unsigned> axisAlong(const space::Projection &projection, unsigned loop);

/// What waits for a stream that is read ahead: an output, or
inline constexpr const char *kAsOfNow = "the values that depend on all steps";

class Steps {
public:
  Steps(mlir::FunctionOpInterface function, const Options &options);

  Result run();

private:
  /// What an operation reads of a stream.
  struct Read {
    unsigned operand = 0;
    unsigned loop = 0;  ///< along time
    int64_t stride = 1; ///< positions per step of the loop
    int64_t first = 0;  ///< position that its first step reads from
    int64_t last = 0;   ///< the last one that its first step reads
    std::optional<double> outside;
    Timing timing;
  };

  [[nodiscard]] Timing timing(mlir::Value value) const { return timings.lookup(value); }
  /// What stands for a value of the model.
  [[nodiscard]] mlir::Value now(mlir::Value value) const;
  void set(mlir::Value value, mlir::Value replacement, Timing timing);
  void refuse(mlir::Location where, std::string message, std::vector<Fix> fixes = {});
  /// Marks what a refused operation would have given.
  void giveUp(mlir::Operation &op);

  /// Positions of one inference.
  [[nodiscard]] int64_t perInference(const Sequence &sequence) const {
    return steps / sequence.every;
  }
  /// Positions that a stream of the model has beyond the newest step that is offered; negative,
  /// where its last position is older.
  [[nodiscard]] int64_t ahead(const Timing &timing) const;
  /// Whether the last position may be that late; else that is refused. `what` reads it.
  bool mayBeLate(const Timing &timing, const std::string &what);

  /// `count` positions of a stream of the model from `first` on, as History::positions has them.
  mlir::Value positions(mlir::Value value, int64_t first, int64_t count);

  bool takeInputs();
  void operation(mlir::Operation &op);
  void streamed(ir::IndexSpaceInterface op);
  std::optional<Read> readOf(ir::IndexSpaceInterface op, const space::IndexSpace &space,
                             unsigned operand);
  /// What `read` reads in an inference that gives `count` positions, `behind` the newest, of
  /// `length` in all.
  mlir::Value readNow(ir::IndexSpaceInterface op, const Read &read, int64_t behind, int64_t count,
                      int64_t length);
  /// The stream that stands for a value, with `outside` in place of what lies behind its end.
  mlir::Value ended(mlir::Value value, double outside);
  /// The last position of a stream alone, which is as of now.
  mlir::Value newest(mlir::Value value);
  /// A value that is the same at all positions, with another number of them.
  mlir::Value repeated(mlir::Value value, unsigned axis, int64_t count);
  /// `repeated`, or a refusal of the operation at `where`.
  mlir::Value alongTime(mlir::Location where, mlir::Value value, std::optional<unsigned> axis,
                        int64_t count);

  /// A product of each position of a sequence with each of another.
  void pair(ir::IndexSpaceInterface op, const space::IndexSpace &space, llvm::ArrayRef<Read> reads);
  /// An operation on pairs.
  void pairs(ir::IndexSpaceInterface op);
  /// How pairs are made for an inference.
  struct Pairing {
    unsigned along = 0;  ///< loop over the positions
    unsigned across = 0; ///< loop over those that they are paired with
    Band band = {};
    int64_t behind = 0; ///< of the first position
    int64_t count = 1;  ///< positions
    /// The operation masks what lies before the first position of the sequence too.
    bool masks = false;

    /// Positions that those are paired with, all together.
    [[nodiscard]] int64_t others() const { return count + band.older + band.newer; }
  };
  /// Whether a sequence has the positions that are paired as they come; else that is refused.
  bool mayBePaired(ir::IndexSpaceInterface op, const Timing &time);
  /// Refuses operands with positions for different numbers of steps.
  void refuseRates(ir::IndexSpaceInterface op, int64_t one, int64_t other);
  /// The loops that run along all pairs of an operation; nothing if they are not alike.
  std::optional<Pairing> loopsOf(ir::IndexSpaceInterface op, const space::IndexSpace &space,
                                 const Timing &time);
  /// How far an operation on pairs is behind, so that all it reads has come.
  int64_t behindOf(ir::IndexSpaceInterface op, const space::IndexSpace &space,
                   const Pairing &pairing);
  /// The band that an operation leaves of its pairs, if it masks any; a refusal, if that is none.
  std::optional<Band> maskOf(ir::IndexSpaceInterface op, const space::IndexSpace &space,
                             const Pairing &loops);
  /// Says what an operation makes of pairs outside of their band; false, if that depends on values.
  bool outsideOf(ir::IndexSpaceInterface op, Timing &made);
  /// The operation on the pairs of a band; null if that is refused.
  mlir::Operation *inBand(ir::IndexSpaceInterface op, const Pairing &pairing);
  mlir::Value operandInBand(ir::IndexSpaceInterface op, unsigned operand,
                            const space::Projection &projection, const Pairing &pairing);
  /// The pairs of a band that a value has.
  mlir::Value pairsOf(mlir::Value value, const Pairing &pairing);
  /// What of a constant belongs to the pairs of a band.
  mlir::Value constantInBand(mlir::Location where, mlir::Value value, unsigned own, unsigned others,
                             const Pairing &pairing);

  void loop(ir::LoopOp op);
  bool loopReads(ir::LoopOp op, std::vector<Read> &reads);
  mlir::Value initial(ir::LoopOp op, unsigned index);

  void outputs();

  mlir::FunctionOpInterface function;
  const Options &options;
  mlir::OpBuilder builder;
  History history;
  int64_t total = 0;                                             ///< steps of the model
  int64_t steps = 1;                                             ///< of one inference
  std::map<std::pair<void *, double>, mlir::Value> endedStreams; ///< by value and what is outside
  llvm::DenseMap<mlir::Value, Timing> timings;
  Result result;
};

} // namespace sluice::streaming
