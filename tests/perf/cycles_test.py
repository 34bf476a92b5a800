#!/usr/bin/env python3
"""What the cycle test does with counts, and that the counts are the engine's.

usage: cycles_test.py SLUICE [unittest arguments]
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import cycles

SLUICE = sys.argv[1]


def counts(spaced, contiguous=9, period=9):
    return {"spaced": spaced, "contiguous": contiguous, "period": period}


class Cycles(unittest.TestCase):
    def test_a_rise_is_found(self):
        stored = {"c6b32": {"a": counts(100), "b": counts(50)}}
        measured = {"c6b32": {"a": counts(101), "b": counts(49)}, "c2b8": {"a": counts(7)}}
        risen, fallen, new = cycles.compare(stored, measured)
        self.assertEqual(risen, ["a on c6b32: spaced rose from 100 to 101 cycles"])
        self.assertEqual(fallen, ["b on c6b32: spaced fell from 50 to 49 cycles"])
        self.assertEqual(len(new), 3)

    def test_update_only_lowers(self):
        stored = {"c6b32": {"a": counts(100, 90), "gone": counts(1)}}
        result = cycles.lowered(stored, {"c6b32": {"a": counts(101, 80)}, "c2b8": {"n": counts(5)}})
        self.assertEqual(result, {"c6b32": {"a": counts(100, 80), "gone": counts(1)}, "c2b8": {"n": counts(5)}})

    def test_every_row_is_stored(self):
        stored = json.loads(cycles.STORED.read_text())
        self.assertEqual({t: set(names) for t, names in cycles.ROWS.items()},
                         {t: set(models) for t, models in stored.items()})

    def test_compiler_and_engine_agree(self):
        """The timing model's counts are those of the vm with data."""
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, cycles.HERE / "make_models.py", folder, "slp-256-1024", "mlp-2x512"], check=True)
            for name in ("slp-256-1024", "mlp-2x512"):
                program = f"{folder}/{name}.sluice"
                compiled = subprocess.run([SLUICE, "compile", f"{folder}/{name}.onnx", "-o", program, "--json"],
                                          check=True, capture_output=True)
                bench = subprocess.run([SLUICE, "bench", program, "--engine", "vm", "--json"], check=True,
                                       capture_output=True)
                measured = json.loads(bench.stdout)
                self.assertEqual(json.loads(compiled.stdout)["latency"], {m: measured[m] for m in cycles.MEASURES})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
