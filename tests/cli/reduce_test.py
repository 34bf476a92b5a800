#!/usr/bin/env python3
"""sluice reduce: failures of models of at least 50 nodes shrink to at most five nodes, and the small models show them.

usage: reduce_test.py SLUICE FAULTY_SLUICE [unittest arguments]

FAULTY_SLUICE is the driver with faults in the compiler (faulty_sluice.cpp).
"""
import numpy as np
import onnx
from onnx import helper

from failing_models import WIDTH, Chain, Reduce, around
from folder import main


class Failures(Reduce):
    def test_an_operator_that_is_not_supported(self):
        def change(chain):
            chain.add("NonZeroNumbers", domain="com.example")
        _, small = self.reduced_custom(change)
        self.assertEqual([n.op_type for n in small.graph.node], ["NonZeroNumbers"])

    def reduced_custom(self, change):
        model = around(change)
        model.opset_import.append(helper.make_opsetid("com.example", 1))
        return self.reduced(model, kind="error", code="E0201", op="NonZeroNumbers")

    def test_shapes_that_contradict(self):
        def change(chain):
            chain.add("Gemm", chain.constant(np.ones((WIDTH + 3, WIDTH))))
        _, small = self.reduced(around(change), kind="error", code="E0206", op="Gemm")
        self.assertEqual([n.op_type for n in small.graph.node], ["Gemm"])

    def test_an_attribute_that_is_not_supported(self):
        def change(chain):
            chain.add("Cast", to=onnx.TensorProto.STRING)
            chain.add("Cast", to=onnx.TensorProto.FLOAT)
        self.reduced(around(change), kind="error", code="E0205", op="Cast")

    def test_a_layout_conflict(self):
        def change(chain):
            chain.add("MatMul", inputs=[chain.constant(np.ones((4, 4))), chain.value])
        found, small = self.reduced(around(change), kind="error", code="E0302", op="MatMul")
        self.assertTrue(found["failure"]["rule"])
        self.assertIn("MatMul", [n.op_type for n in small.graph.node])

    def test_a_model_that_does_not_fit(self):
        def change(chain):
            for shape in ((WIDTH, 4096), (4096, WIDTH)):
                chain.add("MatMul", chain.constant(chain.rng.standard_normal(shape)))
        self.reduced(around(change), "--effort", "fast", kind="error", code="E0403", op=None)

    def test_a_wrong_weight(self):
        def change(chain):
            chain.add("Gemm", chain.constant(chain.rng.standard_normal((WIDTH, WIDTH))),
                      chain.constant(chain.rng.standard_normal(WIDTH)))
        found, small = self.reduced(around(change), fault="weight Gemm", kind="wrong", code="E0498", op="Gemm")
        self.assertEqual([n.op_type for n in small.graph.node], ["Gemm"])
        inputs = np.load(self.dir / found["inputs"])
        self.assertEqual({name: list(array.shape) for name, array in inputs.items()},
                         {i.name: [d.dim_value for d in i.type.tensor_type.shape.dim] for i in small.graph.input})

    def test_a_wrong_table(self):
        self.reduced(around(lambda chain: chain.add("Tanh")), fault="table Tanh", kind="wrong", code="E0498", op="Tanh")

    def test_inputs_of_the_user(self):
        """Only large inputs show the wrong value, and the second sample alone has them."""
        chain = Chain()
        for _ in range(25):
            chain.add("Relu")
            chain.add("Add", chain.constant(np.zeros(WIDTH)))
        changed = chain.add("Gemm", chain.constant(np.eye(WIDTH)))
        for _ in range(4):
            chain.add("Add", chain.constant(np.ones(WIDTH)))
        samples = np.zeros((3, 4, WIDTH), np.float32)
        samples[1] = 500
        np.savez(self.dir / "x.npz", x=samples)
        found, small = self.reduced(chain.model(changed), "--data", "x.npz", fault="weight Gemm",
                                    env={"SLUICE_FAULT_ABOVE": "400"}, kind="wrong", code="E0498", op="Gemm")
        self.assertEqual([n.op_type for n in small.graph.node], ["Gemm"])
        inputs = np.load(self.dir / found["inputs"])
        self.assertEqual(inputs[small.graph.input[0].name].max(), 500)

    def test_a_crash(self):
        def change(chain):
            chain.add("Softmax")
            chain.filler(10)
            chain.add("Erf")
        found, small = self.reduced(around(change), fault="crash Softmax+Erf", kind="crash", op=None)
        self.assertEqual(sorted(n.op_type for n in small.graph.node), ["Erf", "Softmax"])
        self.assertEqual((found["failure"]["signal"], found["failure"]["stage"]), ("SIGSEGV", "importing"))

    def test_no_end(self):
        self.reduced(around(lambda chain: chain.add("Erf"), 26, 26), "--keep", "timeout", "--timeout", "1", fault="hang Erf",
                     kind="timeout", op=None)

    def test_a_proof_that_fails(self):
        self.reduced(around(lambda chain: chain.add("Softmax")), fault="proof Softmax", kind="error", code="E0499", op="Softmax")

    def test_an_exception(self):
        for fault, code in (("throw", "E0199"), ("check", "E0611")):
            found, small = self.reduced(around(lambda chain: chain.add("Erf")), fault=f"{fault} Erf", kind="error", code=code, op=None)
            self.assertIn("a planted fault", found["failure"]["message"])
            self.assertEqual([n.op_type for n in small.graph.node], ["Erf"])


if __name__ == "__main__":
    main()
