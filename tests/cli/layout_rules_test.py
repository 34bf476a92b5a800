#!/usr/bin/env python3
"""Every rule of the data dimension through ONNX: accepted forms, inferred from
the operands and from the result, with values on both engines; refused forms.

usage: layout_rules_test.py SLUICE [unittest arguments]

A form is written as in the documentation: "[2 3! 4] -> [6! 4]". A tensor without
a mark is a constant, "[!]" is an activation of rank 0.
"""
import json
import re

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from folder import Folder, main
from refusal import REFUSED


def tensors(form):
    """[(shape, data dimension or None)] of the tensors of a form, the result last."""
    out = []
    for text in re.findall(r"\[([^\]]*)\]", form):
        words = text.split()
        if words == ["!"]:
            out.append(([], 0))
            continue
        dims = [i for i, word in enumerate(words) if word.endswith("!")]
        out.append(([int(word.rstrip("!")) for word in words], dims[0] if dims else None))
    return out


class Form:
    """One operation on the tensors of a form: operands x0, x1, ..., result y."""

    def __init__(self, rule, form, op, function, ints=(), back=True, opset=17, flags=(), **attributes):
        self.rule, self.form, self.function, self.back, self.flags = rule, form, function, back, flags
        *operands, (self.shape, self.dim) = tensors(form)
        random = np.random.default_rng(len(form))
        self.values = [random.standard_normal(shape).astype(np.float32) for shape, _ in operands]
        self.names = [f"x{i}" for i in range(len(operands))]
        self.dims = {name: dim for name, (_, dim) in zip(self.names, operands) if dim is not None}
        constants = [numpy_helper.from_array(value, name)
                     for name, value in zip(self.names, self.values) if name not in self.dims]
        names = list(self.names)
        for i, value in enumerate(ints):
            constants.append(numpy_helper.from_array(np.int64(value), f"c{i}"))
            names.append(f"c{i}")
        graph = helper.make_graph(
            [helper.make_node(op, names, ["y"], name="op", **attributes)], "form",
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, v.shape)
             for n, v in zip(self.names, self.values) if n in self.dims],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, self.shape)], constants)
        self.model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)

    def operand_pins(self):
        return [word for name, dim in self.dims.items() for word in ("--data-dim", f"{name}={dim}")]


def slice_(form, *parts, **more):
    """numpy's x[parts], by start:stop:step of every axis."""
    (shape, _), _ = tensors(form)
    bounds = [part.indices(extent) for part, extent in zip(parts, shape)]
    least = np.iinfo(np.int64).min
    stops = [least if step < 0 and stop < 0 else stop for _, stop, step in bounds]
    return Form("DD-SLICE", form, "Slice", lambda x: x[parts],
                ([b[0] for b in bounds], stops, range(len(bounds)), [b[2] for b in bounds]), **more)


def reshape(form, rule="DD-RESHAPE", **more):
    target = tensors(form)[-1][0]
    return Form(rule, form, "Reshape", lambda x: x.reshape(target), (target,), **more)


def squeeze(form, *axes, **more):
    return Form("DD-SQZ", form, "Squeeze", lambda x: x.squeeze(axes), (axes,), **more)


def unsqueeze(form, *axes, **more):
    return Form("DD-UNSQ", form, "Unsqueeze", lambda x: np.expand_dims(x, axes), (axes,), **more)


def broadcast(form, **more):
    target = tensors(form)[-1][0]
    return Form("DD-BCAST", form, "Expand", lambda x: np.broadcast_to(x, target), (target,), **more)


def concat(form, axis, **more):
    return Form("DD-CONCAT", form, "Concat", lambda *x: np.concatenate(x, axis), axis=axis, **more)


def total(form, *axes, keepdims=0, **more):
    return Form("DD-REDUCE", form, "ReduceSum", lambda x: x.sum(axis=axes, keepdims=bool(keepdims)), (axes,),
                keepdims=keepdims, **more)


def largest(form, *axes, keepdims=0, **more):
    return Form("DD-REDUCE", form, "ReduceMax", lambda x: x.max(axis=axes, keepdims=bool(keepdims)), axes=axes,
                keepdims=keepdims, **more)


def gather(form, indices, axis, **more):
    return Form("DD-SLICE", form, "Gather", lambda x: np.take(x, indices, axis), (indices,), axis=axis, **more)


def transpose(form, *perm, **more):
    return Form("DD-TRANS", form, "Transpose", lambda x: x.transpose(perm), perm=perm, **more)


def add(form, **more):
    return Form("DD-PW", form, "Add", np.add, **more)


def relu(form, **more):
    return Form("DD-PW", form, "Relu", lambda x: np.maximum(x, 0), **more)


def conv(form, rule, pads, strides, **more):
    """In one dimension."""
    def function(x, w):
        x = np.pad(x, [(0, 0), (0, 0), tuple(pads)])
        seen = np.lib.stride_tricks.sliding_window_view(x, w.shape[2], 2)[:, :, ::strides]
        return np.einsum("ncxk,ock->nox", seen, w)

    return Form(rule, form, "Conv", function, pads=pads, strides=[strides], **more)


def max_pool(form, rule, size, strides, **more):
    """In one dimension."""
    return Form(rule, form, "MaxPool",
                lambda x: np.lib.stride_tricks.sliding_window_view(x, size, 2)[:, :, ::strides].max(-1),
                kernel_shape=[size], strides=[strides], **more)


def matmul(form, rule="DD-MM-CONST", **more):
    return Form(rule, form, "MatMul", np.matmul, **more)


def dynamic(number, form, **more):
    """With dynamic weights. Several forms have the same result, unless `back`."""
    return matmul(form, f"DD-MM-DYN-{number}", flags=["--allow-dynamic-weights"], **{"back": False, **more})


ALL = slice(None)
ACCEPTED = [
    relu("[2 3! 4] -> [2 3! 4]"), relu("[2! 9] -> [2! 9]"), relu("[!] -> [!]"),
    add("[2 3! 4] + [2 3! 4] -> [2 3! 4]"), add("[2! 3] + [2 3] -> [2! 3]"), add("[2 3] + [2! 3] -> [2! 3]"),
    # ONNX's implicit broadcast: unsqueeze, then broadcast.
    add("[2 9!] + [9!] -> [2 9!]"), add("[3! 5] + [3! 1] -> [3! 5]"), add("[3 5!] + [1 5!] -> [3 5!]"),
    add("[3 5!] + [3 1!] -> [3 5!]"), add("[3 5!] + [5] -> [3 5!]"), add("[3! 5] + [5] -> [3! 5]"),

    slice_("[2 3 4!] -> [2 3 2!]", ALL, ALL, slice(1, 3)), slice_("[2 3! 4] -> [2 3! 2]", ALL, ALL, slice(0, 2)),
    slice_("[2 20!] -> [2 7!]", ALL, slice(1, 20, 3)), slice_("[2 20!] -> [2 10!]", ALL, slice(None, None, -2)),
    slice_("[5! 3] -> [5! 3]", ALL, slice(None, None, -1)), slice_("[5! 3] -> [5! 3]", slice(None, None, -1), ALL),
    slice_("[9 3!] -> [3 3!]", slice(8, 0, -3), ALL), slice_("[9! 3] -> [1! 3]", slice(7, 8), ALL),

    gather("[2 9!] -> [2 5!]", [8, 0, 1, 2, 0], 1), gather("[5 9!] -> [3 9!]", [4, 4, -4], 0),
    gather("[5 3!] -> [3!]", 2, 0), gather("[2 3! 4] -> [2 3! 2 3]", [[0, 2, 3], [3, 2, 1]], 2),

    unsqueeze("[2! 3] -> [1 2! 3]", 0), unsqueeze("[2 3!] -> [2 1 3!]", 1), unsqueeze("[2 3!] -> [2 3! 1]", 2),
    unsqueeze("[9!] -> [1 9! 1]", 0, 2), unsqueeze("[!] -> [1 1!]", 0, 1), unsqueeze("[!] -> [1! 1]", 0, 1, flags=["--data-dim", "y=0"]),
    squeeze("[1 3!] -> [3!]", 0), squeeze("[2! 1 3] -> [2! 3]", 1), squeeze("[1 9! 1] -> [9!]", 0, 2),
    squeeze("[1! 1] -> [1!]", 0, back=False), squeeze("[1!] -> [!]", 0),

    broadcast("[1 3!] -> [4 3!]"), broadcast("[3 1!] -> [3 9!]"), broadcast("[3! 1] -> [3! 4]"),
    broadcast("[3!] -> [2 3!]"), broadcast("[!] -> [2 9!]"), broadcast("[!] -> [2! 9]", flags=["--data-dim", "y=0"]),

    concat("[2! 3] ++ [7! 3] -> [9! 3]", 0), concat("[2! 3] ++ [2! 1] -> [2! 4]", 1),
    concat("[2 9!] ++ [1 9!] -> [3 9!]", 0), concat("[2 3] ++ [2! 1] -> [2! 4]", 1),
    concat("[2 5!] ++ [2 6] ++ [2 5!] -> [2 16!]", 1),

    total("[2! 3] -> [1! 3]", 0, keepdims=1), total("[9! 3] -> [1! 3]", 0, keepdims=1),
    total("[2! 3] -> [2! 1]", 1, keepdims=1), total("[9! 3] -> [9!]", 1), total("[2 3! 4] -> [3! 4]", 0),
    total("[2 3! 4] -> [3!]", 0, 2, back=False), total("[2! 3 4] -> [3!]", 0, 2, back=False),
    total("[2 9!] -> [2!]", 1, back=False),
    # The axis that is dropped leaves its stride to the one before.
    total("[2 3! 4] -> [2! 4]", 1, back=False), squeeze("[2 1! 3] -> [2! 3]", 1, back=False), total("[9!] -> [!]", 0),
    total("[1 9!] -> [!]", 0, 1, back=False),
    largest("[2 9!] -> [2 1!]", 1, keepdims=1), largest("[9! 2] -> [9!]", 1, back=False),
    largest("[2 9!] -> [2!]", 1, back=False),

    transpose("[2! 3 1 2] -> [1 3 2! 2]", 2, 1, 0, 3), transpose("[2 3 1 2!] -> [1 3 2 2!]", 2, 1, 0, 3),
    transpose("[9! 3] -> [3 9!]", 1, 0), transpose("[3 9!] -> [9! 3]", 1, 0),

    # The four reshapes of the page, then others.
    reshape("[2! 12] -> [2! 3 4]"), reshape("[2 3 4!] -> [3 2 4!]"), reshape("[2 3! 2] -> [6! 2]"),
    reshape("[2 6! 2] -> [2 3 2! 2]"),
    reshape("[3! 4] -> [3! 1 4]"), reshape("[6!] -> [6! 1 1]"), reshape("[2 3 4!] -> [24!]"),
    reshape("[24!] -> [2 12!]"), reshape("[1!] -> [!]"), reshape("[!] -> [1! 1]"), reshape("[4 6!] -> [2 12!]"),

    matmul("[5 3] @ [3! 4] -> [5! 4]"), matmul("[4 3!] @ [3 5] -> [4 5!]"), matmul("[9 10] @ [10! 2] -> [9! 2]"),
    matmul("[2 10!] @ [10 9] -> [2 9!]"), matmul("[5 3] @ [3!] -> [5!]"), matmul("[3!] @ [3 5] -> [5!]"),
    matmul("[4 3!] @ [3] -> [4!]"), matmul("[3!] @ [3] -> [!]"),
    # Multiplied from the other side.
    matmul("[3] @ [3! 4] -> [4!]"),
    matmul("[2 4 3!] @ [3 5] -> [2 4 5!]"), matmul("[2 5 3] @ [3! 4] -> [2 5! 4]"),
    matmul("[2 2 3!] @ [2 3 5] -> [2 2 5!]"), matmul("[3 1 2 3!] @ [2 3 5] -> [3 2 2 5!]"),
    matmul("[2 3 5] @ [1 5! 2] -> [2 3! 2]"),
    Form("DD-MM-CONST", "[10! 2] @ [9 10] -> [2 9!]", "Gemm", lambda x, w: x.T @ w.T, transA=1, transB=1),

    # Of channels and elements of the window, both may be the axis whose place the features take.
    conv("[1 3! 6] * [9 3 2] -> [1 9! 7]", "DD-WIN-KEEP", [1, 1], 1, back=False),
    conv("[2 3 10!] * [4 3 3] -> [2 4 10!]", "DD-MM-BAND", [1, 1], 1, flags=["--data-dim", "y=2"]),
    conv("[1 3 19!] * [4 3 4] -> [1 4 10!]", "DD-MM-BAND", [1, 2], 2, flags=["--data-dim", "y=2"]),
    conv("[1 1 19!] * [10 1 4] -> [1 10! 10]", "DD-WIN-TAP", [1, 2], 2, back=False, flags=["--data-dim", "y=1"]),
    max_pool("[2 10! 7] -> [2 10! 3]", "DD-WIN-KEEP", 3, 2), max_pool("[2 3 19!] -> [2 3 9!]", "DD-WIN-POS", 3, 2),

    dynamic(1, "[5 3] @ [3 9!] -> [5 9!]", back=True), dynamic(1, "[9! 3] @ [3 5] -> [9! 5]", back=True),
    dynamic(1, "[2 5 3] @ [2 3 4!] -> [2 5 4!]", back=True), dynamic(1, "[4! 3] @ [3] -> [4!]"),
    dynamic(2, "[9! 3] @ [3!] -> [9!]"), dynamic(2, "[4 9!] @ [9!] -> [4!]"), dynamic(2, "[9!] @ [9! 4] -> [4!]"),
    dynamic(2, "[3!] @ [3 9!] -> [9!]"), dynamic(2, "[2 4! 3] @ [3!] -> [2 4!]"), dynamic(2, "[9!] @ [9!] -> [!]"),
    dynamic(3, "[9! 3] @ [3! 4] -> [9! 4]", back=True), dynamic(3, "[4 9!] @ [9 10!] -> [4 10!]"),
    dynamic(3, "[2 5! 3] @ [2 3! 4] -> [2 5! 4]", back=True),
    dynamic(4, "[5 9!] @ [9! 10] -> [5 10!]"), dynamic(4, "[2 5 3!] @ [1 3! 4] -> [2 5 4!]"),
]

# The code, the rule, and a form whose operands have the data dimensions it shows.
OPERANDS_REFUSED = [
    ("E0301", add("[3! 4] + [3 4!] -> [3! 4]")), ("E0301", add("[2 3! 4] + [2! 3 4] -> [2 3! 4]")),
    # The new axis of the smaller operand is never the data dimension.
    ("E0301", add("[3! 4] + [4!] -> [3! 4]")),
    ("E0305", concat("[3! 4] ++ [3 4!] -> [6! 4]", 0)), ("E0305", concat("[3! 4] ++ [3 4!] -> [3! 8]", 1)),
    ("E0304", total("[2! 3] -> [3!]", 0)), ("E0304", total("[2! 3 4] -> [3 4!]", 0)),
    ("E0304", largest("[2! 3] -> [3!]", 0)),
    ("E0303", squeeze("[1! 3] -> [3!]", 0)), ("E0303", squeeze("[1! 2 3] -> [2! 3]", 0)),
    ("E0303", reshape("[2 3! 4] -> [2 12!]")), ("E0303", reshape("[4! 5] -> [20!]")),
    ("E0303", reshape("[2 6! 5] -> [2 15! 2]")),
    ("E0302", matmul("[5 3] @ [3 4!] -> [5 4!]")), ("E0302", matmul("[4! 3] @ [3 5] -> [4! 5]")),
    ("E0302", matmul("[2! 4 3] @ [3 5] -> [2! 4 5]")),
    ("E0302", matmul("[4! 3] @ [3] -> [4!]")),
    # Two activations: without the flag never, with it not this form, nor along a batch axis.
    ("E0306", matmul("[5 3!] @ [3! 4] -> [5 4!]", "DD-MM-DYN")), ("E0306", matmul("[4 3!] @ [3!] -> [4!]", "DD-MM-DYN")),
    ("E0307", dynamic("X", "[5! 3] @ [3 4!] -> [5! 4]")), ("E0307", dynamic("X", "[5! 9] @ [9 4!] -> [5 4!]")),
    ("E0307", dynamic("X", "[2! 5 3] @ [2 3! 4] -> [2! 5 4]")),
    ("E0302", matmul("[2! 5 3] @ [3 4] -> [2! 5 4]", flags=["--allow-dynamic-weights"])),
]

# A form whose result cannot have the data dimension it shows.
RESULT_REFUSED = [
    unsqueeze("[2! 3] -> [1! 2 3]", 0), broadcast("[3!] -> [2! 3]"), matmul("[5 3] @ [3! 4] -> [5 4!]"),
    matmul("[4 3!] @ [3 5] -> [4! 5]"), matmul("[2 4 3!] @ [3 5] -> [2! 4 5]"), reshape("[2! 12] -> [2 3! 4]"),
    # Of several candidates only the leftmost is taken.
    reshape("[3! 4] -> [3 1! 4]"), dynamic("X", "[2 5 3!] @ [2 3! 4] -> [2! 5 4]"),
]


class Rules(Folder):
    def layout(self, form, pins):
        """Exit code, data dimensions by name, errors."""
        onnx.save(form.model, self.dir / "m.onnx")
        code, out, err = self.sluice("check", "m.onnx", "--target", "c2b8", "--format", "json",
                                     "--explain-layout=all", *form.flags, *pins)
        self.assertTrue(out, err)
        result = json.loads(out)
        return code, {t["name"]: t["data_dim"] for t in result["tensors"]}, result["errors"]

    def test_from_the_operands_with_values(self):
        for form in ACCEPTED:
            with self.subTest(rule=form.rule, form=form.form):
                code, dims, errors = self.layout(form, form.operand_pins())
                self.assertEqual((code, errors), (0, []))
                self.assertEqual(dims["y"], form.dim)
                self.run_on_both(form)

    def run_on_both(self, form):
        expected = form.function(*(v.astype(np.float64) for v in form.values))
        np.save(self.dir / "y.npy", np.asarray(expected, np.float32))
        inputs = []
        for name, value in zip(form.names, form.values):
            if name in form.dims:
                np.save(self.dir / f"{name}.npy", value)
                inputs += ["--input", f"{name}=@{name}.npy"]
        self.ok("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice", *form.flags, *form.operand_pins())
        out = self.ok("run", "m.sluice", "--engine", "both", *inputs, "--expect", "y=@y.npy", "--rtol", "0.02",
                      "--atol", "0.02")
        self.assertIn("engines agree: equal bits, equal cycles", out)

    def test_from_the_result(self):
        for form in ACCEPTED:
            if not form.back:  # several data dimensions of the operand give this result
                continue
            with self.subTest(rule=form.rule, form=form.form):
                code, dims, errors = self.layout(form, ["--data-dim", f"y={form.dim}"])
                self.assertEqual((code, errors), (0, []))
                self.assertEqual({name: dims[name] for name in form.dims}, form.dims)

    def test_refused_operands(self):
        for expected, form in OPERANDS_REFUSED:
            with self.subTest(rule=form.rule, form=form.form):
                code, _, errors = self.layout(form, form.operand_pins())
                self.assertEqual(code, REFUSED)
                self.assertEqual([(e["code"], e["rule"], e["node"]["name"]) for e in errors],
                                 [(expected, form.rule, "op")])
                self.check_fixes(form, errors[0])

    def test_refused_result(self):
        for form in RESULT_REFUSED:
            with self.subTest(rule=form.rule, form=form.form):
                code, _, errors = self.layout(form, ["--data-dim", f"y={form.dim}"])
                self.assertEqual((code, [e["code"] for e in errors]), (REFUSED, ["E0308"]))
                self.check_fixes(form, errors[0])

    def check_fixes(self, form, error):
        """There is a fix, every fix was verified, and those that are other pins do work."""
        self.assertTrue(error["fixes"])
        for fix in error["fixes"]:
            self.assertTrue(fix["verified"])
            match = re.fullmatch(r"--data-dim (\w+)=(\d+)", fix["flag"] or "")
            if match:
                dims = {**(form.dims if match[1] != "y" else {}), match[1]: match[2]}
                pins = [word for name, dim in dims.items() for word in ("--data-dim", f"{name}={dim}")]
                self.assertEqual(self.layout(form, pins)[0], 0, fix["text"])


if __name__ == "__main__":
    main()
