#!/usr/bin/env python3
"""sluice diff: tables word for word, figures that agree with profile and compile, and each reason.

usage: diff_test.py SLUICE [unittest arguments]
"""
import json
import textwrap

import onnx
from onnx import helper

import bad_models as models
from folder import main
from refusal import USAGE, MALFORMED, Refusal


def chain(count, named=True):
    """Dense layers of different sizes, each with an activation."""
    nodes, constants, value, sizes = [], [], "x", [8, 20, 40, 12]
    for i in range(count):
        nodes += [helper.make_node("Gemm", [value, f"W{i}"], [f"h{i}"], name=f"fc{i}" if named else ""),
                  helper.make_node("Relu", [f"h{i}"], [value := f"a{i}"], name=f"act{i}" if named else "")]
        constants.append(models.constant(f"W{i}", models.values(*sizes[i:i + 2])))
    nodes[-1].output[0] = "y"
    return models.model(nodes, [models.tensor("x", 1, 8)], [models.tensor("y", 1, sizes[count])], constants)


def convolutions(length):
    """Three convolutions over positions."""
    nodes, value = [], "x"
    for i in range(3):
        nodes.append(helper.make_node("Conv", [value, f"W{i}"], [value := f"c{i}"], name=f"conv{i}"))
    nodes[-1].output[0] = "y"
    return models.model(nodes, [models.tensor("x", 1, 4, length)], [models.tensor("y", 1, 4, length - 6)],
                        [models.constant(f"W{i}", models.values(4, 4, 3)) for i in range(3)])


class Diff(Refusal):
    def save(self, name, model):
        onnx.save(model, self.dir / name)

    def compiled(self, name, model, *flags, target="c2b8"):
        self.save(f"{name}.onnx", model)
        self.ok("compile", f"{name}.onnx", "--target", target, "-o", f"{name}.sluice", *flags)
        return f"{name}.sluice"

    def json(self, *args):
        return json.loads(self.ok("diff", *args, "--json"))

    def reasons(self, *args):
        """By the name of the first node of each layer of the model, in its order."""
        return {one["node"]["name"]: one["why"] for one in self.json(*args)["layers"] if one["node"]["op"]}

    def test_the_same(self):
        self.compiled("a", chain(2))
        cycles = json.loads(self.ok("bench", "a.sluice", "--engine", "vm", "--json"))["spaced"]
        self.assertEqual(self.ok("diff", "a.sluice", "a.sluice"), textwrap.dedent(f"""\
            a  a.sluice: a on c2b8, {cycles} cycles
            b  a.sluice: a on c2b8, {cycles} cycles

            3 layers without a difference
            equal: {cycles} cycles
            """))
        self.assertEqual({one["why"] for one in self.json("a.sluice", "a.onnx", "--target", "c2b8")["layers"]}, {""})

    def test_placement(self):
        self.compiled("a", chain(1))
        self.compiled("b", chain(1), "--core-partition", "fc0=1")
        out = self.ok("diff", "a.sluice", "b.sluice")
        self.assertEqual(out, textwrap.dedent("""\
            a  a.sluice: a on c2b8, 28 cycles
            b  b.sluice: b on c2b8, 28 cycles

            nodes     operators  cycles a  cycles b  change  rows a  rows b  blocks a  blocks b  why
            fc0 act0  Gemm Relu        20        20       0       3       3         3         3  placement: blocks by core 3 0 / 0 3
            1 layer without a difference
            equal: 28 cycles
            """))

    def test_figures_of_profile_and_compile(self):
        self.compiled("a", chain(3))
        self.compiled("b", chain(3), target="c6b32")
        found = self.json("a.sluice", "b.sluice")
        self.assertEqual(found["targets"], {"a": "c2b8", "b": "c6b32"})
        for side in "ab":
            profile = json.loads(self.ok("profile", f"{side}.sluice", "--engine", "vm", "--json"))
            self.assertEqual(found["cycles"][side], profile["cycles"])
            self.assertEqual(sum(one[side]["cycles"] for one in found["layers"] if one[side]), profile["cycles"])
            for one in found["layers"]:
                names = {node["name"] for node in one["nodes"]}
                profiled = [row for row in profile["layers"] if names.issuperset(row["names"])]
                self.assertEqual(bool(profiled), one[side] is not None)
                for figure in ("rows", "blocks") if profiled else ():
                    self.assertEqual(one[side][figure], sum(row[figure] for row in profiled))
                if one[side]:
                    self.assertEqual(sum(one[side]["rows_by_core"]), one[side]["rows"])
                    self.assertEqual(sum(one[side]["blocks_by_core"]), one[side]["blocks"])

    def test_targets(self):
        self.save("m.onnx", chain(1))
        self.assertEqual(self.reasons("m.onnx", "m.onnx", "--target", "c2b8", "--target-b", "c6b32"),
                         {"fc0": "blocks of 8 / 32 lanes"})
        out = self.ok("diff", "m.onnx", "m.onnx", "--target", "c2b8", "--target-b", "c6b32")
        self.assertRegex(out, r"\Aa  m\.onnx: m on c2b8, \d+ cycles\nb  m\.onnx: m on c6b32, \d+ cycles\n\n")

    def test_another_layer(self):
        short, long = self.compiled("short", chain(1)), self.compiled("long", chain(2))
        found = self.json(short, long)
        added, = (one for one in found["layers"] if one["node"]["name"] == "fc1")
        self.assertEqual((added["a"], added["why"], added["b"]["rows"]), (None, "only in b", 5))
        self.assertEqual(added["nodes"], [{"index": 2, "name": "fc1", "op": "Gemm"}, {"index": 3, "name": "act1", "op": "Relu"}])
        self.assertEqual(self.reasons(long, short)["fc1"], "only in a")
        more = found["cycles"]["b"] - found["cycles"]["a"]
        percent = 100 * more / found["cycles"]["a"]
        self.assertEqual(self.ok("diff", short, long).splitlines()[-1], f"b takes {more} cycles more than a (+{percent:.1f} %)")
        percent = 100 * more / found["cycles"]["b"]
        self.assertEqual(self.ok("diff", long, short).splitlines()[-1], f"b takes {more} cycles less than a (-{percent:.1f} %)")

    def test_fusion_and_split(self):
        seen = chain(1)
        seen.graph.output.append(models.tensor("h0", 1, 20))
        self.assertEqual(self.reasons(self.compiled("a", chain(1)), self.compiled("b", seen)),
                         {"fc0": "fusion: fc0+act0 / fc0, act0; split: 3 / 6 rows, 3 / 3 blocks"})

    def test_form(self):
        self.save("a.onnx", convolutions(16))
        self.save("b.onnx", convolutions(800))
        for why in self.reasons("a.onnx", "b.onnx", "--target", "c2b8").values():
            self.assertRegex(why, r"^form: straight line / loop; split: \d+ / \d+ rows, \d+ / \d+ blocks; placement: blocks by core "
                                  r"\d+ \d+ / \d+ \d+$")

    def test_nodes_without_names(self):
        self.assertEqual({one["why"] for one in self.json(self.compiled("a", chain(2, named=False)), "a.sluice")["layers"]}, {""})
        self.assertEqual(self.ok("diff", "a.sluice", self.compiled("b", chain(3, named=False))), textwrap.dedent("""\
            a  a.sluice: a on c2b8, 55 cycles
            b  b.sluice: b on c2b8, 77 cycles

            nodes    operators  cycles a  cycles b  change  rows b  blocks b  why
            (input)                    8         9       1       0         0  waits: token 53 / 75
            4 5      Gemm Relu                  21      21       2        10  only in b
            2 layers without a difference
            b takes 22 cycles more than a (+40.0 %)
            """))

    def test_wrong_flags(self):
        self.compiled("a", chain(1))
        for message, *command in (
                ("--target compiles a model, but both files are compiled programs", "a.sluice", "a.sluice", "--target", "c2b8"),
                ("--apply-fixes compiles a model, but both files are compiled programs", "a.sluice", "a.sluice", "--apply-fixes"),
                ("--target-b compiles a model, but 'a.sluice' is a compiled program", "a.onnx", "a.sluice", "--target-b", "c2b8"),
                ("both files are standard input, allowed: one", "-", "-")):
            self.refused(USAGE, f"error[E0601]: {message}\n", "diff", *command)
        self.refused(USAGE, "error[E0602]: the file has no model 'z', allowed: a\n  --> a.sluice\n", "diff", "a.sluice", "a.sluice",
                     "--model", "z")
        self.refused(MALFORMED, "error[E0101]: cannot open 'z.onnx': No such file or directory\n  --> z.onnx\n", "diff", "a.sluice",
                     "z.onnx")


if __name__ == "__main__":
    main()
