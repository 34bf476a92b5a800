"""Writes sensors.onnx, a model whose two products need different data dimensions, an input x.npy and the
answer y.npy.
"""
import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

random = np.random.default_rng(1)
A, B, x = (random.standard_normal(s).astype(np.float32) for s in ((4, 4), (5, 3), (4, 5)))
np.save("x.npy", x)
np.save("y.npy", A @ x @ B)

nodes = [helper.make_node("MatMul", ["A", "x"], ["h"], name="mix"),
         helper.make_node("MatMul", ["h", "B"], ["y"], name="head")]
graph = helper.make_graph(
    nodes, "sensors", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 3])],
    [numpy_helper.from_array(A, "A"), numpy_helper.from_array(B, "B")])
save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), "sensors.onnx")
