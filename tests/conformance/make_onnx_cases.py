"""Writes the node cases of onnx.backend.test that the importer covers.

usage: make_onnx_cases.py FOLDER

A case is kept if its only operator is supported and its results are floats.
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
    "Add": 2, "Clip": 1, "Concat": 99, "Constant": 0, "Div": 2, "Dropout": 1, "Elu": 1,
    "Flatten": 1, "Gemm": 3, "Identity": 1, "LeakyRelu": 1, "MatMul": 2, "Mul": 2, "Neg": 1,
    "Relu": 1, "Reshape": 1, "Sigmoid": 1, "Slice": 1, "Softmax": 1, "Split": 1, "Squeeze": 1,
    "Sub": 2, "Tanh": 1, "Unsqueeze": 1,
}


def usable(case):
    graph = case.model.graph
    inputs, outputs = case.data_sets[0]
    return (
        len(graph.node) == 1
        and graph.node[0].op_type in RUN_TIME
        and len(graph.node[0].output) == len(outputs)
        and all(isinstance(x, np.ndarray) for x in list(inputs) + list(outputs))
        and all(x.dtype in (np.float32, np.float64) and x.size for x in outputs)
        and all(x.dtype in (np.float32, np.float64) and x.size
                for x in inputs[: RUN_TIME[graph.node[0].op_type]])
    )


def write(case, folder):
    graph = case.model.graph
    inputs, outputs = case.data_sets[0]
    run_time = RUN_TIME[graph.node[0].op_type]
    for opset in case.model.opset_import:  # the operators of version 6 are those of version 7
        opset.version = max(opset.version, 7)
    kept = list(graph.input)[:run_time]
    for value, data in list(zip(graph.input, inputs))[run_time:]:
        graph.initializer.append(numpy_helper.from_array(np.asarray(data), value.name))
    del graph.input[:]
    graph.input.extend(kept)
    if not kept:  # a model needs an input
        graph.input.append(onnx.helper.make_tensor_value_info("unused", 1, [1]))
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(case.model, str(folder / "model.onnx"))
    for i, x in enumerate(inputs[:run_time]):
        (data / f"input_{i}.pb").write_bytes(numpy_helper.from_array(x).SerializeToString())
    for i, x in enumerate(outputs):
        (data / f"output_{i}.pb").write_bytes(numpy_helper.from_array(x).SerializeToString())


def main():
    target = pathlib.Path(sys.argv[1])
    shutil.rmtree(target, ignore_errors=True)
    cases = [case for case in collect_testcases(None) if usable(case)]
    for case in cases:
        write(case, target / case.name)
    print(f"{len(cases)} cases")


main()
