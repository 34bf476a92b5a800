"""Writes the node cases of onnx.backend.test that the importer covers.

usage: make_onnx_cases.py FOLDER

A case is kept if its only operator is supported and its run-time operands are floats.
The cases pass every operand at run time; operands that the importer needs to
know (shapes, axes, bounds) become initializers.
"""
import pathlib
import shutil
import sys

import numpy as np

for alias in ("float", "int", "bool", "object"):  # removed from numpy, used by onnx 1.12
    if not hasattr(np, alias):
        setattr(np, alias, getattr(__builtins__, alias))

import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

RUN_TIME = {  # operators and how many of their operands may be run-time tensors
    "Abs": 1, "Acos": 1, "Acosh": 1, "Add": 2, "ArgMax": 1, "ArgMin": 1, "Asin": 1, "Asinh": 1,
    "Atan": 1, "Atanh": 1, "AveragePool": 1, "BatchNormalization": 1, "Cast": 1, "CastLike": 1,
    "Ceil": 1, "Celu": 1, "Clip": 1, "Concat": 99, "Constant": 0, "Conv": 1, "ConvTranspose": 1,
    "Cos": 1, "Cosh": 1, "CumSum": 1, "DepthToSpace": 1, "Div": 2, "Dropout": 1, "Einsum": 2,
    "Elu": 1, "Equal": 2, "Erf": 1, "Exp": 1, "Expand": 1, "Flatten": 1, "Floor": 1, "GRU": 1,
    "Gemm": 3, "GlobalAveragePool": 1, "GlobalLpPool": 1, "GlobalMaxPool": 1, "Greater": 2,
    "GreaterOrEqual": 2, "HardSigmoid": 1, "HardSwish": 1, "Identity": 1,
    "InstanceNormalization": 3, "IsNaN": 1, "LSTM": 1, "LayerNormalization": 3, "LeakyRelu": 1, "Less": 2,
    "LessOrEqual": 2, "Log": 1, "LogSoftmax": 1, "Loop": 99, "LpPool": 1, "MatMul": 2, "Max": 99, "MaxPool": 1,
    "Mean": 99, "MeanVarianceNormalization": 1, "Min": 99, "Mul": 2, "Neg": 1, "PRelu": 2, "Pad": 1,
    "Pow": 1, "RNN": 1, "Range": 0, "Reciprocal": 1, "ReduceL1": 1, "ReduceL2": 1, "ReduceLogSum": 1,
    "ReduceLogSumExp": 1, "ReduceMax": 1, "ReduceMean": 1, "ReduceMin": 1, "ReduceProd": 1,
    "ReduceSum": 1, "ReduceSumSquare": 1, "Relu": 1, "Reshape": 1, "Round": 1, "Scan": 99, "Selu": 1,
    "Shrink": 1, "Sigmoid": 1, "Sign": 1, "Sin": 1, "Sinh": 1, "Slice": 1, "Softmax": 1,
    "Softplus": 1, "Softsign": 1, "SpaceToDepth": 1, "Split": 1, "Sqrt": 1, "Squeeze": 1, "Sub": 2,
    "Sum": 99, "Tan": 1, "Tanh": 1, "ThresholdedRelu": 1, "Tile": 1, "Transpose": 1, "Trilu": 1,
    "Unsqueeze": 1,
}
FIRST = {"Loop": 2}  # operands before these are known
FLOATS = (np.float32, np.float64)
RESULTS = FLOATS + (np.int64, np.bool_)


def refused(node, inputs):
    """Forms that the importer refuses on purpose."""
    training = any(a.name == "training_mode" and a.i for a in node.attribute) or (
        node.op_type == "Dropout" and len(inputs) == 3 and bool(inputs[2]))
    mask = node.op_type == "Dropout" and len(node.output) > 1
    diagonal = any(
        len(set(term)) < len(term)
        for a in node.attribute if a.name == "equation"
        for term in a.s.decode().replace("...", "").replace("->", ",").replace(" ", "").split(","))
    indices = node.op_type == "MaxPool" and len(node.output) > 1
    return training or mask or diagonal or indices or (node.op_type == "Pow" and inputs[1].size != 1)


def run_time(node):
    """Which operands of a case are those of the run."""
    first = FIRST.get(node.op_type, 0)
    return slice(first, first + RUN_TIME[node.op_type])


def usable(case):
    graph = case.model.graph
    inputs, outputs = case.data_sets[0]
    node = graph.node[0]
    return (
        len(graph.node) == 1
        and node.op_type in RUN_TIME
        and sum(name != "" for name in node.output) == len(outputs)
        and all(isinstance(x, (np.ndarray, np.generic)) for x in list(inputs) + list(outputs))
        and all(x.dtype in RESULTS and x.size for x in outputs)
        and all(x.dtype in FLOATS and x.size for x in inputs[run_time(node)])
        and not refused(node, inputs)
    )


def write(case, folder):
    graph = case.model.graph
    inputs, outputs = case.data_sets[0]
    chosen = run_time(graph.node[0])
    for opset in case.model.opset_import:  # the operators of version 6 are those of version 7
        opset.version = max(opset.version, 7)
    kept = list(graph.input)[chosen]
    for value, data in zip(graph.input, inputs):
        if value not in kept:
            graph.initializer.append(numpy_helper.from_array(np.asarray(data), value.name))
    del graph.input[:]
    graph.input.extend(kept)
    if not kept:  # a model needs an input
        graph.input.append(onnx.helper.make_tensor_value_info("unused", 1, [1]))
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(case.model, str(folder / "model.onnx"))
    for i, x in enumerate(inputs[chosen]):
        (data / f"input_{i}.pb").write_bytes(numpy_helper.from_array(x).SerializeToString())
    for i, x in enumerate(outputs):
        (data / f"output_{i}.pb").write_bytes(numpy_helper.from_array(x).SerializeToString())


def main():
    target = pathlib.Path(sys.argv[1])
    shutil.rmtree(target, ignore_errors=True)
    cases = [case for case in collect_testcases(None) if usable(case)]
    for case in cases:  # two cases may share a name
        folder = target / case.name
        write(case, folder.with_name(case.name + "_again") if folder.exists() else folder)
    print(f"{len(cases)} cases")


main()
