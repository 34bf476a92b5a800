#!/usr/bin/env python3
"""sluice-opt --help is short, and each pass that it lists runs as printed.

usage: opt_test.py SLUICE_OPT SOURCE_FOLDER
"""
import re
import subprocess
import sys
import unittest
from pathlib import Path

OPT, SOURCE = sys.argv.pop(1), Path(sys.argv.pop(1))
PASSES = ["compiler/transforms/Passes.td", "compiler/conversion/model/Passes.td"]
OF_MLIR = ["canonicalize", "cse"]
MOST_LINES = 120

MODEL = """
func.func @main(%x: tensor<8x4xf32> {sluice.name = "x"}) -> (tensor<8x4xf32> {sluice.name = "y"}) {
  %a = sluice.map (%p = %x) : (tensor<8x4xf32>) -> tensor<8x4xf32> {
    %s = arith.addf %p, %p : f32
    sluice.yield %s
  }
  %b = sluice.map (%p = %a) : (tensor<8x4xf32>) -> tensor<8x4xf32> {
    %s = arith.mulf %p, %p : f32
    sluice.yield %s
  }
  return %b : tensor<8x4xf32>
}
"""


def opt(*flags, text=MODEL):
    """Returns the exit code, the output and the messages."""
    done = subprocess.run([OPT, *flags], input=text, capture_output=True, text=True, timeout=600, check=False)
    return done.returncode, done.stdout, done.stderr


def listed():
    """Returns the flags below the line 'Passes:', as printed."""
    lines = opt("--help")[1].splitlines()
    begin = lines.index("    Passes:") + 1
    flags = []
    for line in lines[begin:]:
        if re.match(r"  ?-", line): # the next option of the tool
            break
        if found := re.match(r" {6}(--[\w-]+) ", line):
            flags.append(found[1])
    return flags


class Help(unittest.TestCase):
    def test_lists_the_passes(self):
        text = "".join((SOURCE / path).read_text() for path in PASSES)
        declared = re.findall(r'^def \w+\s*: Pass<"([^"]+)"', text, re.MULTILINE)
        self.assertGreater(len(declared), 15)
        self.assertEqual(sorted(listed()), sorted("--" + name for name in declared + OF_MLIR))

    def test_hides_the_options_of_libraries(self):
        code, short, _ = opt("--help")
        self.assertEqual(code, 0)
        self.assertLess(len(short.splitlines()), MOST_LINES)
        long = opt("--help-hidden")[1]
        for option in ("--polly ", "--mlir-pass-statistics "):
            self.assertNotIn(option, short)
            self.assertIn(option, long)

    def test_lists_useful_options(self):
        text = opt("--help")[1]
        for option in ("--mlir-print-debuginfo", "--mlir-print-ir-after-all", "--mlir-print-ir-after-change",
                       "--mlir-print-ir-before-all", "--mlir-timing", "--pass-pipeline", "--split-input-file", "-o "):
            self.assertIn(f"  {option}", text)


class Passes(unittest.TestCase):
    def ran(self, flag, text=MODEL):
        """Returns the output of a pass that ran as printed and says that it did."""
        code, output, messages = opt(flag, "--mlir-print-ir-after-all", text=text)
        self.assertEqual(code, 0, messages)
        self.assertIn(f"({flag.removeprefix('--')})", messages)
        self.assertNotIn("error", messages)
        return output

    def test_every_listed_pass_runs_as_printed(self):
        laid_out = self.ran("--sluice-infer-data-dimension")
        others = {"--convert-sluice-to-rows": laid_out, "--plan-rows": self.ran("--convert-sluice-to-rows", laid_out)}
        for flag in listed():
            with self.subTest(flag):
                self.assertTrue(self.ran(flag, others.get(flag, MODEL)))

    def test_a_function_pass_changes_the_functions_of_a_module(self):
        self.assertEqual(MODEL.count("sluice.map"), 2)
        self.assertEqual(self.ran("--sluice-fuse-maps").count("sluice.map"), 1)

    def test_passes_run_in_the_order_of_their_flags(self):
        code, output, messages = opt("--sluice-fuse-maps", "--sluice-infer-data-dimension",
                                     "--convert-sluice-to-rows=target=c6b32", "--plan-rows")
        self.assertEqual((code, messages), (0, ""))
        self.assertIn('core.program "c6b32"', output)
        code, _, messages = opt("--convert-sluice-to-rows", "--sluice-infer-data-dimension")
        self.assertEqual(code, 1)
        self.assertIn("error: the function has no layout; run sluice-infer-data-dimension first", messages)


if __name__ == "__main__":
    unittest.main()
