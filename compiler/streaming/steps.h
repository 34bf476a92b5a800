// The work of streaming one function, operation by operation.
#pragma once

#include <map>

#include "compiler/dialect/sluice/operations.h"
#include "compiler/streaming/history.h"
#include "compiler/streaming/refusals.h"

namespace sluice::streaming {

/// How a value depends on time.
struct Timing {
  enum Kind : uint8_t {
    Fixed,   ///< not: a constant, or an input that is given with every inference
    Stream,  ///< it has positions along time
    AsOfNow, ///< it depends on all steps up to the newest
    Refused, ///< what it is made of cannot be streamed
  } kind = Fixed;
  Sequence sequence = {}; ///< of a stream
  int64_t length = 0;     ///< of a stream: its positions in the model
  /// Of a stream with positions to come: what those are that lie before its first one.
  double past = 0;
  /// Of a stream that reads ahead of the input: the first operation that does.
  std::optional<mlir::Location> reader = std::nullopt;
};

/// What waits for a stream that is read ahead: an output, or
inline constexpr const char *kAsOfNow = "what depends on all steps";

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
