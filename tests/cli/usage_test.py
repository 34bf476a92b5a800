#!/usr/bin/env python3
"""Flags that make no sense together, results that would overwrite or mix with each
other, and text from outside that a terminal must not obey.

usage: usage_test.py SLUICE [unittest arguments]
"""
import json
import os
import shlex
import pty
import re
import subprocess

import numpy as np
import onnx
from onnx import helper

import bad_models as models
from folder import SLUICE, main
from refusal import MALFORMED, REFUSED, USAGE, Refusal


class Flags(Refusal):
    def wrong(self, message, *args, code="[E0601]", about=""):
        where = f"  --> {about}\n" if about else ""
        self.refused(USAGE, f"error{code}: {message}\n{where}", *args)

    def test_output_is_the_model(self):
        onnx.save(models.dense(), self.dir / "m.onnx")
        (self.dir / "link.sluice").symlink_to("m.onnx")
        for name in ("m.onnx", "./m.onnx", "link.sluice"):
            self.wrong(f"--output '{name}' would overwrite the model", "compile", "m.onnx", "-o", name)
        self.wrong("--output is empty, allowed: a file name or -", "compile", "m.onnx", "-o", "")

    def test_two_results_on_standard_output(self):
        self.compiled()
        for message, command in (
                ("--emit cannot be used with --json: its result is text", ("compile", "good.onnx", "--emit", "plan", "--json")),
                ("--markdown cannot be used with --json", ("ops", "--markdown", "--json"))):
            code, out, err = self.sluice(*command)
            self.assertEqual((code, err), (USAGE, f"error[E0601]: {message}\n"))
            self.assertEqual(json.loads(out)["errors"][0]["message"], message)
        run = ("run", "good.sluice", "--engine", "vm", "--input", "x=zeros")
        for first, second, command in (
                ("--output", "--json", ("compile", "good.onnx", "-o", "-", "--json")),
                ("--output", "--json", (*run, "--output", "y=@-", "--json")),
                ("--output", "--trace", (*run, "--output", "y=@-", "--trace", "-")),
                ("--csv", "--json", ("profile", "good.sluice", "--csv", "-", "--json")),
                ("--csv", "--trace", ("profile", "good.sluice", "--csv", "-", "--trace", "-"))):
            with self.subTest(command=command):
                code, _, err = self.sluice(*command)
                self.assertEqual(code, USAGE)
                self.assertIn(f"error[E0601]: {first} and {second} both write to standard output; give one a file name\n",
                              err)
        code, out, _ = self.sluice(*run, "--output", "y=@-", "--json=r.json")
        self.assertEqual((code, out[:6]), (0, b"\x93NUMPY"))

    def test_binary_into_a_terminal(self):
        self.compiled()
        for command in (("compile", "good.onnx", "--target", "c2b8", "-o", "-"),
                        ("run", "good.sluice", "--engine", "vm", "--input", "x=zeros", "--output", "y=@-")):
            with self.subTest(command=command):
                terminal, ours = pty.openpty()
                done = subprocess.run([SLUICE, *command], cwd=self.dir, stdout=ours, stderr=subprocess.PIPE, check=False)
                os.close(ours)
                os.close(terminal)
                self.assertEqual(done.returncode, USAGE)
                self.assertTrue(done.stderr.decode().startswith(
                    "error[E0601]: --output would write a binary file to the terminal; give a file name or redirect the "
                    "output\n"), done.stderr)
        self.assertEqual(self.sluice("compile", "good.onnx", "--target", "c2b8", "-o", "-")[1][:8], b"\x9dSluice\n")

    def test_progress(self):
        """A line on a terminal, while something takes longer than a second, that says where it is; else nothing."""
        size, layers, value, constants = 512, [], "x", []
        for i in range(16):
            constants.append(models.constant(f"W{i}", models.values(size, size)))
            layers += [models.helper.make_node("MatMul", [value, f"W{i}"], [f"h{i}"]),
                       models.helper.make_node("Relu", [f"h{i}"], [value := f"a{i}"])]
        layers[-1].output[0] = "y"
        onnx.save(models.model(layers, [models.tensor("x", 1, size)], [models.tensor("y", 1, size)], constants),
                  self.dir / "m.onnx")
        command = (SLUICE, "compile", "m.onnx", "--target", "c6b32-deep", "--effort", "high", "-o", "m.sluice")
        terminal, ours = pty.openpty()
        with subprocess.Popen(command, cwd=self.dir, stdout=subprocess.DEVNULL, stderr=ours) as running:
            os.close(ours)
            said = b""
            while not re.search(rb"planning, \d+ % of its budget, [1-9]", said):
                self.assertTrue(piece := os.read(terminal, 4096), said)
                said += piece
            running.kill()
        os.close(terminal)
        lines = said.decode().split("\r\033[K")
        self.assertEqual(lines[0], "")
        for line in lines[1:-1]:
            self.assertRegex(line, r"^compiling m\.onnx: ([a-z ]+(, \d+ % of its budget)?, )?\d+ s$")

    def test_progress_elsewhere(self):
        onnx.save(models.dense(), self.dir / "m.onnx")
        for when, expected in (("always", r"(progress: compiling m\.onnx: .*\d s\n)+"), ("auto", ""), ("never", "")):
            code, _, err = self.sluice("compile", "m.onnx", "--target", "c2b8", "--progress", when)
            self.assertEqual(code, 0)
            self.assertRegex(err, f"^{expected}$")
        self.assertEqual(self.sluice("targets", "--progress", "maybe")[::2],
                         (USAGE, "error: --progress: maybe not in {auto,always,never}; see 'sluice targets --help'\n"))

    def test_a_program_is_not_a_model(self):
        self.compiled()
        message = "'good.sluice' is a compiled program, allowed: an ONNX model or a .mlir file"
        for command in (("compile", "good.sluice"), ("compile", "good.sluice", "-o", "other.sluice"),
                        ("check", "good.sluice"), ("explain", "--plan", "good.sluice")):
            with self.subTest(command=command):
                self.wrong(message, *command)

    def test_rewrites_that_are_left_out(self):
        names = ["slice-of-concat", "slice-of-view", "slice-of-map", "slice-of-reduce", "slice-of-product", "concat-of-slices",
                 "slices-before-products", "maps-before-views", "hoist-scalars", "merge-axes", "choose-in-pairs", "split-features",
                 "select-inputs", "argmax-before-maps", "softmax-in-parts", "split-choices"]
        self.refused(USAGE, "error[E0601]: --without-rewrite 'slice-of-conct' is unknown, allowed: "
                     + ", ".join(names) + "\n  --> m.onnx\n help: did you mean 'slice-of-concat'\n",
                     "check", "m.onnx", "--target", "c2b8", "--without-rewrite", "slice-of-conct")
        # What is computed does not depend on them.
        nodes = [helper.make_node("Transpose", ["x"], ["t"], name="turn", perm=[1, 0]),
                 helper.make_node("Concat", ["t", "t"], ["c"], name="twice", axis=0),
                 helper.make_node("Tanh", ["c"], ["h"], name="act"),
                 helper.make_node("MatMul", ["h", "W"], ["m"], name="mix"),
                 helper.make_node("Slice", ["m", "first", "last", "axis"], ["y"], name="some")]
        random = np.random.default_rng(1)
        w, x = (random.standard_normal(shape).astype(np.float32) for shape in ((8, 6), (8, 5)))
        onnx.save(models.model(nodes, [models.tensor("x", 8, 5)], [models.tensor("y", 4, 6)],
                               [models.constant("W", w), *(models.constant(name, np.int64([value])) for name, value in
                                                           (("first", 3), ("last", 7), ("axis", 0)))]), self.dir / "m.onnx")
        np.save(self.dir / "x.npy", x)
        np.save(self.dir / "y.npy", (np.tanh(np.concatenate([x.T, x.T])) @ w)[3:7])
        for flags in ([], *([name] for name in names), names):
            self.ok("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice",
                    *(word for name in flags for word in ("--without-rewrite", name)))
            self.right("m.sluice")
        self.assertIn("--without-rewrite slice-of-concat --without-rewrite slice-of-view ", self.ok("inspect", "m.sluice", "--io"))

    def test_table_of_operators(self):
        """A | inside a cell is no column."""
        lines = self.ok("ops", "--markdown").splitlines()
        self.assertTrue(any("\\|" in line for line in lines))
        self.assertEqual({len(re.findall(r"(?<!\\)\|", line)) for line in lines}, {5})

    def test_standard_input_twice(self):
        self.wrong("standard input is used 2 times, allowed: once", "run", "-", "--input", "x=@-")
        self.wrong("standard input is used 2 times, allowed: once", "run", "p.sluice", "--input", "x=@-",
                   "--expect", "y=@-")

    def test_bounds_without_a_reference(self):
        self.compiled()
        for flag in ("--rtol", "--atol"):
            self.wrong("--rtol and --atol need --expect or --data-set", "run", "good.sluice", "--engine", "vm",
                       "--input", "x=zeros", flag, "1", about="good.sluice")

    def test_json_of_wrong_usage(self):
        """Also to a file, and not of a --json that is behind `--`."""
        message = "there is no command or flag 'frobnicate'; see 'sluice --help'"
        code, out, err = self.sluice("frobnicate", "--json")
        self.assertEqual((code, err), (USAGE, f"error: {message}\n"))
        result = json.loads(out)
        self.assertEqual((result["schema"], result["ok"], result["errors"][0]["code"], result["errors"][0]["message"]),
                         (1, False, "E0601", message))
        code, out, _ = self.sluice("frobnicate", "--json=e.json")
        self.assertEqual((code, out, json.loads((self.dir / "e.json").read_text())), (USAGE, b"", result))
        self.assertEqual(self.sluice("frobnicate", "--", "--json")[:2], (USAGE, b""))

    def test_streams_that_are_closed(self):
        """The exit code is what it would be; no file gets what was meant for a stream."""
        self.compiled()
        for command, close, code in (("check no.onnx", "2>&-", MALFORMED), ("check no.onnx", "2>/dev/full", MALFORMED),
                                     ("frobnicate", "2>&-", USAGE), ("targets", ">&-", USAGE),
                                     ("targets", ">&- 2>&-", USAGE), ("run - --input x=zeros", "<&-", MALFORMED),
                                     ("compile good.onnx --target c2b8 -o p.sluice", "<&- 2>&-", 0)):
            with self.subTest(command=command, close=close):
                done = subprocess.run(f"{shlex.quote(SLUICE)} {command} {close}", shell=True, cwd=self.dir, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL, check=False)
                self.assertEqual(done.returncode, code)
        self.assertEqual((self.dir / "p.sluice").read_bytes()[:8], b"\x9dSluice\n")

    def test_version(self):
        self.assertEqual(self.sluice("--version"), self.sluice("version"))

    def test_operator_in_any_case(self):
        self.assertEqual(self.sluice("ops", "--op", "gelu"), self.sluice("ops", "--op", "Gelu"))
        for word, meant in (("gelo", "Gelu"), ("conf", "Conv"), ("frobnicate", "")):
            self.refused(USAGE, f"error[E0602]: operator '{word}' is not in the support table\n" +
                         (f" help: did you mean '{meant}'\n" if meant else ""), "ops", "--op", word)

    def test_operator_that_is_not_supported(self):
        """What is missing follows from ONNX's own description of the operator, if it is not too new."""
        for op, missing, fix in (
                ("StringNormalizer", "'StringNormalizer' is not supported: it works on strings; the accelerator "
                 "computes numbers only", "cut the model before this node, and compute the rest on the host"),
                ("imagedecoder", "'ImageDecoder' is not supported: it decodes image files; the accelerator computes "
                 "numbers only", "cut the model before this node, and compute the rest on the host"),
                ("StringSplit", "'StringSplit' is not supported: it works on strings; the accelerator computes "
                 "numbers only",
                 "cut the model before this node, and compute the rest on the host"),
                ("Momentum", "'Momentum' is not supported: it trains a model; sluice compiles inference only",
                 "export the model for inference"),
                ("treeensembleregressor", "'TreeEnsembleRegressor' is not supported: it evaluates decision trees",
                 "train a linear model, an MLPClassifier or an MLPRegressor instead, or run this one on the host"),
                ("ZipMap", "'ZipMap' is not supported: it works on maps; the accelerator computes tensors only",
                 "convert the model with options={'zipmap': False} (skl2onnx), which leaves the maps out")):
            with self.subTest(op=op):
                self.refused(REFUSED, f"error[E0201]: operator {missing}\n help: {fix}\n", "ops", "--op", op)


class Names(Refusal):
    # Colour, bell, end of line, a C1 control, right-to-left; quotes and umlauts are text.
    evil = "a\x1b[31m\x07\n\x9b31m\u202e\"ü'"
    shown = "a\\x1b[31m\\x07\\x0a\\xc2\\x9b31m\\xe2\\x80\\xae\"ü'"

    def model(self):
        proto = models.dense()
        proto.graph.node[1].name = self.evil
        proto.graph.input[0].name = proto.graph.node[0].input[0] = self.evil
        return proto

    def test_in_results(self):
        proto = self.model()
        onnx.save(proto, self.dir / "m.onnx")
        code, _, err = self.sluice("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice", "--model-name", self.evil)
        self.assertEqual((code, err), (0, ""))
        for command in (("inspect", "m.sluice"), ("inspect", "m.sluice", "--asm", "--map"),
                        ("profile", "m.sluice", "--engine", "vm"), ("bench", "m.sluice", "--engine", "vm"),
                        ("run", "m.sluice", "--engine", "vm", "--input", self.evil + "=zeros"),
                        ("check", "m.onnx", "--target", "c2b8", "--explain-layout"),
                        ("explain", "--plan", "m.onnx", "--target", "c2b8"),
                        ("explain", "--index-space", "m.onnx", "--target", "c2b8")):
            with self.subTest(command=command):
                code, out, err = self.sluice(*command)
                self.assertEqual((code, err), (0, ""))
                self.assertFalse(set(out.decode()) & set("\x1b\x07\x9b\u202e"), out)
        self.assertIn(self.shown, self.sluice("inspect", "m.sluice", "--io")[1].decode())
        result = json.loads(self.sluice("inspect", "m.sluice", "--io", "--json")[1])
        self.assertEqual(result["models"][0]["inputs"][0]["name"], self.evil)

    def test_in_messages(self):
        proto = self.model()
        proto.graph.node[1].op_type = "Frobnicate"
        self.compile_refused(REFUSED, f"""
            error[E0201]: operator 'Frobnicate' is not supported: ONNX has no operator of this name up to opset 26
              --> m.onnx: node 1 "{self.shown}" (Frobnicate)
             help: use operators that `sluice ops` lists, or cut the model before this node
            """, proto)

    def test_that_are_no_text(self):
        """Names of tensors between nodes may be any bytes; what is said is UTF-8."""
        data = models.undefined_input().SerializeToString()
        self.save("m.onnx", data.replace(b"\x0a\x01b", b"\x0a\x01\xff"))
        code, out, err = self.sluice("check", "m.onnx", "--json")
        self.assertIn("error[E0108]: input 2 is '\\xff', but no graph input, initializer or node defines it\n", err)
        self.assertIn("'\\xff'", json.loads(out)["errors"][0]["message"])
        done = subprocess.run([SLUICE.encode(), b"check", b"\xff.onnx", b"--json"], cwd=self.dir, capture_output=True,
                              check=False)
        self.assertIn("cannot open '\\xff.onnx'", done.stderr.decode())
        json.loads(done.stdout)


class TooManyRows(Refusal):
    """Refused before every row is made: this takes no time."""

    def test_inputs(self):
        proto = models.dense()
        proto.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1 << 24
        del proto.graph.output[0].type.tensor_type.shape.dim[:]
        proto.graph.output[0].type.tensor_type.ClearField("shape")
        onnx.save(proto, self.dir / "m.onnx")
        code, _, err = self.sluice("check", "m.onnx", "--target", "c2b8", "--fit-seconds", "0")
        self.assertEqual(code, 4)
        self.assertTrue(err.startswith(
            "error[E0402]: the model does not fit c2b8: its inputs need 16777216 inbox rows, 16776192 more than its "
            "1024\n  --> m.onnx\n note: input 'x' needs 16777216 rows\n"
            " help: use a target with more inbox rows or more lanes\n"), err)

    def test_a_tensor(self):
        proto = models.model([models.helper.make_node("Expand", ["x", "s"], ["y"], name="grow")],
                             [models.tensor("x", 1, 8)], [models.tensor("y", 1 << 22, 8)],
                             [models.constant("s", models.np.int64([1 << 22, 8]))])
        self.compile_refused(4, """
            error[E0402]: the model does not fit c2b8: a tensor has 524288 rows of 8 lanes, allowed: 262144
              --> m.onnx: node 0 "grow" (Expand)
             note: the 8 steps of 'x' (axis 1) do not fit unrolled; the program runs 8 times, 1 step each
             note: no other target was tried: the search ended after 0 s (--fit-seconds)
            """, proto, flags=("--fit-seconds", "0"))


if __name__ == "__main__":
    main()
