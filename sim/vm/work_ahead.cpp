#include "sim/vm/work_ahead.h"

#include <algorithm>
#include <map>

#include "runtime/format/program.h"
#include "sim/vm/decode.h"

namespace sluice::vm {
namespace {

uint64_t cyclesAhead(const Code &code) {
  uint64_t ahead = 0;
  std::map<uint32_t, uint64_t> products; // of the sum in an accumulator
  for (const Step &step : code.steps) {
    if (step.op == isa::Opcode::Restart)
      break; // what is behind it saves the state
    if (step.op != isa::Opcode::Mm)
      continue;
    const MatrixInstruction &mm = code.matrix[step.unit];
    if (mm.skip)
      continue;
    LoopNest beat;
    beat.start(mm.nest, mm.base);
    for (;; beat.advance()) {
      uint64_t &sum = products[beat.address(StreamAcc)];
      if (mm.init != isa::Init::Keep && beat.firstAt(mm.initLevel))
        sum = 0;
      ++sum;
      if (mm.emit == isa::Emit::Raw && beat.lastAt(mm.emitLevel))
        ahead += sum;
      if (beat.lastBeat())
        break;
    }
  }
  return ahead;
}

} // namespace

uint64_t cyclesAhead(const format::Program &program) {
  uint64_t most = 0;
  for (const format::CoreImage &core : program.cores)
    most = std::max(most, cyclesAhead(decodeCode(core.instructions, program.geometry.latencies())));
  return most;
}

} // namespace sluice::vm
