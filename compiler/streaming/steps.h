// Streaming of one function, operation by operation.
#pragma once

#include <map>

#include "compiler/dialect/sluice/folding.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/streaming/bands.h"
#include "compiler/streaming/history.h"
#include "compiler/streaming/refusals.h"

namespace sluice::streaming {

/// How a value changes from step to step.
struct Timing {
  enum Kind : uint8_t {
    Fixed,   ///< it does not change: a constant, or an input given with every inference
    Stream,  ///< it has positions along time
    Pairs,   ///< it has an element for each position of a sequence and each position of another
    AsOfNow, ///< it depends on all steps up to the newest
    Refused, ///< it depends on a value that cannot be streamed
  } kind = Fixed;
  Sequence sequence = {}; ///< Stream, Pairs: the time axis
  int64_t length = 0;     ///< Stream: its number of positions in the model
  /// Stream with positions that are yet to come: the value of positions before its first one.
  double past = 0;
  /// Stream that reads ahead of the input: the first operation that does.
  std::optional<mlir::Location> reader = std::nullopt;
  unsigned others = 0; ///< Pairs: the axis of the other sequence
  /// Pairs without a band so far: the lag of the other sequence.
  int64_t othersBehind = 0;
  /// Pairs: the band, once a mask has defined it.
  std::optional<Band> band = std::nullopt;
  /// Pairs with a band: the value outside of the band, as Band::outside and Band::nearest.
  double outside = 0, nearest = 0;
};

/// The subject of messages about values that depend on all steps of a stream.
inline constexpr const char *kAsOfNow = "the values that depend on all steps";

class Steps {
public:
  Steps(mlir::FunctionOpInterface function, const Options &options);

  Result run();

private:
  /// The positions of a stream that an operation reads.
  struct Read {
    unsigned operand = 0;
    unsigned loop = 0;  ///< the loop along time
    int64_t stride = 1; ///< positions per iteration of the loop
    int64_t first = 0;  ///< first position that iteration 0 reads
    int64_t last = 0;   ///< last position that iteration 0 reads
    std::optional<double> outside;
    Timing timing;
  };

  [[nodiscard]] Timing timing(mlir::Value value) const { return timings.lookup(value); }
  /// Returns the new value for a value of the model.
  [[nodiscard]] mlir::Value now(mlir::Value value) const;
  void set(mlir::Value value, mlir::Value replacement, Timing timing);
  void refuse(mlir::Location where, std::string message, std::vector<Fix> fixes = {});
  /// Marks the results of an operation that cannot be streamed.
  void giveUp(mlir::Operation &op);
  /// Does both for an operation.
  void reject(mlir::Operation *op, std::string message, std::vector<Fix> fixes = {});

  /// Returns the number of positions in one inference.
  [[nodiscard]] int64_t perInference(const Sequence &sequence) const {
    return steps / sequence.every;
  }
  /// Returns the number of positions that a stream of the model has after the newest step of the
  /// input; negative if its last position is older.
  [[nodiscard]] int64_t ahead(const Timing &timing) const;
  /// Checks the lag of the last position against the options; adds a problem and returns false if
  /// it is too large. `what` names the reader.
  bool mayBeLate(const Timing &timing, const std::string &what);

  /// Returns `count` positions of a stream of the model, beginning with `first`; see
  /// History::positions.
  mlir::Value positions(mlir::Value value, int64_t first, int64_t count);

  bool takeInputs();
  void operation(mlir::Operation &op);
  void streamed(ir::IndexSpaceInterface op);
  std::optional<Read> readOf(ir::IndexSpaceInterface op, const space::IndexSpace &space,
                             unsigned operand);
  /// Returns the positions that `read` reads in an inference that computes `count` of `length`
  /// positions, with a lag of `behind`.
  mlir::Value readNow(ir::IndexSpaceInterface op, const Read &read, int64_t behind, int64_t count,
                      int64_t length);
  /// Returns the stream for a value, with the value `outside` after its last position.
  mlir::Value ended(mlir::Value value, double outside);
  /// Returns the last position of a stream.
  mlir::Value newest(mlir::Value value);
  /// Returns a value that is equal at all positions along `axis`, with `count` positions.
  mlir::Value repeated(mlir::Value value, unsigned axis, int64_t count);
  /// Returns the result of `repeated`, or adds a problem for the operation at `where`.
  mlir::Value alongTime(mlir::Location where, mlir::Value value, std::optional<unsigned> axis,
                        int64_t count);

  /// Streams a product of each position of a sequence with each position of another.
  void pair(ir::IndexSpaceInterface op, const space::IndexSpace &space, llvm::ArrayRef<Read> reads);
  /// Streams an operation on pairs.
  void pairs(ir::IndexSpaceInterface op);
  /// The pairs of one inference.
  struct Pairing {
    unsigned along = 0;  ///< loop over the positions
    unsigned across = 0; ///< loop over the positions that these are paired with
    Band band = {};
    int64_t behind = 0; ///< lag in positions
    int64_t count = 1;  ///< number of positions
    /// Whether the operation also masks positions before the first one of the sequence.
    bool masks = false;

    /// Returns the number of positions that these are paired with, all together.
    [[nodiscard]] int64_t others() const { return count + band.older + band.newer; }
  };
  /// Adds a problem and returns false if a sequence has positions that are yet to come, because it
  /// is padded at its start. Such positions cannot be paired.
  bool mayBePaired(ir::IndexSpaceInterface op, const Timing &time);
  /// Adds a problem: the operands have different numbers of steps per position.
  void refuseRates(ir::IndexSpaceInterface op, int64_t one, int64_t other);
  /// Returns the two loops along the pairs of all operands; nothing if the operands differ in them.
  std::optional<Pairing> loopsOf(ir::IndexSpaceInterface op, const space::IndexSpace &space,
                                 const Timing &time);
  /// Returns the lag in positions after which all operands of an operation on pairs have arrived.
  int64_t behindOf(ir::IndexSpaceInterface op, const space::IndexSpace &space,
                   const Pairing &pairing);
  /// Returns the band that an operation leaves unmasked, if it masks pairs. Adds a problem if the
  /// unmasked pairs are no band.
  std::optional<Band> maskOf(ir::IndexSpaceInterface op, const space::IndexSpace &space,
                             const Pairing &loops);
  /// Sets the value that an operation computes for pairs outside of the band. Returns false if it
  /// depends on other values.
  bool outsideOf(ir::IndexSpaceInterface op, Timing &made);
  /// Builds the operation on the pairs of a band; returns null after adding a problem.
  mlir::Operation *inBand(ir::IndexSpaceInterface op, const Pairing &pairing);
  mlir::Value operandInBand(ir::IndexSpaceInterface op, unsigned operand,
                            const space::Projection &projection, const Pairing &pairing);
  /// Returns the elements of a value for the pairs of a band.
  mlir::Value pairsOf(mlir::Value value, const Pairing &pairing);
  /// Returns the elements of a constant for the pairs of a band.
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
  int64_t steps = 1;                                             ///< steps of one inference
  std::map<std::pair<void *, double>, mlir::Value> endedStreams; ///< by value and `outside`
  llvm::DenseMap<mlir::Value, Timing> timings;
  Result result;
};

} // namespace sluice::streaming
