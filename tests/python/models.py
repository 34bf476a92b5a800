"""Small ONNX models with what they compute, in float64."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper


def model(nodes, inputs, outputs, constants=(), name="example"):
    infos = [[helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in side.items()] for side in (inputs, outputs)]
    graph = helper.make_graph(nodes, name, *infos, [numpy_helper.from_array(value, n) for n, value in constants])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def dense(features=8):
    """relu(x W + b), and the function of it."""
    random = np.random.default_rng(3)
    weights, bias = (random.standard_normal(s).astype(np.float32) for s in ((features, features), (features,)))
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"], name="fc"), helper.make_node("Add", ["h", "b"], ["s"], name="bias"),
             helper.make_node("Relu", ["s"], ["y"], name="act")]
    made = model(nodes, {"x": [1, features]}, {"y": [1, features]}, [("w", weights), ("b", bias)])
    return made, lambda x: np.maximum(x.astype(np.float64) @ weights + bias, 0)


def moving_sum(steps=16):
    """The sum of a step and the two before it, over a whole sequence."""
    return model([helper.make_node("Conv", ["x", "ones"], ["y"], name="sum", pads=[2, 0])], {"x": [1, 1, steps]},
                 {"y": [1, 1, steps]}, [("ones", np.ones((1, 1, 3), np.float32))])


def accumulator():
    """The next h is x + h, and y is twice that."""
    return model([helper.make_node("Add", ["x", "h"], ["h_next"], name="add"),
                  helper.make_node("Add", ["h_next", "h_next"], ["y"], name="twice")],
                 {"x": [1, 8], "h": [1, 8]}, {"y": [1, 8], "h_next": [1, 8]})


def scaled():
    """y = x * s, for a bound s."""
    return model([helper.make_node("Mul", ["x", "s"], ["y"], name="scale")], {"x": [1, 8], "s": [1, 8]}, {"y": [1, 8]})


def gained():
    """y = x * gain, both given."""
    return model([helper.make_node("Mul", ["x", "gain"], ["y"], name="scale")], {"x": [1, 8], "gain": [1, 8]}, {"y": [1, 8]})


def noisy():
    """y = x and random numbers that every inference draws."""
    return model([helper.make_node("RandomNormalLike", ["x"], ["noise"], name="draw"),
                  helper.make_node("Add", ["x", "noise"], ["y"], name="add")], {"x": [1, 8]}, {"y": [1, 8]})


def sensors():
    """Weights on the left, then on the right: no layout."""
    random = np.random.default_rng(1)
    a, b = (random.standard_normal(s).astype(np.float32) for s in ((4, 4), (5, 3)))
    nodes = [helper.make_node("MatMul", ["A", "x"], ["h"], name="mix"), helper.make_node("MatMul", ["h", "B"], ["y"], name="head")]
    made = model(nodes, {"x": [4, 5]}, {"y": [4, 3]}, [("A", a), ("B", b)], name="sensors")
    return made, lambda x: a.astype(np.float64) @ x @ b
