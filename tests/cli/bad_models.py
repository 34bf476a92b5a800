"""ONNX models for the tests of refused input: one good dense network and what
is made of it. Everything is saved as given; nothing is checked here."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def values(*shape):
    return np.random.default_rng(shape).standard_normal(shape).astype(np.float32)


def tensor(name, *shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def constant(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def model(nodes, inputs, outputs, constants=(), opset=13):
    graph = helper.make_graph(nodes, "test", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=7,
                             producer_name="bad_models.py")


def dense(batch=1):
    """Relu(x W + b), x [batch 8]."""
    return model([helper.make_node("Gemm", ["x", "W", "b"], ["h"], name="fc"),
                  helper.make_node("Relu", ["h"], ["y"], name="act")],
                 [tensor("x", batch, 8)], [tensor("y", batch, 6)],
                 [constant("W", values(8, 6)), constant("b", values(6))])


def biased(*numbers):
    """x W and then the numbers added one by one."""
    names = ["h0", *(f"h{i + 1}" for i in range(len(numbers)))]
    nodes = [helper.make_node("MatMul", ["x", "W"], ["h0"], name="fc"),
             *(helper.make_node("Add", [a, f"c{b}"], [b]) for a, b in zip(names, names[1:]))]
    constants = [constant(f"c{name}", np.full(6, n, np.float32)) for name, n in zip(names[1:], numbers)]
    return model(nodes, [tensor("x", 1, 8)], [tensor(names[-1], 1, 6)], [constant("W", values(8, 6)), *constants])


def with_weights(change):
    """The dense network after `change` of its initializer W."""
    result = dense()
    change(result.graph.initializer[0])
    return result


def set_shape(*shape):
    def change(weights):
        weights.dims[:] = shape
    return change


def raw_of(size):
    def change(weights):
        weights.raw_data = bytes(size)
    return change


def external(location, length=8 * 6 * 4):
    """W is stored in another file."""
    def change(weights):
        weights.ClearField("raw_data")
        weights.data_location = TensorProto.EXTERNAL
        for key, value in (("location", location), ("length", str(length))):
            weights.external_data.add(key=key, value=value)
    return change


def cycle():
    return model([helper.make_node("Add", ["x", "c"], ["a"], name="first"),
                  helper.make_node("Relu", ["a"], ["b"], name="second"),
                  helper.make_node("Tanh", ["b"], ["c"], name="third"),
                  helper.make_node("Neg", ["c"], ["y"], name="out")],
                 [tensor("x", 1, 8)], [tensor("y", 1, 8)])


def undefined_input():
    result = dense()
    del result.graph.initializer[1]
    return result


def unsupported():
    """Two operators nobody supports, with a good one between, and a third that nothing needs."""
    return model([helper.make_node("Gemm", ["x", "W"], ["h"], name="fc"),
                  helper.make_node("Frobnicate", ["h"], ["d"], name="determinant"),
                  helper.make_node("Relu", ["d"], ["r"], name="act"),
                  helper.make_node("StringNormalizer", ["r"], ["y"], name="positions"),
                  helper.make_node("TfIdfVectorizer", ["h"], ["unused"], name="dead")],
                 [tensor("x", 8, 8)], [tensor("y", 1, 1)], [constant("W", values(8, 8))])


def refused_attribute():
    return model([helper.make_node("Gemm", ["x", "W"], ["h"], name="fc", transB=2),
                  helper.make_node("Relu", ["h"], ["y"], name="act", slope=0.5)],
                 [tensor("x", 1, 8)], [tensor("y", 1, 8)], [constant("W", values(8, 8))])


def shapes_differ():
    return model([helper.make_node("MatMul", ["x", "W"], ["y"], name="fc")],
                 [tensor("x", 1, 8)], [tensor("y", 1, 6)], [constant("W", values(9, 6))])


def too_big():
    """More weights than both cores of c2b8 hold."""
    return model([helper.make_node("MatMul", ["x", "W1"], ["h"], name="wide"),
                  helper.make_node("MatMul", ["h", "W2"], ["y"], name="narrow")],
                 [tensor("x", 1, 256)], [tensor("y", 1, 8)],
                 [constant("W1", values(256, 1024)), constant("W2", values(1024, 8))])


def more_weights_than_memory():
    """More weights than all cores of c6b32 hold, however they are placed."""
    sizes = 32, 1600, 1600, 800
    nodes = [helper.make_node("MatMul", [f"h{i}", f"W{i}"], [f"h{i + 1}"], name=f"fc{i}") for i in range(3)]
    return model(nodes, [tensor("h0", 1, 32)], [tensor("h3", 1, 800)],
                 [constant(f"W{i}", values(*sizes[i:i + 2])) for i in range(3)])


def two_layouts():
    """W x carries its data dimension first, x W last; the sum of both has none."""
    return model([helper.make_node("MatMul", ["A", "x"], ["left"], name="left_weights"),
                  helper.make_node("MatMul", ["z", "B"], ["right"], name="right_weights"),
                  helper.make_node("Add", ["left", "right"], ["y"], name="sum")],
                 [tensor("x", 4, 5), tensor("z", 4, 6)], [tensor("y", 4, 5)],
                 [constant("A", values(4, 4)), constant("B", values(6, 5))])


def lost_by_reshape():
    return model([helper.make_node("MatMul", ["A", "x"], ["h"], name="proj"),
                  helper.make_node("Flatten", ["h"], ["f"], name="flat", axis=0)],
                 [tensor("x", 4, 5)], [tensor("f", 1, 20)], [constant("A", values(4, 4))])


def two_activations():
    return model([helper.make_node("MatMul", ["x", "z"], ["y"], name="attention")],
                 [tensor("x", 4, 8), tensor("z", 8, 4)], [tensor("y", 4, 4)])


def free_dimension():
    """The batch of x has a name, that of y not even that."""
    result = dense("batch")
    result.graph.output[0].type.tensor_type.shape.dim[0].ClearField("dim_param")
    return result
