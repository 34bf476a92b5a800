#include "compiler/transforms/known_choices.h"

#include <map>

#include "compiler/dialect/sluice/cone.h"
#include "compiler/dialect/sluice/selection.h"
#include "compiler/dialect/sluice/tensors.h"
#include "compiler/reference/scalar.h"
#include "compiler/transforms/row_boxes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "runtime/addressing/addressing.h"

using namespace mlir;

namespace sluice::ir {
namespace {

/// Of a row whose elements differ, or of an element that is none of the operands.
constexpr unsigned kOpen = ~0U;

} // namespace

bool KnownChoices::isKnown(Value scalar) const {
  const Cone cone = coneOf(scalar);
  return !cone.arguments.empty() && llvm::all_of(cone.arguments, [&](BlockArgument argument) {
    return map().getInputs()[argument.getArgNumber()].getDefiningOp<ConstantOp>() != nullptr;
  });
}

/// Returns the elements of a scalar that constants alone determine; booleans are 0 and 1.
std::vector<double> KnownChoices::valuesOf(Value scalar) const {
  Block &body = map().getBody().front();
  std::vector<std::vector<double>> known(body.getNumArguments()); // empty: the scalar reads none
  for (const BlockArgument argument : coneOf(scalar).arguments) {
    auto constant = map().getInputs()[argument.getArgNumber()].getDefiningOp<ConstantOp>();
    known[argument.getArgNumber()] = std::move(toTensor(constant.getValue()).values);
  }
  const reference::ScalarProgram program(body, scalar);
  std::vector<double> values, inputs(known.size(), 0);
  for (const int64_t element : llvm::seq(map().getType().getNumElements())) {
    for (auto [input, elements] : llvm::zip_equal(inputs, known))
      if (!elements.empty())
        input = elements[static_cast<size_t>(element)];
    values.push_back(program(inputs));
  }
  return values;
}

void KnownChoices::findChoices() {
  for (Operation &op : map().getBody().front().without_terminator()) {
    if (isKnown(op.getResult(0)))
      continue;
    if (auto select = llvm::dyn_cast<arith::SelectOp>(op); select && isKnown(select.getCondition()))
      add(op, valuesOf(select.getCondition()), [](double value) { return value != 0 ? 1U : 2U; });
    if (!llvm::isa<arith::MulFOp>(op))
      continue;
    // x * 1 is x; x * 0 is not 0 where x is infinite.
    for (const unsigned other : {0U, 1U}) {
      const Value mask = op.getOperand(1 - other);
      if (!llvm::isa<BlockArgument>(mask) || !isKnown(mask))
        continue;
      const std::vector<double> values = valuesOf(mask);
      if (llvm::all_of(values, [](double value) { return value == 0 || value == 1; }))
        add(op, values, [&](double value) { return value == 1 ? other : kOpen; });
    }
  }
}

/// Adds the choice of an operation by known values.
void KnownChoices::add(Operation &op, llvm::ArrayRef<double> values,
                       llvm::function_ref<unsigned(double)> operandFor) {
  Choice choice{&op, {}};
  for (const double value : values)
    choice.operand.push_back(operandFor(value));
  choices.push_back(std::move(choice));
}

/// Numbers the rows by what all of their elements choose.
void KnownChoices::numberRows(int64_t dim, int64_t lanes) {
  const auto shape = shapeOf(map().getResult());
  const int64_t inner = addressing::rowMajorStrides(shape)[dim];
  std::map<Outcomes, unsigned> known;
  const auto cells = space::wholeOf(NumberedRows::extents(shape, dim, lanes));
  space::forEachIndex(cells, [&](space::ExtentsRef row) {
    space::Extents index(row);
    index[dim] *= lanes;
    const int64_t first = addressing::rowMajorPosition(index, shape);
    const int64_t used = std::min(lanes, shape[dim] - index[dim]);
    Outcomes outcomes;
    for (const Choice &choice : choices) {
      const unsigned *elements = &choice.operand[first];
      unsigned outcome = *elements;
      for (int64_t k = 1; k < used; ++k)
        if (elements[k * inner] != outcome)
          outcome = kOpen;
      outcomes.push_back(outcome);
    }
    const auto [number, added] = known.try_emplace(outcomes, outcomesOf.size());
    if (added)
      outcomesOf.push_back(outcomes);
    rows.push_back(number->second);
  });
}

/// The scalar that another one is in rows with these outcomes.
Value KnownChoices::resolved(Value scalar, const Outcomes &outcomes) const {
  while (Operation *op = scalar.getDefiningOp()) {
    const auto *const choice = std::find_if(choices.data(), choices.data() + choices.size(),
                                            [&](const Choice &one) { return one.op == op; });
    if (choice == choices.data() + choices.size())
      break;
    const unsigned outcome = outcomes[choice - choices.data()];
    if (outcome == kOpen)
      break;
    scalar = op->getOperand(outcome);
  }
  return scalar;
}

Variant KnownChoices::variantOf(const Outcomes &outcomes) const {
  Variant variant;
  const auto add = [&](auto &self, Value scalar) -> Value {
    scalar = resolved(scalar, outcomes);
    if (auto argument = llvm::dyn_cast<BlockArgument>(scalar)) {
      variant.operands.insert(argument.getArgNumber());
    } else if (Operation *op = scalar.getDefiningOp(); !variant.body.contains(op)) {
      llvm::for_each(op->getOperands(), [&](Value operand) { self(self, operand); });
      variant.body.insert(op);
    }
    return scalar;
  };
  variant.result = add(add, map().getBody().front().getTerminator()->getOperand(0));
  llvm::APFloat value(0.0F);
  if (matchPattern(variant.result, m_ConstantFloat(&value)))
    variant.constant = value.convertToFloat();
  return variant;
}

std::optional<KnownChoices> KnownChoices::of(MapOp map, int64_t dim, int64_t lanes) {
  KnownChoices known(map);
  known.findChoices();
  if (known.choices.empty())
    return std::nullopt;
  known.numberRows(dim, lanes);
  for (const Outcomes &outcomes : known.outcomesOf)
    known.bodies.push_back(known.variantOf(outcomes));
  if (llvm::all_of(known.outcomesOf, [](const Outcomes &outcomes) {
        return llvm::all_of(outcomes, [](unsigned outcome) { return outcome == kOpen; });
      }))
    return std::nullopt;
  return known;
}

Value KnownChoices::move(OpBuilder &builder, unsigned number, const space::Region &box) const {
  const Variant &variant = bodies[number];
  if (variant.constant) {
    reference::Tensor tensor(reference::Shape(box.extents.begin(), box.extents.end()));
    std::fill(tensor.values.begin(), tensor.values.end(), *variant.constant);
    return builder.create<ConstantOp>(map().getLoc(), tensor);
  }
  const auto operand = llvm::cast<BlockArgument>(variant.result).getArgNumber();
  return sliced(builder, map().getLoc(), map().getInputs()[operand], space::Selection::all(box));
}

Value KnownChoices::compute(OpBuilder &builder, unsigned number,
                            llvm::function_ref<Value(Value operand)> part,
                            RankedTensorType type) const {
  const Variant &variant = bodies[number];
  llvm::SmallVector<unsigned> operands(variant.operands.begin(), variant.operands.end());
  if (operands.empty())
    operands.push_back(0); // a function of constants
  llvm::SmallVector<Value> inputs;
  for (const unsigned operand : operands)
    inputs.push_back(part(map().getInputs()[operand]));
  auto made = builder.create<MapOp>(
      map().getLoc(), inputs, [&](OpBuilder &b, Location, ValueRange arguments) {
        IRMapping mapping;
        for (auto [operand, argument] : llvm::zip_equal(operands, arguments))
          mapping.map(Value(map().getBody().getArgument(operand)), argument);
        for (Operation *op : variant.body) {
          for (const Value scalar : op->getOperands())
            mapping.map(scalar, mapping.lookup(resolved(scalar, outcomesOf[number])));
          b.clone(*op, mapping);
        }
        return mapping.lookup(variant.result);
      });
  made.getResult().setType(type);
  return made.getResult();
}

} // namespace sluice::ir
