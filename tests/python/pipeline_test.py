#!/usr/bin/env python3
"""sluice.Pipeline: a program, with onnxruntime around it, against onnxruntime on the whole model. Without onnxruntime, what
does not need it.

usage: pipeline_test.py FOLDER_OF_THE_PACKAGE [unittest arguments]
"""
import importlib.util
import inspect
import sys
import unittest

sys.path.insert(0, sys.argv[1])

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import sluice
from base import Python

HAS_RUNTIME = importlib.util.find_spec("onnxruntime") is not None


def values(*shape):
    return np.random.default_rng(shape).standard_normal(shape).astype(np.float32)


def model():
    """n, an integer, chooses a row of a table -> a; a W -> h; NonZero(h > 0) -> places; k = h + z."""
    tensor = helper.make_tensor_value_info
    nodes = [helper.make_node("Unique", ["n"], ["sorted"], name="sort"),
             helper.make_node("Gather", ["table", "sorted"], ["a"], name="look"),
             helper.make_node("MatMul", ["a", "W"], ["h"], name="fc"),
             helper.make_node("Greater", ["h", "zero"], ["on"], name="on"),
             helper.make_node("NonZero", ["on"], ["places"], name="find"),
             helper.make_node("Add", ["h", "z"], ["k"], name="sum")]
    graph = helper.make_graph(
        nodes, "g", [tensor("n", TensorProto.INT64, [2]), tensor("z", TensorProto.DOUBLE, [1])],
        [tensor("places", TensorProto.INT64, [2, "count"]), tensor("k", TensorProto.FLOAT, [2, 8])],
        [numpy_helper.from_array(values(4, 8), "table"), numpy_helper.from_array(values(8, 8), "W"),
         numpy_helper.from_array(np.float32(0), "zero")], value_info=[tensor("a", TensorProto.FLOAT, [2, 8])])
    graph.node.insert(5, helper.make_node("Cast", ["z"], ["z32"], name="cast", to=TensorProto.FLOAT))
    graph.node[6].input[1] = "z32"
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def dense():
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "W"], ["h"]), helper.make_node("Relu", ["h"], ["y"])], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8])], [numpy_helper.from_array(values(8, 8), "W")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


class Pipelines(Python):
    @unittest.skipUnless(HAS_RUNTIME, "needs onnxruntime")
    def test_three_parts(self):
        import onnxruntime # pylint: disable=import-outside-toplevel
        session = onnxruntime.InferenceSession(model().SerializeToString(), providers=["CPUExecutionProvider"])
        pipeline = sluice.Pipeline(model(), inputs=["a"], outputs=["h"], target="c2b8")
        self.assertEqual((pipeline.inputs, pipeline.outputs), (("n", "z"), ("places", "k")))
        self.assertEqual([port.name for port in pipeline.program.inputs], ["a"])
        n, z = np.int64([3, 1]), np.float64([0.5])
        expected = dict(zip(["places", "k"], session.run(None, {"n": n, "z": z})))
        for found in (pipeline.run(n=n, z=z), pipeline(n, z), pipeline({"n": n}, z=[0.5]), pipeline.run([3, 1], z)):
            self.assertEqual(list(found), ["places", "k"])
            self.assertEqual({name: (one.dtype, one.shape) for name, one in found.items()},
                             {name: (one.dtype, one.shape) for name, one in expected.items()})
            self.near(found["k"], expected["k"])
            np.testing.assert_array_equal(found["places"], expected["places"])
        with self.assertRaises(sluice.ArgumentError) as caught:
            pipeline.run(n=[0.5, 1], z=z)
        self.assertEqual(str(caught.exception), "E0604: input 'n' has elements of type float64, allowed: int64")

    def test_without_a_rest(self):
        """Neither a cut nor nodes around it: onnxruntime is not needed."""
        x = values(1, 8)
        for cut in ({}, {"inputs": ["x"]}, {"outputs": ["y"]}):
            pipeline = sluice.Pipeline(dense(), target="c2b8", **cut)
            self.assertEqual((pipeline.inputs, pipeline.outputs), (("x",), ("y",)))
            self.near(pipeline.run(x=x)["y"], np.maximum(x @ values(8, 8), 0))

    @unittest.skipIf(HAS_RUNTIME, "needs an interpreter without onnxruntime")
    def test_no_onnxruntime(self):
        with self.assertRaises(sluice.ArgumentError) as caught:
            sluice.Pipeline(dense(), outputs=["h"], target="c2b8")
        self.assertEqual(str(caught.exception), "E0601: the rest of the model needs onnxruntime in this interpreter: pip install "
                                                "onnxruntime")

    def test_wrong_calls(self):
        pipeline = sluice.Pipeline(dense(), target="c2b8")
        x = values(1, 8)
        for call, message in ((lambda: pipeline.run(), "E0603: input 'x' is not given"),
                              (lambda: pipeline.run(x, x), "E0602: 2 inputs are given, allowed: 1 (x)"),
                              (lambda: pipeline.run(x, x=x), "E0603: input 'x' is given twice"),
                              (lambda: pipeline.run(x, w=x), "E0602: the model has no input 'w', allowed: x"),
                              (lambda: sluice.Pipeline(dense(), tarket="c2b8"),
                               "E0601: Pipeline() has no keyword 'tarket', did you mean 'target'?")):
            with self.assertRaises(sluice.KeywordError) as caught:
                call()
            self.assertEqual(str(caught.exception), message)
        with self.assertRaises(sluice.ArgumentError) as caught:
            sluice.Pipeline(dense(), inputs=["x", "H"], outputs=["y"])
        self.assertEqual(str(caught.exception), "error[E0121]: the model has no tensor 'H', which inputs lists\n  --> <model>\n"
                                                " help: did you mean 'h'")

    def test_offered_cut_as_keywords(self):
        graph = dense()
        graph.graph.node[1].op_type = "Frobnicate"
        fixes = sluice.check(graph, target="c2b8").problems[0].fixes
        self.assertEqual(fixes[-1].keywords, {"inputs": ["x"], "outputs": ["h"]})
        self.assertEqual(fixes[-1].text, "compile with inputs=['x'], outputs=['h']: 100 % of the multiply-accumulates stay on the "
                                         "accelerator")
        self.assertEqual(inspect.signature(sluice.compile(graph, target="c2b8", **fixes[-1].keywords)).parameters.keys(),
                         {"x", "out"})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
