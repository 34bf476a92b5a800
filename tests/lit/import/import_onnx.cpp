// Test tool: imports a model and prints the module, or the problems one per
// line. Usage: import-onnx MODEL [--loc] [--external-data DIR] [NAME=1,16 ...]
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>

#include "compiler/frontend/onnx/import.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

namespace {

void print(const sluice::Problem &problem) {
  llvm::outs() << problem.code << ": ";
  if (problem.node)
    llvm::outs() << "node " << problem.node->index << " \"" << problem.node->name << "\" ("
                 << problem.node->op << "): ";
  llvm::outs() << problem.message << "\n";
  for (const std::string &note : problem.notes)
    llvm::outs() << "  note: " << note << "\n";
  for (const sluice::Fix &fix : problem.fixes)
    llvm::outs() << "  fix: " << fix.text << (fix.flag ? ": " + *fix.flag : "") << "\n";
}

std::vector<int64_t> extents(std::string_view text) {
  std::vector<int64_t> out;
  for (const char *at = text.data(), *end = at + text.size(); at < end; ++at)
    at = std::from_chars(at, end, out.emplace_back()).ptr;
  return out;
}

} // namespace

int main(int argc, char **argv) {
  sluice::frontend::ImportOptions options;
  mlir::OpPrintingFlags flags;
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    size_t equals = word.rfind('=');
    if (word == "--loc")
      flags.enableDebugInfo(true, false);
    else if (word == "--external-data" && i + 1 < argc)
      options.externalData = argv[++i];
    else if (equals != std::string_view::npos)
      options.inputShapes[std::string(word.substr(0, equals))] = extents(word.substr(equals + 1));
    else
      options.path = word;
  }
  mlir::MLIRContext context;
  auto [module, info, problems] = sluice::frontend::importModel(context, options);
  for (const sluice::Problem &problem : problems)
    print(problem);
  if (!module)
    return 3;
  llvm::outs() << "// parameters " << info.parameters << "\n";
  module->print(llvm::outs(), flags);
  return 0;
}
