// The operator families. Each adds its entries to the table.
#pragma once

#include "compiler/frontend/onnx/operator.h"

namespace sluice::frontend::ops {

void addArithmetic(OperatorTable &table);     ///< Add, Sub, Mul, Div, Neg
void addActivations(OperatorTable &table);    ///< Relu, LeakyRelu, Clip, Sigmoid, Tanh, Elu
void addFunctions(OperatorTable &table);      ///< Abs to Pow: further maps of one operand
void addTrigonometry(OperatorTable &table);   ///< Sin, Cos, Tan, inverses, Sinh, Cosh, Atanh
void addComparisons(OperatorTable &table);    ///< Max, Min, comparisons, logic, Where
void addLinear(OperatorTable &table);         ///< Gemm, MatMul
void addReductions(OperatorTable &table);     ///< ReduceMean, ReduceSum, ...
void addSoftmax(OperatorTable &table);        ///< Softmax, LogSoftmax
void addNormalisations(OperatorTable &table); ///< BatchNormalization, LayerNormalization
void addReshapes(OperatorTable &table);       ///< Identity, Dropout, Flatten, Reshape, (Un)squeeze
void addSlices(OperatorTable &table);         ///< Slice, Split
void addConcat(OperatorTable &table);         ///< Concat
void addGather(OperatorTable &table);         ///< Gather by constant indices
void addViews(OperatorTable &table);          ///< Transpose, Expand
void addConstants(OperatorTable &table);      ///< Constant, ConstantOfShape, Shape, Cast

} // namespace sluice::frontend::ops
