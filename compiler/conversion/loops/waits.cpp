#include "compiler/conversion/loops/waits.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/conversion/loops/streams.h"
#include "compiler/conversion/plan/order/placement.h"

namespace sluice::loops {
namespace {

using plan::BeatOrigin;
using rows::kNoRow;
using rows::RowId;

class Waiter {
public:
  Waiter(const rows::Program &program, const Map &map, uint32_t index, Statements &result)
      : program(program), map(map), body(program.bodies[index]), index(index), result(result),
        ports(portRows(body.trip)) {
    result.inputUnits.assign(program.inputs.size(), 0);
    result.wholeUnits.assign(program.inputs.size(), 0);
  }

  void run() {
    connect(result.before, false);
    connect(result.end, false);
    findInputs();
    connect(result.loop, true);
    gate();
  }

private:
  const rows::Program &program;
  const Map &map;
  const rows::Body &body;
  const uint32_t index;
  Statements &result;
  const std::vector<PortRow> ports;
  std::set<uint32_t> there, first; ///< inputs: when a group begins; not read by a body before

  /// What a unit knows of a position: the last statement whose rows have arrived, and the
  /// inputs that have.
  struct Known {
    int statement = -1;
    std::set<uint32_t> inputs;
    void merge(const Known &other) {
      statement = std::max(statement, other.statement);
      inputs.insert(other.inputs.begin(), other.inputs.end());
    }
  };

  /// Waits that make the operands of a unit's pieces known; units learn from each other
  /// by results and tokens. `made`: by row, the statement that makes it.
  void need(std::vector<Statement> &all, const std::vector<int> &made,
            const std::vector<BeatOrigin> &origins, unsigned unitBit, Known &known, Waits &waits) {
    int latest = -1;
    for (const BeatOrigin &origin : origins)
      for (RowId row : origin.read) {
        if (row == kNoRow)
          continue;
        if (made[row] >= 0) {
          latest = std::max(latest, made[row]);
        } else if (const PortRow &port = ports[row]; port.port != kNone && !port.output) {
          const rows::Read &read = body.reads[port.port];
          const auto &input = program.families[read.family].input;
          if (read.all && input)
            result.wholeUnits[*input] |= unitBit;
          if (!read.all && input && !map.families[read.family].everywhere &&
              known.inputs.insert(*input).second) {
            waits.inputs.push_back(*input);
            result.inputUnits[*input] |= unitBit;
          }
        }
      }
    if (latest > known.statement) {
      waits.local = true;
      all[latest].localUnits |= unitBit;
      known.statement = latest;
    }
  }

  /// Inputs that are there when a group begins: earlier bodies have waited for them, or
  /// both units do now, for the bodies to come.
  void findInputs() {
    std::map<uint32_t, uint32_t> readers; // bodies, by input
    for (uint32_t b = 0; b < program.bodies.size(); ++b) {
      std::set<uint32_t> inputs;
      for (const rows::Read &read : program.bodies[b].reads)
        if (const auto &input = program.families[read.family].input;
            input && !read.all && !map.families[read.family].everywhere)
          inputs.insert(*input);
      for (const uint32_t input : inputs) {
        ++readers[input];
        if (b < index)
          there.insert(input);
        if (b == index && readers[input] == 1)
          first.insert(input);
      }
    }
    const auto takeByBoth = [&](uint32_t input) {
      there.insert(input);
      result.takenByBoth.push_back(input);
      result.inputUnits[input] = plan::kMatrixBit | plan::kVectorBit;
    };
    for (const uint32_t input : first)
      if (readers[input] > 1)
        takeByBoth(input);
    if (!startsUnread())
      return;
    // Rows that depend on no input still come once per inference, not before it.
    if (!first.empty() && !there.contains(*first.begin()))
      takeByBoth(*first.begin());
    for (const rows::Read &read : body.reads)
      if (const auto &input = program.families[read.family].input; input && read.all)
        result.wholeUnits[*input] = plan::kMatrixBit | plan::kVectorBit;
  }

  /// Whether the first rows that the vector unit makes of a group are made of constants alone.
  [[nodiscard]] bool startsUnread() const {
    const auto makes = std::ranges::find_if(
        result.loop, [](const Statement &statement) { return statement.vector.has_value(); });
    return makes != result.loop.end() && !readsInput(*makes);
  }

  /// A body that uses nothing of the inputs it is given still happens once per inference.
  void gate() {
    if (!first.empty() &&
        std::ranges::all_of(first, [&](uint32_t input) { return result.inputUnits[input] == 0; })) {
      result.takenByBoth.push_back(*first.begin());
      result.inputUnits[*first.begin()] = plan::kMatrixBit | plan::kVectorBit;
    }
  }

  void connect(std::vector<Statement> &all, bool loop) {
    std::vector<int> made(body.trip.rows.size(), -1);
    Known matrix, vector;
    matrix.inputs = vector.inputs = there;
    Statement *blocks = nullptr; // the last that writes some
    Statement *sum = nullptr;    // the last that only adds up
    for (size_t i = 0; i < all.size(); ++i) {
      Statement &statement = all[i];
      std::vector<BeatOrigin> products;
      for (const Piece &piece : statement.matrix)
        products.insert(products.end(), piece.origins.begin(), piece.origins.end());
      need(all, made, products, plan::kMatrixBit, matrix, statement.matrixWaits);
      if (!products.empty() && blocks)
        statement.matrixWaits.blocks = std::exchange(blocks, nullptr)->announcesBlocks = true;
      if (loop && readsInput(statement))
        result.lastInput =
            std::max(result.lastInput.value_or(0), statement.vector ? i : all.size());
      if (!statement.vector) {
        sum = &statement;
        continue;
      }
      if (!products.empty())
        vector.merge(matrix);
      need(all, made, statement.vector->origins, plan::kVectorBit, vector, statement.vectorWaits);
      if (statement.writesBlock)
        blocks = &statement;
      if (!statement.writesBlock)
        for (const BeatOrigin &origin : statement.vector->origins)
          made[origin.row] = static_cast<int>(i);
    }
    if (sum)
      sum->announcesReads = result.sums = true;
  }

  [[nodiscard]] bool readsInput(const Statement &statement) const {
    const auto reads = [&](const Piece &piece) {
      return std::ranges::any_of(piece.origins, [&](const BeatOrigin &origin) {
        return std::ranges::any_of(origin.read, [&](RowId row) {
          return row != kNoRow && ports[row].port != kNone && !ports[row].output;
        });
      });
    };
    return std::ranges::any_of(statement.matrix, reads) ||
           (statement.vector && reads(*statement.vector));
  }
};

} // namespace

void setWaits(const rows::Program &program, const Map &map, uint32_t body, Statements &statements) {
  Waiter(program, map, body, statements).run();
}

} // namespace sluice::loops
