// A Verilated module under one clock, for the unit tests of small modules.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <memory>
#include <random>

#include <verilated.h>

namespace sluice::rtltest {

/// For death tests: the simulator reports a broken assertion on the standard output.
inline void reportToError() { dup2(STDERR_FILENO, STDOUT_FILENO); }

/// Owns the module; `seed` chooses the random initial contents and the stimuli.
template <typename Module> class Testbench {
public:
  explicit Testbench(uint32_t seed) : random(seed) {
    context.randReset(2);
    context.randSeed(static_cast<int>(seed + 1));
    top = std::make_unique<Module>(&context);
    top->clk_i = 0;
    top->eval(); // the first evaluation sees no edge
  }
  ~Testbench() { top->final(); }

  /// Call with all other inputs idle.
  void reset() {
    top->rst_i = 1;
    clock();
    top->rst_i = 0;
    top->eval();
  }

  /// Settles the outputs for the inputs just set.
  void settle() { top->eval(); }

  void clock() {
    top->clk_i = 1;
    top->eval();
    top->clk_i = 0;
    top->eval(); // the first evaluation sees no edge
    top->eval();
  }

  /// Uniform in [0, bound).
  uint32_t pick(uint32_t bound) { return static_cast<uint32_t>(random() % bound); }

  Module *operator->() { return top.get(); }

private:
  VerilatedContext context;
  std::unique_ptr<Module> top;
  std::mt19937 random;
};

} // namespace sluice::rtltest
