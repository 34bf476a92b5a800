#!/usr/bin/env python3
"""sluice report --model-explorer and --netron: figures of nodes against profile, diff, compare and check; the shape of Model
Explorer's node data; a copy of the model that differs in properties alone; what is refused, word for word.

usage: report_viewers_test.py SLUICE SOURCE_FOLDER [unittest arguments]
"""
import json
import sys
from pathlib import Path

import jsonschema
import numpy as np
import onnx
from onnx import TensorProto, helper

import bad_models as models
from folder import main
from refusal import MALFORMED, USAGE, Refusal

DIGITS = Path(sys.argv[2]).resolve() / "tools/digits/digits.onnx"
NODE_PROPERTIES = 9  # NodeProto.metadata_props, which this ONNX package may not know
FIGURES = ("cycles", "rows", "cores", "data-dimension")

# GraphNodeData of Model Explorer's API, the file without graph ids: node_data_builder.py and NodeDataProviderGraphData in its
# sources. No other member is allowed here. Values may be of any type; these are numbers and texts.
COLOUR = {"type": "string", "pattern": "^#[0-9a-f]{6}$"}
NODE_DATA = {
    "type": "object", "required": ["results"], "additionalProperties": False,
    "properties": {
        "name": {"type": "string"},
        "results": {"type": "object", "additionalProperties": {
            "type": "object", "required": ["value"], "additionalProperties": False,
            "properties": {"value": {"type": ["number", "string"]}, "bgColor": COLOUR, "textColor": COLOUR}}},
        "thresholds": {"type": "array", "items": {
            "type": "object", "required": ["value", "bgColor"], "additionalProperties": False,
            "properties": {"value": {"type": "number"}, "bgColor": COLOUR, "textColor": COLOUR}}},
        "gradient": {"type": "array", "minItems": 2, "items": {
            "type": "object", "required": ["stop"], "additionalProperties": False,
            "properties": {"stop": {"type": "number", "minimum": 0, "maximum": 1}, "bgColor": COLOUR, "textColor": COLOUR}}},
        "hideInAggregatedStatsTable": {"type": "boolean"}, "hideInChildrenStatsTable": {"type": "boolean"},
        "hideAggregatedStats": {"type": "array", "items": {"enum": ["min", "max", "sum", "avg"]}},
        "showExpandedSummaryOnGroupNode": {"type": "boolean"}, "showLabelCountColumnsInChildrenStatsTable": {"type": "boolean"}}}


def properties(node):
    """The properties of a node, in its order, whether the package knows the field or not."""
    if "metadata_props" in node.DESCRIPTOR.fields_by_name:
        return [(entry.key, entry.value) for entry in node.metadata_props]
    from google.protobuf import unknown_fields
    entries = [onnx.StringStringEntryProto.FromString(field.data) for field in unknown_fields.UnknownFieldSet(node)
               if field.field_number == NODE_PROPERTIES]
    return [(entry.key, entry.value) for entry in entries]


def without_properties(model):
    """The model without unknown fields and without the properties that the copy adds."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    kept = [entry for entry in model.metadata_props if not entry.key.startswith("sluice.")]
    del model.metadata_props[:]
    model.metadata_props.extend(kept)
    model.DiscardUnknownFields()
    for node in model.graph.node:
        if "metadata_props" in node.DESCRIPTOR.fields_by_name:
            del node.metadata_props[:]
    return model


class Viewers(Refusal):
    def view(self, model, *flags):
        """The node data by figure, and the copy of the model."""
        self.ok("report", model, "-o", "r.html", "--model-explorer", "v", "--netron", "copy.onnx", *flags)
        data = {}
        for path in self.dir.glob("v.*.json"):
            data[path.name[2:-5]] = json.loads(path.read_text())
            jsonschema.Draft202012Validator(NODE_DATA).validate(data[path.name[2:-5]])
        copy = onnx.load(self.dir / "copy.onnx")
        onnx.checker.check_model(copy, full_check=True)
        return data, copy

    def values(self, data, figure):
        return {name: result["value"] for name, result in data[figure]["results"].items()}


class Figures(Viewers):
    def setUp(self):
        super().setUp()
        lines = np.loadtxt(DIGITS.parent / "heldout.csv", delimiter=",", max_rows=20, dtype=np.float32)
        np.savez(self.dir / "x.npz", pixels=lines[:, 1:].reshape(20, 1, 64))

    def test_digits(self):
        data, copy = self.view(DIGITS, "--target", "c2b8", "--data", "x.npz")
        self.assertEqual(set(data), {*FIGURES, "error"})
        self.assertEqual({figure: one["name"] for figure, one in data.items()},
                         {"cycles": "cycles", "rows": "rows", "cores": "cores", "data-dimension": "data dimension",
                          "error": "error (% of range)"})
        self.ok("compile", DIGITS, "--target", "c2b8", "-o", "digits.sluice")
        profile = json.loads(self.ok("profile", "digits.sluice", "--json"))
        layers = [layer for layer in profile["layers"] if layer["nodes"]]
        difference = json.loads(self.ok("diff", "digits.sluice", "digits.sluice", "--json"))
        cycles = {node["name"]: one["a"]["cycles"] for one in difference["layers"] for node in one["nodes"] if node["op"]}
        self.assertEqual(self.values(data, "cycles"), cycles)
        self.assertEqual(self.values(data, "rows"), {name: layer["rows"] for layer in layers for name in layer["names"]})
        cores = {name: sorted({one["core"] for one in profile["instructions"] if one["busy"] and name in one["names"]})
                 for name in cycles}
        self.assertEqual(self.values(data, "cores"), {name: ", ".join(map(str, some)) for name, some in cores.items()})
        original = onnx.load(DIGITS)
        checked = json.loads(self.ok("check", DIGITS, "--target", "c2b8", "--explain-layout", "--json"))
        layouts = {tensor["name"]: tensor for tensor in checked["tensors"]}
        self.assertEqual(self.values(data, "data-dimension"),
                         {node.name: f"axis {layouts[node.output[0]]['data_dim']}" for node in original.graph.node})
        compared = json.loads(self.ok("compare", DIGITS, "--target", "c2b8", "--data", "x.npz", "--json"))["layers"]
        self.assertGreater(len(compared), 1)
        errors = {layer["node"]["name"]: 100 * layer["max_abs_error"] / layer["range"] for layer in compared}
        self.assertEqual(self.values(data, "error"), errors)
        self.check_copy(original, copy, profile, layouts, compared)

    def check_copy(self, original, copy, profile, layouts, compared):
        self.assertEqual(without_properties(copy), without_properties(original))
        self.assertEqual([(entry.key, entry.value) for entry in copy.metadata_props],
                         [("sluice.target", "c2b8"), ("sluice.cycles", str(profile["cycles"])), ("sluice.compiler", "0.1.0"),
                          ("sluice.options", "--target c2b8 --effort default")])
        reason = "pointwise operands and result share one data dimension"
        self.assertEqual([layouts[name]["why"] for name in ("scaled", "fc1.relu")], [reason] * 2)
        relu = next(layer for layer in compared if layer["node"]["name"] == "relu1")
        self.assertEqual(properties(copy.graph.node[0]),
                         [("sluice.layer", "no instruction"), ("sluice.data_dimension", f"axis 1 of [1, 64]: {reason}")])
        self.assertEqual(properties(copy.graph.node[2]), [
            ("sluice.layer", "fc1 (Gemm), relu1 (Relu)"), ("sluice.cycles", "49"), ("sluice.rows", "12"), ("sluice.cores", "0, 1"),
            ("sluice.data_dimension", f"axis 1 of [1, 96]: {reason}"),
            ("sluice.error", f"{relu['max_abs_error']:.3g}, {100 * relu['max_abs_error'] / relu['range']:.3g} % of the range, "
                             f"{100 * relu['share_of_bound']:.3g} % of the bound")])

    def test_colours(self):
        data, _ = self.view(DIGITS, "--target", "c2b8")
        self.assertEqual(set(data), set(FIGURES))
        gradient = [{"stop": 0, "bgColor": "#fff7ec"}, {"stop": 1, "bgColor": "#fc8d59"}]
        for figure in ("cycles", "rows"):
            self.assertEqual((data[figure]["gradient"], data[figure]["hideAggregatedStats"]), (gradient, ["sum", "avg"]))
            self.assertTrue(data[figure]["hideInChildrenStatsTable"])
        for figure in ("cores", "data-dimension"):
            self.assertTrue(data[figure]["showExpandedSummaryOnGroupNode"])
            colours = {result["value"]: result["bgColor"] for result in data[figure]["results"].values()}
            self.assertEqual(set(colours.values()), {"#8dd3c7"})

    def test_what_it_says(self):
        out = self.ok("report", DIGITS, "--target", "c2b8", "-o", "r.html", "--model-explorer", "v.json", "--netron", "c.onnx")
        files = ["r.html", *(f"v.{figure}.json" for figure in FIGURES), "c.onnx"]
        self.assertEqual(out.splitlines()[-len(files):],
                         [f"written             {name}, {(self.dir / name).stat().st_size} bytes" for name in files])
        found = json.loads(self.ok("report", DIGITS, "--target", "c2b8", "-o", "r.html", "--model-explorer", "v.json", "--netron",
                                   "c.onnx", "--json"))
        self.assertEqual((found["model_explorer"], found["netron"]), (files[1:-1], "c.onnx"))
        code, out, err = self.sluice("report", DIGITS, "--target", "c2b8", "-o", "r.html", "--netron", "-")
        self.assertEqual((code, out), (0, (self.dir / "c.onnx").read_bytes()))
        self.assertEqual(err.splitlines()[-1], f"written             -, {len(out)} bytes")


class Models(Viewers):
    def test_names(self):
        """Nodes without a name, and with the name of another node, are named after their first outputs, also in the copy."""
        made = models.model(
            [helper.make_node("MatMul", ["x", "W"], ["a"]), helper.make_node("Relu", ["a"], ["b"], name="same"),
             helper.make_node("MatMul", ["b", "V"], ["c"], name="same"), helper.make_node("Tanh", ["c"], ["y"], name="a")],
            [models.tensor("x", 1, 8)], [models.tensor("y", 1, 6)],
            [models.constant("W", models.values(8, 8)), models.constant("V", models.values(8, 6))])
        onnx.save(made, self.dir / "m.onnx")
        data, copy = self.view("m.onnx", "--target", "c2b8")
        names = ["a_", "b", "c", "a"]
        self.assertEqual([node.name for node in copy.graph.node], names)
        self.assertEqual(list(data["cycles"]["results"]), names)
        for node, name in zip(made.graph.node, names):
            node.name = name
        self.assertEqual(without_properties(copy), made)

    def test_functions(self):
        """A call has the figures of the nodes of its function."""
        made = models.model([helper.make_node("Layer", ["x"], ["h"], name="call", domain="test"),
                             helper.make_node("Relu", ["h"], ["y"], name="act")],
                            [models.tensor("x", 1, 8)], [models.tensor("y", 1, 6)])
        made.ir_version = 8
        made.opset_import.append(helper.make_opsetid("test", 1))
        weights = helper.make_node("Constant", [], ["w"], value=models.constant("w", models.values(8, 6)))
        made.functions.append(helper.make_function("test", "Layer", ["i"], ["o"],
                                                   [weights, helper.make_node("MatMul", ["i", "w"], ["t"]),
                                                    helper.make_node("Tanh", ["t"], ["o"])], [helper.make_opsetid("", 13)]))
        onnx.save(made, self.dir / "m.onnx")
        data, copy = self.view("m.onnx", "--target", "c2b8")
        self.ok("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice")
        layers = [one for one in json.loads(self.ok("profile", "m.sluice", "--json"))["layers"] if 0 in one["nodes"]]
        self.assertGreater(len(layers), 0)
        self.assertEqual(data["rows"]["results"]["call"]["value"], sum(layer["rows"] for layer in layers))
        self.assertEqual(without_properties(copy), made)

    def test_cut(self):
        """Of a model that is cut, the nodes of the part have figures."""
        data, copy = self.view(DIGITS, "--target", "c2b8", "--inputs", "fc1.relu", "--outputs", "fc2.relu")
        self.assertEqual(set(data["cycles"]["results"]), {"fc2", "relu2"})
        self.assertEqual(without_properties(copy), without_properties(onnx.load(DIGITS)))

    def test_external_data(self):
        """The copy has the weights inside; no file of weights is overwritten."""
        made = models.dense()
        onnx.save(made, str(self.dir / "m.onnx"), save_as_external_data=True, location="w.bin", size_threshold=0)
        _, copy = self.view("m.onnx", "--target", "c2b8")
        plain = models.dense()
        self.assertEqual({one.name: onnx.numpy_helper.to_array(one).tobytes() for one in copy.graph.initializer},
                         {one.name: onnx.numpy_helper.to_array(one).tobytes() for one in plain.graph.initializer})
        self.assertTrue(all(one.data_location == TensorProto.DEFAULT for one in copy.graph.initializer))
        for flag in ("--netron", "--output"):
            more = [] if flag == "--output" else ["-o", "r.html"]
            self.refused(USAGE, f"error[E0601]: {flag} 'w.bin' would overwrite the external data of the model\n", "report",
                         "m.onnx", "--target", "c2b8", flag, "w.bin", *(more or ["--model-explorer", "v"]))

    def test_again(self):
        """A copy of a copy has the new properties alone, and keeps those of others."""
        made = models.dense()
        helper.set_model_props(made, {"made": "by hand", "sluice.old": "1"})
        onnx.save(made, self.dir / "m.onnx")
        self.view("m.onnx", "--target", "c2b8")
        first = (self.dir / "copy.onnx").read_bytes()
        (self.dir / "m.onnx").write_bytes(first)
        _, copy = self.view("m.onnx", "--target", "c2b8")
        self.assertEqual((self.dir / "copy.onnx").read_bytes(), first)
        self.assertEqual([entry.key for entry in copy.metadata_props],
                         ["made", "sluice.target", "sluice.cycles", "sluice.compiler", "sluice.options"])

    def test_stream(self):
        nodes = [helper.make_node("Conv", ["x", "K"], ["c"], name="conv"), helper.make_node("Relu", ["c"], ["y"], name="act")]
        onnx.save(models.model(nodes, [models.tensor("x", 1, 4, 16)], [models.tensor("y", 1, 4, 14)],
                               [models.constant("K", models.values(4, 4, 3))]), self.dir / "m.onnx")
        np.savez(self.dir / "x.npz", x=models.values(1, 4, 16))
        code, _, err = self.sluice("report", "m.onnx", "--target", "c2b8", "--stream", "x=2", "--data", "x.npz", "-o", "r.html",
                                   "--model-explorer", "v")
        self.assertEqual(code, 0, err)
        self.assertIn("note: no errors of nodes: with --stream, the program has parts of their results\n", err)
        self.assertEqual({path.name for path in self.dir.glob("v.*")}, {f"v.{figure}.json" for figure in FIGURES})


class Refused(Viewers):
    def setUp(self):
        super().setUp()
        self.compiled()

    def wrong(self, message, *args, code="E0601"):
        self.refused(USAGE, f"error[{code}]: {message}\n", "report", *args)

    def test_arguments(self):
        for flag in ("--model-explorer", "--netron"):
            self.wrong(f"{flag} is empty, allowed: a file name{' or -' if flag == '--netron' else ''}", "good.onnx", flag, "")
            self.wrong(f"{flag} needs a model, but 'good.sluice' is a compiled program", "good.sluice", flag, "v")
            self.save("m.mlir", b"")
            self.wrong(f"{flag} needs an ONNX model, but 'm.mlir' is textual IR", "m.mlir", flag, "v")
        self.wrong("--model-explorer writes several files, allowed: the beginning of their names", "good.onnx",
                   "--model-explorer", "-")
        self.wrong("--netron './good.onnx' would overwrite the model", "good.onnx", "--netron", "./good.onnx")
        self.wrong("--netron 'x.npz' would overwrite the --data file", "good.onnx", "--data", "x.npz", "--netron", "x.npz")
        self.save("v.rows.json", b"old")
        self.wrong("--model-explorer 'v.rows.json' would overwrite the --data file", "good.onnx", "--data", "v.rows.json",
                   "--model-explorer", "v")
        self.wrong("--output and --netron both write 'r'; give one another file name", "good.onnx", "-o", "r", "--netron", "r")
        self.wrong("--model-explorer and --json both write 'v.cores.json'; give one another file name", "good.onnx",
                   "--model-explorer", "v", "--json=v.cores.json")
        self.wrong("--output and --netron both write to standard output; give one a file name", "good.onnx", "-o", "-",
                   "--netron", "-")

    def test_output(self):
        """Where one file cannot be written, none is."""
        for flag, name in (("--netron", "no/c.onnx"), ("--model-explorer", "no/v")):
            shown = name if flag == "--netron" else "no/v.cycles.json"
            self.wrong(f"cannot write '{shown}': No such file or directory", "good.onnx", "--target", "c2b8", flag, name, "-o",
                       "r.html", code="E0516")
        self.refused(MALFORMED, "error[E0101]: cannot open 'no.onnx': No such file or directory\n  --> no.onnx\n", "report",
                     "no.onnx", "--netron", "c.onnx")


if __name__ == "__main__":
    main(2)
