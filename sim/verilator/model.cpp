// The model of one geometry and flavour. Compiled once for each, with
// SLUICE_CLASS (the Verilated class), SLUICE_HEADER (its header), SLUICE_FACTORY
// (the name of the function that makes it) and SLUICE_WAVES (0 or 1).
#include "sim/verilator/model.h"

#include <cstring>

#include SLUICE_HEADER
#include <verilated.h>
#if SLUICE_WAVES
#include <verilated_fst_c.h>
#endif

namespace sluice::verilator {
namespace {

class VerilatedMachine final : public Model {
public:
  explicit VerilatedMachine(uint32_t seed) {
    enter();
    context.randReset(SLUICE_WAVES ? 2 : 0);
    context.randSeed(static_cast<int>(seed));
    context.traceEverOn(SLUICE_WAVES != 0);
    top = std::make_unique<SLUICE_CLASS>(&context);
    top->clk_i = 0;
    top->rst_i = 0;
    top->start_i = 0;
    top->cfg_valid_i = 0;
    top->in_valid_i = 0;
    top->out_ready_i = 0;
    top->readback_clk_i = 0;
    top->readback_core_i = 0;
    top->readback_unit_i = 0;
    top->readback_state_i = 0;
    top->readback_addr_i = 0;
  }

  ~VerilatedMachine() override {
    enter();
    top->final();
    top.reset();
  }

  void reset() override {
    top->rst_i = 1;
    clock();
    top->rst_i = 0;
  }

  void configure(uint32_t mask, Memory memory, uint32_t address,
                 std::span<const uint16_t> data) override {
    top->cfg_valid_i = 1;
    top->cfg_mask_i = mask;
    top->cfg_memory_i = static_cast<uint8_t>(memory);
    top->cfg_addr_i = address;
    copyRow(&top->cfg_data_i, data.data());
    clock();
    top->cfg_valid_i = 0;
  }

  uint64_t clocks() const override { return clockCount; }

  void start() override {
    top->start_i = 1;
    clock();
    top->start_i = 0;
  }

  Cycle step(const uint16_t *inputRow, bool outputReady, std::span<uint16_t> outputRow) override {
    // ready and valid depend on registers alone, so they hold since the last edge.
    Cycle cycle;
    cycle.inputTaken = inputRow && top->in_ready_o;
    cycle.outputTaken = outputReady && top->out_valid_o;
    if (cycle.outputTaken) {
      cycle.outputAddress = top->out_addr_o;
      std::memcpy(outputRow.data(), &top->out_row_o, sizeof top->out_row_o);
    }
    top->in_valid_i = inputRow != nullptr;
    if (inputRow)
      copyRow(&top->in_row_i, inputRow);
    top->out_ready_i = outputReady;
    clock();
    cycle.progress = top->progress_o;
    return cycle;
  }

  bool fault() const override { return top->fault_o; }

  void readRow(uint32_t core, uint32_t address, std::span<uint16_t> row) override {
    top->readback_core_i = core;
    top->readback_addr_i = address;
    clockReadback();
    std::memcpy(row.data(), &top->readback_row_o, sizeof top->readback_row_o);
  }

  uint64_t readStatus(uint32_t core, bool vector) override {
    top->readback_core_i = core;
    top->readback_unit_i = vector;
    top->in_valid_i = 0; // the row of the cycle before is no offer for the next
    clockReadback();
    return top->readback_status_o;
  }

  uint64_t readCounter(uint32_t core, Watch unit, uint8_t state) override {
    top->readback_core_i = core;
    top->readback_unit_i = static_cast<uint8_t>(unit);
    top->readback_state_i = state;
    clockReadback();
    return top->readback_count_o;
  }

  bool startsRandom() const override { return SLUICE_WAVES != 0; }

  bool openWaves([[maybe_unused]] const std::string &path) override {
#if SLUICE_WAVES
    waves = std::make_unique<VerilatedFstC>();
    top->trace(waves.get(), 99);
    waves->open(path.c_str());
    return waves->isOpen();
#else
    return false;
#endif
  }

private:
  template <typename Port> static void copyRow(Port *port, const uint16_t *lanes) {
    static_assert(sizeof(Port) >= 8, "a row has at least four lanes");
    std::memcpy(port, lanes, sizeof(Port));
  }

  void clock() {
    enter();
    ++clockCount;
    for (const uint8_t level : {1, 0}) {
      top->clk_i = level;
      evaluate();
    }
  }

  void clockReadback() {
    enter();
    for (const uint8_t level : {1, 0}) {
      top->readback_clk_i = level;
      top->eval();
    }
  }

  /// The run-time library looks for the machine's scopes in the thread's context,
  /// which is the one used last: of another machine, maybe gone.
  void enter() { Verilated::threadContextp(&context); }

  void evaluate() {
    top->eval();
#if SLUICE_WAVES
    if (waves)
      waves->dump(time++);
#endif
  }

  VerilatedContext context;
  std::unique_ptr<SLUICE_CLASS> top;
  uint64_t clockCount = 0;
#if SLUICE_WAVES
  std::unique_ptr<VerilatedFstC> waves;
  uint64_t time = 0;
#endif
};

} // namespace

std::unique_ptr<Model> SLUICE_FACTORY(uint32_t seed);

std::unique_ptr<Model> SLUICE_FACTORY(uint32_t seed) {
  return std::make_unique<VerilatedMachine>(seed);
}

} // namespace sluice::verilator
