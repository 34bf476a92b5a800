#include "compiler/pipeline/textual_model.h"

#include <fmt/format.h>

#include "compiler/dialect/sluice/dialect.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/tensors.h"
#include "compiler/layout/data_dimension.h"
#include "compiler/pipeline/host_attributes.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace sluice::pipeline {
namespace {

/// A bound for hostile files: the program keeps a list of nodes by index.
constexpr int64_t kMaxNode = 100'000;

class Reader {
public:
  Reader(MLIRContext &context, frontend::ImportedModel &info, Problems &problems)
      : context(context), info(info), problems(problems) {}

  OwningOpRef<ModuleOp> read(const std::string &path) {
    llvm::sys::fs::file_status status;
    if (!llvm::sys::fs::status(path, status) &&
        (status.type() == llvm::sys::fs::file_type::character_file ||
         status.type() == llvm::sys::fs::file_type::block_file)) // it may have no end
      return refuse(fmt::format("'{}' is a device, a file is needed", path));
    std::string why;
    auto buffer = openInputFile(path, &why);
    if (!buffer)
      return refuse(why);
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(std::move(buffer), SMLoc());
    OwningOpRef<ModuleOp> module =
        ModuleOp::create(FileLineColLoc::get(&context, path, /*line=*/0, /*column=*/0));
    const ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        refuse(diagnostic.str(), ir::nodeOf(diagnostic.getLocation()).source);
    });
    // Verified below, once.
    const ParserConfig config(&context, /*verifyAfterParse=*/false);
    if (failed(parseAsmSourceFile(sources, module->getBody(), config, &text)) ||
        failed(verify(*module)))
      return nullptr;
    return check(*module) ? std::move(module) : nullptr;
  }

private:
  std::nullptr_t refuse(std::string message, std::string source = {}) {
    Problem problem;
    problem.code = "E0116";
    problem.message = std::move(message);
    if (!source.empty())
      problem.node = NodeRef{-1, "", "", std::move(source)};
    problems.push_back(std::move(problem));
    return nullptr;
  }

  /// One function of one block on tensors of the dialect, in a module or not.
  bool check(ModuleOp module) {
    for (auto inner : llvm::to_vector(module.getOps<ModuleOp>())) {
      module.getBody()->getOperations().splice(inner->getIterator(),
                                               inner.getBody()->getOperations());
      inner.erase();
    }
    auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
    if (functions.size() != 1 || functions.front().isExternal()) {
      refuse(fmt::format("the file has {} functions; it must have exactly one, with a body",
                         functions.size()));
      return false;
    }
    func::FuncOp function = functions.front();
    const auto tensors = [](TypeRange types) { return llvm::all_of(types, ir::isSluiceTensor); };
    if (!function.getBody().hasOneBlock() || !tensors(function.getArgumentTypes()) ||
        !tensors(function.getResultTypes()) || function.getNumResults() == 0) {
      refuse("the function must have one block, and tensors of f32 as arguments and results",
             ir::nodeOf(function.getLoc()).source);
      return false;
    }
    function.setName("main");
    nameNodes(function);
    return describe(function);
  }

  /// "%h" of the text without its mark.
  static std::string nameIn(SMRange range) {
    const std::string_view written(range.Start.getPointer(),
                                   range.End.getPointer() - range.Start.getPointer());
    return written.starts_with('%') ? std::string(written.substr(1)) : "";
  }

  std::string nameOf(Value value) {
    if (std::string name = layout::tensorName(value); !name.empty())
      return name;
    if (auto argument = llvm::dyn_cast<BlockArgument>(value)) {
      const auto *block = text.getBlockDef(argument.getOwner());
      return block && argument.getArgNumber() < block->arguments.size()
                 ? nameIn(block->arguments[argument.getArgNumber()].loc)
                 : "";
    }
    const auto *op = text.getOpDef(value.getDefiningOp());
    return op && !op->resultGroups.empty() ? nameIn(op->resultGroups.front().definition.loc) : "";
  }

  void nameNodes(func::FuncOp function) {
    for (BlockArgument argument : function.getArguments())
      function.setArgAttr(argument.getArgNumber(), ir::kNameAttr,
                          StringAttr::get(&context, nameOf(argument)));
    Block &body = function.getBody().front();
    const bool hasNodes =
        llvm::any_of(body, [](Operation &op) { return !ir::nodesOf(op.getLoc()).empty(); });
    for (Operation &op : body.without_terminator()) {
      Location where = op.getLoc();
      const std::string name = op.getNumResults() == 1 ? nameOf(op.getResult(0)) : "";
      if (!name.empty() && ir::tensorName(where).empty())
        where = NameLoc::get(StringAttr::get(&context, name), where);
      if (!hasNodes && !op.hasTrait<OpTrait::ConstantLike>())
        where = ir::nodeLoc(&context, {nodes++, name, op.getName().getStringRef().str()}, where);
      op.setLoc(where);
    }
  }

  /// What an import would say of the model.
  bool describe(func::FuncOp function) {
    for (BlockArgument argument : function.getArguments())
      add(argument);
    for (Operation &op : function.getBody().front().without_terminator()) {
      for (const NodeRef &node : ir::nodesOf(op.getLoc())) {
        if (node.index < 0 || node.index > kMaxNode) {
          refuse(fmt::format("a node has index {}, allowed: 0 to {}", node.index, kMaxNode),
                 node.source);
          return false;
        }
        const auto index = static_cast<size_t>(node.index);
        for (size_t i = info.nodes.size(); i <= index; ++i)
          info.nodes.push_back({static_cast<uint32_t>(i), "", ""});
        info.nodes[index] = {static_cast<uint32_t>(index), node.name, node.op};
      }
      for (Value value : op.getResults()) {
        if (op.hasTrait<OpTrait::ConstantLike>())
          info.parameters += llvm::cast<RankedTensorType>(value.getType()).getNumElements();
        add(value);
      }
    }
    for (BlockArgument argument : function.getArguments()) {
      info.inputs.push_back({nameOf(argument), ir::shapeOf(argument).vec()});
      info.inputs.back().array = argument.getArgNumber();
    }
    Operation *end = function.getBody().front().getTerminator();
    for (auto [i, value] : llvm::enumerate(end->getOperands())) {
      auto name = function.getResultAttrOfType<StringAttr>(i, ir::kNameAttr);
      info.outputs.push_back({name ? name.str() : nameOf(value), ir::shapeOf(value).vec()});
    }
    if (auto wrong = readHostAttributes(function, info)) {
      refuse(std::move(*wrong), ir::nodeOf(function.getLoc()).source);
      return false;
    }
    return true;
  }

  void add(Value value) {
    info.tensors.push_back({layout::tensorName(value), ir::shapeOf(value).vec(), value});
  }

  MLIRContext &context;
  frontend::ImportedModel &info;
  Problems &problems;
  AsmParserState text; ///< where the text defines what
  int64_t nodes = 0;
};

} // namespace

OwningOpRef<ModuleOp> readTextualModel(MLIRContext &context, const std::string &path,
                                       frontend::ImportedModel &info, Problems &problems) {
  context
      .loadDialect<ir::SluiceDialect, func::FuncDialect, arith::ArithDialect, math::MathDialect>();
  return Reader(context, info, problems).read(path);
}

} // namespace sluice::pipeline
