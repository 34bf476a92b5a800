#!/usr/bin/env python3
"""The JSON of every command against docs/json.schema.json, which must name every
member: here, unlike for a user, one that it does not name is an error.

usage: schema_test.py SLUICE SOURCE_FOLDER [unittest arguments]
"""
import json
import sys
from pathlib import Path

import jsonschema
import numpy as np
import onnx
from onnx import numpy_helper

import bad_models as models
from folder import Folder, main

SCHEMA = json.loads((Path(sys.argv.pop(2)) / "docs/json.schema.json").read_text())


def strict(schema):
    """The schema, with no members but those that it names."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: strict(value) for name, value in schema.items()}
    if "properties" in found:
        found["additionalProperties"] = False
    return found


DEFINITIONS = strict(SCHEMA["$defs"])


def errors(name, value):
    validator = jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": DEFINITIONS})
    return [f"{'/'.join(map(str, error.absolute_path))}: {error.message}" for error in validator.iter_errors(value)]


class Schema(Folder):
    def valid(self, name, *command, code=0):
        """The command's JSON has the shape `name`, and that of the whole schema; returns it."""
        found, out, err = self.sluice(*command, "--json")
        self.assertEqual(found, code, err)
        value = json.loads(out)
        self.assertEqual(errors(name, value), [])
        jsonschema.Draft202012Validator(SCHEMA).validate(value)
        return value

    def setUp(self):
        super().setUp()
        onnx.save(models.dense(), self.dir / "m.onnx")
        self.ok("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice")

    def test_schema(self):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)

    def test_that_the_test_can_fail(self):
        version = self.valid("version", "version")
        self.assertTrue(errors("version", {**version, "more": 1}))
        del version["isa"]
        self.assertTrue(errors("version", version))
        self.assertTrue(errors("check", version))

    def test_every_command_has_a_definition(self):
        text = self.ok("--help")
        commands = [line.split()[0] for line in text.split("Subcommands:\n")[1].splitlines() if line.startswith("  ")
                    and not line.startswith("   ")]
        self.assertGreater(len(commands), 8)
        self.assertEqual(set(commands) - set(DEFINITIONS), set())

    def test_models(self):
        self.valid("compile", "compile", "m.onnx", "--target", "c2b8", "-o", "n.sluice")
        self.valid("compile", "compile", "m.onnx", "--target", "c2b8", "-o", "n.sluice", "--outputs", "h", "--rest", "r.onnx")
        self.valid("compile", "compile", "m.onnx", "--target", "c2b8", "-o", "n.sluice", "--require", "cycles<=1, memory<=90%", code=1)
        self.valid("diff", "diff", "m.sluice", "m.onnx", "--target", "c2b8", "--core-partition", "fc=0")
        self.valid("bench", "bench", "m.sluice", "--engine", "vm", "--require", "cycles<=1", code=1)
        self.valid("compare", "compare", "m.onnx", "--target", "c2b8", "--require", "error<=0%", code=1)
        self.valid("check", "check", "m.onnx", "--target", "c2b8", "--explain-layout")
        self.valid("plan", "explain", "--plan", "m.onnx", "--target", "c2b8")
        self.valid("report", "report", "m.onnx", "--target", "c2b8", "-o", "m.html")
        self.valid("report", "report", "m.sluice", "-o", "m.html")
        self.valid("report", "report", "m.onnx", "--target", "c2b8", "-o", "m.html", "--model-explorer", "m", "--netron", "n.onnx")
        self.valid("index_space", "explain", "--index-space", "m.onnx", "--target", "c2b8")
        onnx.save(models.two_activations(), self.dir / "two.onnx")
        found = self.valid("check", "check", "two.onnx", "--target", "c2b8", "--data-dim", "x=0", code=3)
        self.assertTrue(found["errors"])
        self.valid("reduce", "reduce", "two.onnx", "--target", "c2b8", "--data-dim", "x=0")
        self.valid("failure", "compile", "two.onnx", "--target", "c2b8", "--data-dim", "x=0", "-o", "t.sluice", code=3)

    def test_failures(self):
        self.valid("failure", "frobnicate", code=2)
        self.valid("failure", "check", "no.onnx", "--input-shape", "x", code=2)
        self.valid("failure", "inspect", "no.sluice", code=5)

    def test_programs(self):
        self.valid("inspect", "inspect", "m.sluice")
        self.valid("inspect", "inspect", "m.sluice", "--asm", "--map", "--row", "0:0", "--element", "x[0,0]")
        self.valid("inspect", "inspect", "m.sluice", "--io", "--memory", "--sections")

    def test_runs(self):
        run = ("run", "m.sluice", "--engine", "vm")
        self.valid("run", *run, "--input", "x=zeros", "--counters")
        np.save(self.dir / "y.npy", np.full((1, 6), np.inf, np.float32))
        found = self.valid("run", *run, "--input", "x=random:1", "--expect", "y=@y.npy", code=1)
        self.assertEqual(found["outputs"][0]["max_abs_error"], "inf")
        for i in range(2):
            folder = self.dir / f"sets/test_data_set_{i}"
            folder.mkdir(parents=True)
            for kind, name, size in (("input", "x", 8), ("output", "y", 6)):
                data = numpy_helper.from_array(np.full((1, size), 1e39 if i else 0, np.float64), name)
                (folder / f"{kind}_0.pb").write_bytes(data.SerializeToString())
        found = self.valid("run", *run, "--data-set", "sets", code=1)
        self.assertEqual((len(found["outputs"][0]["sets"]), len(found["warnings"])), (2, 1))
        self.valid("bench", "bench", "m.sluice", "--engine", "vm")
        self.valid("bench", "bench", "m.sluice", "--engine", "vm", "--spacing", "spaced")
        self.valid("profile", "profile", "m.sluice", "--engine", "vm")
        self.valid("profile", "profile", "m.sluice", "--engine", "vm", "--spacing", "contiguous", "--by", "core")

    def test_layers(self):
        compare = ("compare", "m.onnx", "--target", "c2b8")
        self.valid("compare", *compare)
        np.savez(self.dir / "x.npz", x=np.ones((2, 1, 8), np.float32))
        np.savez(self.dir / "y.npz", y=np.full((2, 1, 6), np.inf, np.float32))
        np.save(self.dir / "labels.npy", np.array([1, 2]))
        found = self.valid("compare", *compare, "--data", "x.npz", "--labels", "labels.npy")
        self.assertEqual(found["accuracy"]["labels"], 2)
        self.valid("compare", *compare, "--data", "x.npz", "--against", "y.npz", code=1)

    def test_tables(self):
        self.valid("ops", "ops")
        self.valid("ops", "ops", "--op", "Gemm")
        self.valid("targets", "targets")
        self.valid("targets", "targets", "--show", "c2b8")
        self.valid("targets", "targets", "--area")
        self.valid("targets", "targets", "--show", "c2b8", "--area")
        self.valid("explain", "explain")
        self.valid("explain", "explain", "E0302")
        self.valid("version", "version")

    def test_both_engines(self):
        if "c2b8" not in self.valid("version", "version")["engines"]["rtl"]:
            self.skipTest("this build has no model of c2b8")
        self.assertTrue(self.valid("run", "run", "m.sluice", "--engine", "both", "--input", "x=random:1")["equal"])
        self.assertTrue(self.valid("bench", "bench", "m.sluice", "--engine", "both", "--spacing", "spaced")["equal"])
        self.assertTrue(self.valid("profile", "profile", "m.sluice", "--engine", "both")["equal"])


if __name__ == "__main__":
    main()
