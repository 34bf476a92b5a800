#!/usr/bin/env python3
"""sluice report --netron: the newer ONNX package reads the properties of the nodes, its checker accepts the copy, and
onnxruntime computes the same bits from it.

usage: report_copy_test.py SLUICE SOURCE_FOLDER [unittest arguments]
"""
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

from folder import Folder, main

DIGITS = Path(sys.argv[2]).resolve() / "tools/digits/digits.onnx"


class Copy(Folder):
    def test_copy(self):
        self.ok("report", DIGITS, "--target", "c2b8", "-o", "r.html", "--netron", "copy.onnx")
        copy = onnx.load(self.dir / "copy.onnx")
        onnx.checker.check_model(copy, full_check=True)
        properties = {node.name: {entry.key: entry.value for entry in node.metadata_props} for node in copy.graph.node}
        self.assertEqual(properties["fc3"]["sluice.layer"], "fc3 (Gemm)")
        self.assertEqual(properties["fc3"]["sluice.cycles"], "34")
        original = onnx.load(DIGITS)
        for model in (copy, original):
            for entry in [entry for entry in model.metadata_props if entry.key.startswith("sluice.")]:
                model.metadata_props.remove(entry)
            for node in model.graph.node:
                del node.metadata_props[:]
        self.assertEqual(copy, original)
        x = np.random.default_rng(0).uniform(0, 16, (1, 64)).astype(np.float32)
        results = [onnxruntime.InferenceSession(str(path)).run(None, {"pixels": x})[0] for path in
                   (DIGITS, self.dir / "copy.onnx")]
        np.testing.assert_array_equal(*results)


if __name__ == "__main__":
    main(2)
