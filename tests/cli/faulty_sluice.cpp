// The driver with a fault in the compiler, for tests of what reports faults.
//
// The linker sends calls of five functions here (-Wl,--wrap). SLUICE_FAULT is "KIND OP[+OP...]":
// the fault happens where the imported model has a node of each operator.
//
//   crash, hang, throw, proof   in the importer: SIGSEGV, no end, an exception, E0499
//   vm                          the weights of a node of the first operator, on the engine `vm`
//   slow, stall                 the engine `vm` keeps output rows for a cycle, or for ever
//   search                      the search for a plan begins anew until Ctrl-C ends it
//   check, wait                 in the check of a program: an exception, no end
//   endless                     search and wait
//   weight, table, row          in the program of a node of the first operator (planted_fault.h)
//
// With SLUICE_FAULT_ABOVE=N, programs are wrong only for inputs of the user, none of random ones,
// that have an element larger than N.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>

#include <unistd.h>

#include "compiler/check/check_program.h"
#include "compiler/conversion/model/fastest_plan.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/frontend/onnx/import_proto.h"
#include "runtime/device/device.h"
#include "tests/cli/planted_fault.h"
#include "tools/cli/driver.h"

using namespace sluice;

namespace {

struct Fault {
  std::string kind, op;
  std::set<std::string> operators;
};

Fault faultOfEnvironment() {
  Fault fault;
  const char *text = std::getenv("SLUICE_FAULT");
  std::istringstream words(text != nullptr ? text : "");
  words >> fault.kind;
  for (std::string op; std::getline(words >> std::ws, op, '+');) {
    if (fault.op.empty())
      fault.op = op;
    fault.operators.insert(op);
  }
  return fault;
}

/// The number of operators of the fault that a module has not.
size_t missing(mlir::ModuleOp module, const Fault &fault) {
  std::set<std::string> left = fault.operators;
  module.walk([&](mlir::Operation *op) { left.erase(ir::nodeOf(op->getLoc()).op); });
  return left.size();
}

NodeRef firstNode(mlir::ModuleOp module, const Fault &fault) {
  NodeRef node;
  module.walk([&](mlir::Operation *op) {
    if (const NodeRef one = ir::nodeOf(op->getLoc()); one.op == fault.op && node.index < 0)
      node = one;
  });
  return node;
}

frontend::Import spoil(frontend::Import import) {
  const Fault fault = faultOfEnvironment();
  if (!import.module || fault.operators.empty() || missing(*import.module, fault) > 0)
    return import;
  if (fault.kind == "crash")
    std::raise(SIGSEGV);
  if (fault.kind == "hang")
    for (;;)
      pause();
  if (fault.kind == "throw")
    throw std::logic_error("a planted fault");
  if (fault.kind != "proof")
    return import;
  Problem problem;
  problem.code = "E0499";
  problem.reason = InternalError();
  problem.message = "internal error: the plan failed its proof";
  problem.node = firstNode(*import.module, fault);
  import.problems.push_back(std::move(problem));
  import.module = nullptr;
  return import;
}

/// The engine `vm` with a wrong program.
class WrongVm : public device::Device {
public:
  explicit WrongVm(std::unique_ptr<Device> vm) : vm(std::move(vm)) {}

  std::string name() const override { return vm->name(); }
  void load(const format::Program &program) override {
    const Fault fault = faultOfEnvironment();
    wrong = program;
    kind = fault.kind;
    if (kind == "vm")
      cli_test::plant(wrong, "weight", [&](const auto &node) { return node.op == fault.op; });
    vm->load(wrong);
  }
  uint64_t restart(const format::EntryPoint &entry, std::span<const uint16_t> state) override {
    return vm->restart(entry, state);
  }
  Cycle step(const uint16_t *row, bool ready) override {
    return vm->step(row, ready && kind != "stall" && (kind != "slow" || vm->cycle() % 2 == 0));
  }
  uint64_t cycle() const override { return vm->cycle(); }
  std::vector<device::UnitStatus> status() const override { return vm->status(); }
  std::vector<device::UnitCounters> counters() const override { return vm->counters(); }
  bool tokenFault() const override { return vm->tokenFault(); }
  std::vector<uint16_t> readRow(uint32_t core, uint32_t address) const override {
    return vm->readRow(core, address);
  }
  bool watchRows(RowWatch watch) override { return vm->watchRows(std::move(watch)); }
  bool setWaves(const std::string &path) override { return vm->setWaves(path); }

private:
  std::unique_ptr<Device> vm;
  format::Program wrong;
  std::string kind;
};

/// Whether the inputs of the user have an element that is large enough for a wrong program.
bool isLarge(const std::vector<reference::Tensors> &given) {
  const char *least = std::getenv("SLUICE_FAULT_ABOVE");
  return least == nullptr || std::ranges::any_of(given, [&](const reference::Tensors &sample) {
           return std::ranges::any_of(sample, [&](const reference::Tensor &tensor) {
             return std::ranges::any_of(tensor.values,
                                        [&](double one) { return one > std::atof(least); });
           });
         });
}

} // namespace

namespace sluice {

frontend::Import
realImport(mlir::MLIRContext &context, const frontend::ImportOptions &options) __asm__(
    "__real__ZN6sluice8frontend11importModelERN4mlir11MLIRContextERKNS0_13ImportOptionsE");
frontend::Import
wrappedImport(mlir::MLIRContext &context, const frontend::ImportOptions &options) __asm__(
    "__wrap__ZN6sluice8frontend11importModelERN4mlir11MLIRContextERKNS0_13ImportOptionsE");
frontend::Import wrappedImport(mlir::MLIRContext &context, const frontend::ImportOptions &options) {
  return spoil(realImport(context, options));
}

frontend::Import realProto(mlir::MLIRContext &context, const onnx::ModelProto &model,
                           const frontend::ImportOptions
                               &options) __asm__("__real__ZN6sluice8frontend11importProtoERN4mlir11"
                                                 "MLIRContextERKN4onnx10ModelProtoERKNS0_"
                                                 "13ImportOptionsE");
frontend::Import wrappedProto(
    mlir::MLIRContext &context, const onnx::ModelProto &model,
    const frontend::ImportOptions &options) __asm__("__wrap__ZN6sluice8frontend11importProtoERN4"
                                                    "mlir11MLIRContextERKN4onnx10ModelProtoERKNS0_"
                                                    "13ImportOptionsE");
frontend::Import wrappedProto(mlir::MLIRContext &context, const onnx::ModelProto &model,
                              const frontend::ImportOptions &options) {
  return spoil(realProto(context, model, options));
}

check::Outcome realCheck(const check::Oracle &oracle, const format::Program &program,
                         const check::Streamed *streamed, const check::Options &options,
                         Progress *progress) __asm__("__real__ZN6sluice5check12checkProgramERKNS0_"
                                                     "6OracleERKNS_6format7ProgramEPKNS0_"
                                                     "8StreamedERKNS0_7OptionsEPNS_8ProgressE");
check::Outcome
wrappedCheck(const check::Oracle &oracle, const format::Program &program,
             const check::Streamed *streamed, const check::Options &options,
             Progress *progress) __asm__("__wrap__ZN6sluice5check12checkProgramERKNS0_6OracleERKNS_"
                                         "6format7ProgramEPKNS0_"
                                         "8StreamedERKNS0_7OptionsEPNS_8ProgressE");
check::Outcome wrappedCheck(const check::Oracle &oracle, const format::Program &program,
                            const check::Streamed *streamed, const check::Options &options,
                            Progress *progress) {
  const Fault fault = faultOfEnvironment();
  const bool hasNode =
      std::ranges::any_of(program.nodes, [&](const auto &node) { return node.op == fault.op; });
  if (fault.kind == "check" && hasNode)
    throw std::logic_error("a planted fault");
  if ((fault.kind == "wait" || fault.kind == "endless") && hasNode) {
    if (progress)
      progress->stage("waiting");
    for (;;)
      pause();
  }
  format::Program spoilt = program;
  if (isLarge(options.given))
    cli_test::plant(spoilt, fault.kind, [&](const auto &node) { return node.op == fault.op; });
  return realCheck(oracle, spoilt, streamed, options, progress);
}

Problems
realPlan(std::vector<conversion::Form> &forms, const plan::PlanOptions &options,
         plan::Plan &plan) __asm__("__real__ZN6sluice10conversion11planFastestERSt6vectorINS0_"
                                   "4FormESaIS2_EERKNS_4plan11PlanOptionsERNS6_4PlanE");
Problems
wrappedPlan(std::vector<conversion::Form> &forms, const plan::PlanOptions &options,
            plan::Plan &plan) __asm__("__wrap__ZN6sluice10conversion11planFastestERSt6vectorINS0_"
                                      "4FormESaIS2_EERKNS_4plan11PlanOptionsERNS6_4PlanE");
Problems wrappedPlan(std::vector<conversion::Form> &forms, const plan::PlanOptions &options,
                     plan::Plan &plan) {
  const std::string kind = faultOfEnvironment().kind;
  const bool isEndless = (kind == "search" || kind == "endless") && options.interruption;
  Problems problems = realPlan(forms, options, plan);
  while (isEndless && problems.empty() && !plan.interrupted) {
    plan = {};
    problems = realPlan(forms, options, plan);
  }
  return problems;
}

std::unique_ptr<device::Device> realVm() __asm__("__real__ZN6sluice6device6makeVmEv");
std::unique_ptr<device::Device> wrappedVm() __asm__("__wrap__ZN6sluice6device6makeVmEv");
std::unique_ptr<device::Device> wrappedVm() {
  const std::string kind = faultOfEnvironment().kind;
  if (kind != "vm" && kind != "slow" && kind != "stall")
    return realVm();
  return std::make_unique<WrongVm>(realVm());
}

} // namespace sluice

int main(int argc, char **argv) { return cli::runDriver(argc, argv); }
