#!/usr/bin/env python3
"""Models without a layout: for each the exit code, every word said, nothing on
standard output and no output file.

usage: bad_layouts_test.py SLUICE [unittest arguments]
"""
from onnx import helper

import bad_models as models
from folder import main
from refusal import USAGE, Refusal


class Layouts(Refusal):
    def test_sum_of_two_layouts(self):
        self.layout_refused("""
            error[E0301]: operands of a pointwise operation have different data dimensions
              --> m.onnx: node 2 "sum" (Add)
               |  operand 0 'left': activation [4! 5]
               |  operand 1 'right': activation [4 5!]
             rule DD-PW: [a b! c] (*) [a b! c] -> [a b! c]
             chain:
               node 0 "left_weights" (MatMul): 'left' [4! 5], weights on the left: the contracted data dimension \
becomes the weights' axis
               node 1 "right_weights" (MatMul): 'right' [4 5!], weights on the right: the contracted data dimension \
becomes the weights' axis
               node 2 "sum" (Add): 'right' [4 5!], but this operation needs [4! 5]
             help: compile with --allow-dynamic-weights (verified, 43 cycles)
             help: compile with --rewrite-layout: relayout of the result 'left' from [4! 5] to [4 5!] at node 0 \
(verified, 57 cycles, 14 more)
            compiles with --apply-fixes: 1 fix, 43 cycles
            """, models.two_layouts())

    def test_two_products_of_one_input(self):
        """What the last step needs is said of the chain, whatever else depends on the result."""
        self.layout_refused("""
            error[E0302]: the product contracts an axis that is not the data dimension
              --> m.onnx: node 1 "right" (MatMul)
               |  operand 0 'x': activation [4! 4]
               |  operand 1 'W': constant [4 4]
             rule DD-MM-CONST: [* i j] @ [* j! k] -> [* i! k] and [* k j!] @ [* j i] -> [* k i!]
             chain:
               node 0 "left" (MatMul): 'x' [4! 4], weights on the left: the contracted data dimension becomes the \
weights' axis
               node 1 "right" (MatMul): 'x' [4! 4], but this operation needs [4 4!]
             help: compile with --allow-dynamic-weights (verified, 36 cycles)
             help: compile with --rewrite-layout: relayout of operand 1 'x' from [4 4!] to [4! 4], relayout of the \
result 'l' from [4! 4] to [4 4!] at node 0 (verified, 58 cycles, 22 more)
            compiles with --apply-fixes: 1 fix, 36 cycles
            """, models.model([helper.make_node("MatMul", ["W", "x"], ["l"], name="left"),
                               helper.make_node("MatMul", ["x", "W"], ["r"], name="right"),
                               helper.make_node("Concat", ["l", "r"], ["y"], name="join", axis=0)],
                              [models.tensor("x", 4, 4)], [models.tensor("y", 8, 4)],
                              [models.constant("W", models.values(4, 4))]))

    def test_transposed_before_a_reshape(self):
        """Fixes exchange axes of more than one element where they can."""
        self.layout_refused("""
            error[E0303]: no axis after the reshape has the stride of the data dimension
              --> m.onnx: node 1 "flat" (Flatten)
               |  operand 0 'h': activation [1 5! 16]
             rule DD-RESHAPE: the data dimension keeps its stride: [a (n*b)! c] -> [a n b! c]
             chain:
               node 0 "mix" (MatMul): 'h' [1 5! 16], weights on the left: the contracted data dimension becomes the \
weights' axis
               node 1 "flat" (Flatten): 'h' [1 5! 16], but this operation needs [1! 5 16] or [1 5 16!]
             help: compile with --allow-dynamic-weights (verified, 43 cycles)
             help: transpose axes 1 and 2 before the reshape, if the order of the elements may change \
(verified, 62 cycles, 19 more)
             help: compile with --rewrite-layout: relayout of operand 0 'h' from [1 5! 16] to [1! 5 16] at node 1 \
(verified, 110 cycles, 67 more)
            compiles with --apply-fixes: 1 fix, 43 cycles
            """, models.model([helper.make_node("MatMul", ["W", "x"], ["h"], name="mix"),
                               helper.make_node("Flatten", ["h"], ["y"], name="flat", axis=1)],
                              [models.tensor("x", 1, 3, 16)], [models.tensor("y", 1, 80)],
                              [models.constant("W", models.values(5, 3))]))

    def test_wrong_pin(self):
        self.layout_refused("""
            error[E0302]: the product contracts an axis that is not the data dimension
              --> m.onnx: node 0 "fc" (Gemm)
               |  operand 0 'x': activation [1! 8]
               |  operand 1 'W': constant [8 6]
             rule DD-MM-CONST: [* i j] @ [* j! k] -> [* i! k] and [* k j!] @ [* j i] -> [* k i!]
             chain:
               'x' [1! 8], pinned by --data-dim x=0
               node 0 "fc" (Gemm): 'x' [1! 8], but this operation needs [1 8!]
             help: replace --data-dim x=0 with --data-dim x=1, or remove it (verified, 26 cycles)
             help: compile with --rewrite-layout: relayout of operand 0 'x' from [1! 8] to [1 8!] at node 0 \
(verified, 33 cycles, 7 more)
             help: compile with --allow-dynamic-weights (DD-MM-DYN-1): the data dimension is not contracted and stays \
(verified, 42 cycles, 16 more)
            compiles with --apply-fixes: 1 fix, 33 cycles
            """, models.dense(), flags=("--data-dim", "x=0"))

    def test_reshape(self):
        self.layout_refused("""
            error[E0303]: no axis after the reshape has the stride of the data dimension
              --> m.onnx: node 1 "flat" (Flatten)
               |  operand 0 'h': activation [4! 5]
             rule DD-RESHAPE: the data dimension keeps its stride: [a (n*b)! c] -> [a n b! c]
             chain:
               node 0 "proj" (MatMul): 'h' [4! 5], weights on the left: the contracted data dimension becomes the \
weights' axis
               node 1 "flat" (Flatten): 'h' [4! 5], but this operation needs [4 5!]
             help: transpose axes 0 and 1 before the reshape, if the order of the elements may change \
(verified, 47 cycles)
             help: compile with --rewrite-layout: relayout of the result 'h' from [4! 5] to [4 5!] at node 0 \
(verified, 55 cycles, 8 more)
             help: compile with --allow-dynamic-weights (verified, 56 cycles, 9 more)
            compiles with --apply-fixes: 1 fix, 55 cycles
            """, models.lost_by_reshape())

    def test_two_activations(self):
        self.layout_refused("""
            error[E0306]: both operands of the product are activations
              --> m.onnx: node 0 "attention" (MatMul)
               |  operand 0 'x': activation [4 8]
               |  operand 1 'z': activation [8 4]
             rule DD-MM-DYN: one operand of a product is a constant, unless --allow-dynamic-weights is given
             chain:
               node 0 "attention" (MatMul): 'y' [4 4], rejected for every data dimension
             help: make input 'z' a constant, if its value is the same in every inference (verified, 29 cycles)
             help: compile with --allow-dynamic-weights (DD-MM-DYN-4): both data dimensions are contracted: the result \
takes its rightmost axis (verified, 40 cycles, 11 more)
            compiles with --apply-fixes: 1 fix, 40 cycles
            """, models.two_activations())

    def test_contracted_on_neither_side(self):
        pins = ("--data-dim", "x=0", "--data-dim", "z=1")
        self.layout_refused("""
            error[E0307]: the contracted axis is the data dimension of neither operand
              --> m.onnx: node 0 "attention" (MatMul)
               |  operand 0 'x': activation [4! 8]
               |  operand 1 'z': activation [8 4!]
             rule DD-MM-DYN-X: [* i! j] @ [* j! k] -> [* i! k], [* i j!] @ [* j k!] -> [* i k!] and [* i j!] @ \
[* j! k] -> [* i k!]
             chain:
               'x' [4! 8], pinned by --data-dim x=0
               'z' [8 4!], pinned by --data-dim z=1
               node 0 "attention" (MatMul): 'z' [8 4!], but this operation needs [8! 4]
             help: replace --data-dim z=1 with --data-dim z=0, or remove it (verified, 40 cycles)
             help: replace --data-dim x=0 with --data-dim x=1, or remove it (verified, 44 cycles, 4 more)
             help: compile with --rewrite-layout: relayout of operand 0 'x' from [4! 8] to [4 8!] at node 0 \
(verified, 58 cycles, 18 more)
            compiles with --apply-fixes: 1 fix, 58 cycles
            """, models.two_activations(), flags=("--allow-dynamic-weights", *pins))
        # Without the first flag the message names both.
        self.layout_refused("""
            error[E0306]: both operands of the product are activations
              --> m.onnx: node 0 "attention" (MatMul)
               |  operand 0 'x': activation [4! 8]
               |  operand 1 'z': activation [8 4!]
             rule DD-MM-DYN: one operand of a product is a constant, unless --allow-dynamic-weights is given
             chain:
               node 0 "attention" (MatMul): 'y' [4 4], rejected for every data dimension
             help: compile with --allow-dynamic-weights --rewrite-layout: relayout of operand 0 'x' from [4! 8] to \
[4 8!] at node 0 (verified, 58 cycles)
            compiles with --apply-fixes: 2 fixes, 58 cycles
            """, models.two_activations(), flags=pins)
        code, _, err = self.sluice("compile", "m.onnx", "--target", "c2b8", "--allow-dynamic-weights",
                                   "--rewrite-layout", *pins)
        self.assertEqual((code, err), (0, ""))

    def test_only_both_flags(self):
        """What one flag does for one error is not offered where the model needs both; what resolves one error of
        two is not verified."""
        flags = "--allow-dynamic-weights --rewrite-layout"
        both = f"help: compile with {flags}: relayout of the result 'u' from [8! 8] to [8 8!] at node 1 " \
               "(verified, 90 cycles)"
        self.layout_refused(f"""
            error[E0306]: both operands of the product are activations
              --> m.onnx: node 0 "product" (MatMul)
               |  operand 0 'x': activation [8 8]
               |  operand 1 'z': activation [8 8]
             rule DD-MM-DYN: one operand of a product is a constant, unless --allow-dynamic-weights is given
             chain:
               node 0 "product" (MatMul): 'y' [8 8], rejected for every data dimension
             {both}
             help: make input 'z' a constant, if its value is the same in every inference
             help: make input 'x' a constant, if its value is the same in every inference
            error[E0301]: operands of a pointwise operation have different data dimensions
              --> m.onnx: node 2 "add" (Add)
               |  operand 0 'y': activation [8 8!]
               |  operand 1 'u': activation [8! 8]
             rule DD-PW: [a b! c] (*) [a b! c] -> [a b! c]
             chain:
               'y' [8 8!], assumed: [8! 8] leads to a conflict too
               node 1 "turn" (Transpose): 'u' [8! 8], from [8 8!]: the data dimension moves with its axis
               node 2 "add" (Add): 'u' [8! 8], but this operation needs [8 8!]
             {both}
             help: make operand 0 'y' a separate graph input
             help: make operand 1 'u' a separate graph input
            compiles with --apply-fixes: 2 fixes, 90 cycles
            """, models.model([helper.make_node("MatMul", ["x", "z"], ["y"], name="product"),
                               helper.make_node("Transpose", ["y"], ["u"], name="turn"),
                               helper.make_node("Add", ["y", "u"], ["s"], name="add")],
                              [models.tensor("x", 8, 8), models.tensor("z", 8, 8)], [models.tensor("s", 8, 8)]))
        code, out, err = self.sluice("check", "m.onnx", "--target", "c2b8", *flags.split())
        self.assertEqual((code, err), (0, ""))

    def test_no_choice_fits(self):
        """One is shown, with the others; what helps is not what is so already."""
        self.layout_refused("""
            error[E0301]: operands of a pointwise operation have different data dimensions
              --> m.onnx: node 1 "add" (Add)
               |  operand 0 'x': activation [16 16!]
               |  operand 1 't': activation [16! 16]
             rule DD-PW: [a b! c] (*) [a b! c] -> [a b! c]
             chain:
               'x' [16 16!], assumed: [16! 16] leads to a conflict too
               node 0 "turn" (Transpose): 't' [16! 16], from [16 16!]: the data dimension moves with its axis
               node 1 "add" (Add): 't' [16! 16], but this operation needs [16 16!]
             help: compile with --allow-dynamic-weights --rewrite-layout: relayout of the result 't' from [16! 16] to \
[16 16!] at node 0 (verified, 81 cycles)
             help: compile with --rewrite-layout: relayout of the result 't' from [16! 16] to [16 16!] at node 0 \
(verified, 160 cycles, 79 more)
            compiles with --apply-fixes: 1 fix, 81 cycles
            """, models.model([helper.make_node("Transpose", ["x"], ["t"], name="turn"),
                               helper.make_node("Add", ["x", "t"], ["y"], name="add")],
                              [models.tensor("x", 16, 16)], [models.tensor("y", 16, 16)]))

    def test_a_tensor_times_its_own_view(self):
        """What a node makes on the way to its result is named after what it is made from. No side can be a constant."""
        self.layout_refused("""
            error[E0306]: both operands of the product are activations
              --> m.onnx: node 0 "gram" (Einsum)
               |  operand 0, transpose of 'x': activation [8 8]
               |  operand 1, transpose of 'x': activation [8 8]
             rule DD-MM-DYN: one operand of a product is a constant, unless --allow-dynamic-weights is given
             chain:
               node 0 "gram" (Einsum): 'y' [8 8], rejected for every data dimension
             help: compile with --allow-dynamic-weights (DD-MM-DYN-3): the operand whose data dimension is not \
contracted passes it on (verified, 44 cycles)
            compiles with --apply-fixes: 1 fix, 44 cycles
            """, models.model([helper.make_node("Einsum", ["x", "x"], ["y"], name="gram", equation="ij,ki->jk")],
                              [models.tensor("x", 8, 8)], [models.tensor("y", 8, 8)]))

    def test_a_node_of_several_steps(self):
        """Those of a softmax say the same: once is enough."""
        self.layout_refused("""
            error[E0303]: no axis after the reshape has the stride of the data dimension
              --> m.onnx: node 2 "flat" (Flatten)
               |  operand 0 'm': activation [4! 5]
             rule DD-RESHAPE: the data dimension keeps its stride: [a (n*b)! c] -> [a n b! c]
             chain:
               node 0 "mix" (MatMul): 'h' [4! 5], weights on the left: the contracted data dimension becomes the \
weights' axis
               node 1 "act" (Softmax): 'm' [4! 5], from [4! 5]: pointwise operands and result share one data dimension
               node 2 "flat" (Flatten): 'm' [4! 5], but this operation needs [4 5!]
             help: compile with --allow-dynamic-weights (verified, 126 cycles)
             help: transpose axes 0 and 1 before the reshape, if the order of the elements may change \
(verified, 134 cycles, 8 more)
             help: compile with --rewrite-layout: relayout of the result 'm' from [4! 5] to [4 5!] at node 1 \
(verified, 144 cycles, 18 more)
            compiles with --apply-fixes: 1 fix, 126 cycles
            """, models.model([helper.make_node("MatMul", ["A", "x"], ["h"], name="mix"),
                               helper.make_node("Softmax", ["h"], ["m"], name="act", axis=1),
                               helper.make_node("Flatten", ["m"], ["f"], name="flat", axis=0)],
                              [models.tensor("x", 4, 5)], [models.tensor("f", 1, 20)],
                              [models.constant("A", models.values(4, 4))]))

    def test_behind_the_layout(self):
        """Nothing is checked of a model that does not fit, whatever its layout."""
        self.layout_refused("""
            error[E0306]: both operands of the product are activations
              --> m.onnx: node 0 "product" (MatMul)
               |  operand 0 'x': activation [4 8]
               |  operand 1 'z': activation [8 4]
             rule DD-MM-DYN: one operand of a product is a constant, unless --allow-dynamic-weights is given
             chain:
               node 0 "product" (MatMul): 'y' [4 4], rejected for every data dimension
             help: compile with --allow-dynamic-weights (DD-MM-DYN-4): both data dimensions are contracted: the result \
takes its rightmost axis
             help: make input 'z' a constant, if its value is the same in every inference
            """, models.model([helper.make_node("MatMul", ["x", "z"], ["y"], name="product"),
                               helper.make_node("MatMul", ["u", "W"], ["v"], name="wide"),
                               helper.make_node("MatMul", ["v", "V"], ["w"], name="narrow")],
                              [models.tensor("x", 4, 8), models.tensor("z", 8, 4), models.tensor("u", 1, 256)],
                              [models.tensor("y", 4, 4), models.tensor("w", 1, 8)],
                              [models.constant("W", models.values(256, 1024)),
                               models.constant("V", models.values(1024, 8))]))

    def test_pins(self):
        for pin, message in (("x=7", "tensor 'x' has no axis 7; its shape is [1 8]"),
                             ("q=0", "the model has no tensor 'q' (--data-dim q=0)")):
            self.compile_refused(USAGE, f"error[E0311]: {message}\n  --> m.onnx\n", models.dense(),
                                 flags=("--data-dim", pin))


if __name__ == "__main__":
    main()
