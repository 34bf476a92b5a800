#!/usr/bin/env python3
"""Which elements are in which rows, as `sluice inspect` says it.

usage: inspect_places_test.py SLUICE MAKE_PROGRAMS [unittest arguments]
"""
import json
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from folder import Folder, main

MAKE_PROGRAMS = sys.argv.pop(2)


def tensor(name, *shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def constant(name, *shape):
    values = np.random.default_rng(1).standard_normal(shape) / 4
    return numpy_helper.from_array(values.astype(np.float32), name)


class InspectPlaces(Folder):
    def compiled(self, nodes, inputs, outputs, constants, *flags):
        graph = helper.make_graph(nodes, "m", inputs, outputs, constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8), self.dir / "m.onnx")
        code, out, err = self.sluice("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice", "--json", *flags)
        self.assertEqual(code, 0, err)
        return json.loads(out)

    def test_axes_that_are_one_in_rows(self):
        """A picture [3, 4, 5]: rows go over the end of its last axis, unless its data dimension is pinned."""
        nodes = [helper.make_node("Relu", ["x"], ["h"]), helper.make_node("ReduceMean", ["h"], ["y"], axes=[0], keepdims=1)]
        picture = (nodes, [tensor("x", 3, 4, 5)], [tensor("y", 1, 4, 5)], [])

        def ports():
            model = json.loads(self.sluice("inspect", "m.sluice", "--io", "--json")[1])["models"][0]
            return [(t["name"], t["shape"], t["data_dim"], t["packed"], t["rows"]) for t in model["inputs"] + model["outputs"]]

        self.compiled(*picture)
        self.assertEqual(ports(), [("x", [3, 4, 5], 2, [3, 20], 9), ("y", [1, 4, 5], 2, [1, 20], 3)])
        code, out, _ = self.sluice("inspect", "m.sluice", "--io")
        self.assertEqual([line.split(maxsplit=1)[1] for line in out.decode().splitlines() if "put " in line],
                         ["x float32 [3, 4, 5], data dimension 2, packed as [3, 20], rows 0 to 8",
                          "y float32 [1, 4, 5], data dimension 2, packed as [1, 20], rows 0 to 2"])
        found = json.loads(self.sluice("inspect", "m.sluice", "--element", "x[1,2,4]", "--json")[1])["elements"][0]
        place = found["places"][0]
        code, out, _ = self.sluice("inspect", "m.sluice", "--row", f"{place['core']}:{place['row']}")
        self.assertIn("x[1, 1, 3] to [1, 3, 0]", out.decode())
        self.assertEqual(place["lane"], 6)
        self.compiled(*picture, "--data-dim", "x=1")
        self.assertEqual(ports(), [("x", [3, 4, 5], 1, None, 15), ("y", [1, 4, 5], 1, None, 5)])

    def small(self):
        """The hand-made program of this name."""
        subprocess.run([MAKE_PROGRAMS, self.dir], check=True)
        return "small.sluice"

    def refuses(self, program, option, text, message):
        code, out, err = self.sluice("inspect", program, option, text)
        self.assertEqual((code, out, err), (2, b"", f"error[E0601]: {option} '{text}'{message}\n"))

    def test_rows(self):
        small = self.small()
        self.assertEqual(self.ok("inspect", small, "--row", "0:0", "--row", "0:32768", "--row", "1:7"),
                         "core 0 inbox row 0: x[0, 0..7]\ncore 0 local row 32768: constant\ncore 1 inbox row 7: nothing\n")
        for row, what in (("0", ", allowed: CORE:ROW, such as 0:33"), ("0:-1", ", allowed: CORE:ROW, such as 0:33"),
                          ("[0:1,0:2]", ", allowed: CORE:ROW, such as 0:33"), ("2:0", ": core is 2, allowed: 0 to 1"),
                          ("1:1024", ": row is 1024, allowed: 0 to 1023 and 32768 to 33023")):
            self.refuses(small, "--row", row, what)

    def test_elements(self):
        small = self.small()
        self.assertEqual(self.ok("inspect", small, "--element", "x[0,3]", "--element", "act.out[7]", "--element", "y[7]"),
                         "x[0, 3]: core 0 inbox row 0 lane 3\nact.out[7]: in no row\ny[7]: output row 0 lane 7\n")
        self.assertEqual(json.loads(self.ok("inspect", small, "--element", "x[0, 3]", "--element", "y[6]", "--json"))["elements"], [
            {"tensor": "x", "index": [0, 3], "places": [{"core": 0, "memory": "inbox", "row": 0, "lane": 3}], "outputs": []},
            {"tensor": "y", "index": [6], "places": [], "outputs": [{"row": 0, "lane": 6}]}])
        for element, what in (("x[0,a]", ", allowed: TENSOR[INDEX,...], such as h[3,5]"),
                              ("x[,]", ", allowed: TENSOR[INDEX,...], such as h[3,5]"),
                              ("x[]", " is outside of the tensor, its shape is [1, 8]"),
                              ("x", " is outside of the tensor, its shape is [1, 8]"),
                              ("x[0,8]", " is outside of the tensor, its shape is [1, 8]"),
                              ("y[8]", " is outside of the tensor, its shape is [8]"),
                              ("z[0]", ": no row of the program holds tensor 'z'")):
            self.refuses(small, "--element", element, what)

    def test_names_like_lists_and_scalars(self):
        self.compiled([helper.make_node("Relu", ["[3]"], ["[y,z]"]), helper.make_node("ReduceSum", ["[3]"], ["s"], keepdims=0)],
                      [tensor("[3]", 1, 8)], [tensor("[y,z]", 1, 8), tensor("s")], [])
        self.assertRegex(self.ok("inspect", "m.sluice", "--element", "[3][0,1]"), r"^\[3\]\[0, 1\]: core 0 inbox row 0 lane 1\b")
        outputs = {one["name"]: one["first_row"]
                   for one in json.loads(self.ok("inspect", "m.sluice", "--json"))["models"][0]["outputs"]}
        self.assertEqual(self.ok("inspect", "m.sluice", "--element", "[y,z][0, 7]"),
                         f"[y,z][0, 7]: output row {outputs['[y,z]']} lane 7\n")
        for scalar in ("s", "s[]", "s[ ]"):
            self.assertEqual(self.ok("inspect", "m.sluice", "--element", scalar), f"s: output row {outputs['s']} lane 0\n")

    def test_rows_of_an_input_that_take_turns(self):
        self.compiled([helper.make_node("Conv", ["x", "w"], ["y"], strides=[2])], [tensor("x", 1, 4, 6000)],
                      [tensor("y", 1, 4, 2999)], [constant("w", 4, 4, 3)])
        line = self.ok("inspect", "m.sluice", "--row", "0:5")
        self.assertRegex(line, r"^core 0 inbox row 5: x\[0, 0..3, 5..[0-9]+ by [0-9]+\]\n$")
        last, step = map(int, line[:-2].split("..")[-1].split(" by "))
        self.assertEqual((last % step, last + step >= 6000), (5, True))

    def test_parts_of_steps(self):
        recurrence = helper.make_node("RNN", ["x", "w", "r"], ["states"], hidden_size=4)
        whole = [tensor("x", 3000, 1, 4)], [tensor("states", 3000, 1, 1, 4)], [constant("w", 1, 4, 4), constant("r", 1, 4, 4)]
        said = self.compiled([recurrence], *whole)
        self.assertRegex(said["notes"][0], r"^the 3000 steps of 'x' \(axis 0\) do not fit unrolled; the program runs [0-9]+ times, ")
        steps = int(said["notes"][0].split(", ")[1].split()[0])
        for name, shape in (("x", [steps, 1, 4]), ("states", [steps, 1, 1, 4])):
            index = ", ".join(str(extent - 1) for extent in shape)
            self.assertRegex(self.ok("inspect", "m.sluice", "--element", f"{name}[{index}]"), f" row [0-9]+ lane 3\n$")
            index = ", ".join(map(str, [steps, *(extent - 1 for extent in shape[1:])]))
            self.refuses("m.sluice", "--element", f"{name}[{index}]",
                         f" is outside of the tensor, its shape is {shape} in each step")
        self.compiled([recurrence], *whole, "--stream", "x=0:2")
        self.refuses("m.sluice", "--element", "x[2,0,3]", " is outside of the tensor, its shape is [2, 1, 4]")


if __name__ == "__main__":
    main()
