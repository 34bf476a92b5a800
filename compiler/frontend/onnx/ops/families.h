// The operator families. Each adds its entries to the table.
#pragma once

#include "compiler/frontend/onnx/operator.h"

namespace sluice::frontend::ops {

void addArithmetic(OperatorTable &table);            ///< Add, Sub, Mul, Div, Neg
void addActivations(OperatorTable &table);           ///< Relu, PRelu, Clip, Shrink, Elu, ...
void addFunctions(OperatorTable &table);             ///< Abs to Pow: further maps of one operand
void addPower(OperatorTable &table);                 ///< Pow
void addTrigonometry(OperatorTable &table);          ///< Sin, Cos, Tan, inverses, hyperbolic ones
void addVariadic(OperatorTable &table);              ///< Max, Min, Sum, Mean
void addComparisons(OperatorTable &table);           ///< comparisons, IsNaN, logic, Where, Trilu
void addLinear(OperatorTable &table);                ///< Gemm, MatMul
void addConvolution(OperatorTable &table);           ///< Conv
void addTransposedConvolution(OperatorTable &table); ///< ConvTranspose
void addPooling(OperatorTable &table);               ///< MaxPool, AveragePool, LpPool, global ones
void addMaxUnpool(OperatorTable &table);             ///< MaxUnpool
void addKnownChoices(OperatorTable &table);          ///< NonZero, Unique, EyeLike
void addPadding(OperatorTable &table);               ///< Pad
void addDepthToSpace(OperatorTable &table);          ///< DepthToSpace, SpaceToDepth
void addCumulative(OperatorTable &table);            ///< CumSum, CumProd
void addCol2Im(OperatorTable &table);                ///< Col2Im
void addCenterCropPad(OperatorTable &table);         ///< CenterCropPad
void addAffineGrid(OperatorTable &table);            ///< AffineGrid
void addTensorScatter(OperatorTable &table);         ///< TensorScatter
void addDeformConv(OperatorTable &table);            ///< DeformConv
void addMaxRoiPool(OperatorTable &table);            ///< MaxRoiPool
void addBitCast(OperatorTable &table);               ///< BitCast
void addEinsum(OperatorTable &table);                ///< Einsum
void addDropout(OperatorTable &table);               ///< Dropout
void addRandom(OperatorTable &table);                ///< RandomNormal, Bernoulli, Multinomial, ...
void addReductions(OperatorTable &table);            ///< ReduceMean, ReduceSum, ...
void addSoftmax(OperatorTable &table);               ///< Softmax, LogSoftmax
void addBatchNormalisation(OperatorTable &table);    ///< BatchNormalization
void addNormalisations(OperatorTable &table);        ///< LayerNormalization, RMSNormalization, ...
void addAttention(OperatorTable &table);             ///< Attention
void addRotaryEmbedding(OperatorTable &table);       ///< RotaryEmbedding, of com.microsoft too
void addMicrosoft(OperatorTable &table);             ///< com.microsoft: FusedMatMul, Gelu, ...
void addMicrosoftNormalisations(
    OperatorTable &table);                        ///< com.microsoft: SkipLayerNormalization, ...
void addMicrosoftAttention(OperatorTable &table); ///< com.microsoft: Attention, MultiHeadAttention
void addMlFeatures(OperatorTable &table);         ///< ai.onnx.ml: Scaler, Normalizer, Imputer, ...
void addMlLinear(OperatorTable &table);           ///< ai.onnx.ml: LinearRegressor, LinearClassifier
void addRecurrences(OperatorTable &table);        ///< LSTM, GRU, RNN
void addScan(OperatorTable &table);               ///< Scan
void addIf(OperatorTable &table);                 ///< If
void addLoop(OperatorTable &table);               ///< Loop
void addReshapes(OperatorTable &table);           ///< Identity, Flatten, Reshape, (Un)squeeze
void addSequences(OperatorTable &table);          ///< SequenceAt, SplitToSequence, Optional, ...
void addSignalWindows(OperatorTable &table);      ///< HannWindow, ..., MelWeightMatrix
void addFourier(OperatorTable &table);            ///< DFT, STFT
void addGridSample(OperatorTable &table);         ///< GridSample
void addRoiAlign(OperatorTable &table);           ///< RoiAlign
void addTfIdf(OperatorTable &table);              ///< TfIdfVectorizer
void addNonMaxSuppression(OperatorTable &table);  ///< NonMaxSuppression
void addDeterminant(OperatorTable &table);        ///< Det
void addSlices(OperatorTable &table);             ///< Slice, Split
void addConcat(OperatorTable &table);             ///< Concat
void addGather(OperatorTable &table);             ///< Gather by constant indices
void addIntegers(OperatorTable &table);           ///< Mod, BitShift, bitwise logic
void addLocalResponse(OperatorTable &table);      ///< LRN
void addQuantisation(OperatorTable &table);       ///< QuantizeLinear, DequantizeLinear, ...
void addQuantisedProducts(OperatorTable &table);  ///< QLinearMatMul, ConvInteger, ...
void addMicrosoftQuantised(OperatorTable &table); ///< com.microsoft: QLinearAdd, QLinearConcat, ...
void addMicrosoftQuantisedProducts(
    OperatorTable &table);                     ///< com.microsoft: QGemm, MatMulIntegerToFloat, ...
void addGatherElements(OperatorTable &table);  ///< GatherElements, GatherND
void addScatter(OperatorTable &table);         ///< ScatterElements, ScatterND
void addCompress(OperatorTable &table);        ///< Compress
void addReverseSequence(OperatorTable &table); ///< ReverseSequence
void addOneHot(OperatorTable &table);          ///< OneHot
void addLosses(OperatorTable &table);      ///< NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss
void addOrdering(OperatorTable &table);    ///< Hardmax, TopK
void addResize(OperatorTable &table);      ///< Resize, Upsample
void addEarlyOpsets(OperatorTable &table); ///< opsets 1 to 6 of the others; behind them
void addViews(OperatorTable &table);       ///< Transpose, Expand, Tile
void addConstants(OperatorTable &table);   ///< Constant, ConstantOfShape, Shape, Size, Range, Cast

} // namespace sluice::frontend::ops
