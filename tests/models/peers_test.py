#!/usr/bin/env python3
"""tools/peers.py on one network: its table, tools that are absent, and a busy machine; and whether the table of docs/performance.md has
the cycles and errors of docs/gallery.md.

usage: peers_test.py SLUICE SOURCE_FOLDER [unittest arguments]      (python of tools/test_environment.sh)
"""
import re
import subprocess
import sys
import unittest
from unittest import mock
from pathlib import Path

SLUICE, SOURCE = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
PAGE, GALLERY = (SOURCE / "docs/performance.md").read_text(), (SOURCE / "docs/gallery.md").read_text()
FIGURE = r"[\d,]+\.\d"


def peers(*words):
    done = subprocess.run([sys.executable, "-B", SOURCE / "tools/peers.py", SLUICE, *words], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


class Peers(unittest.TestCase):
    def test_one_network(self):
        code, out, err = peers("tcn", "--runs", "20", "--seconds", "2")
        self.assertEqual(code, 0, err)
        ours, *others = out.splitlines()
        self.assertRegex(ours, r"^\| TCN \| Sluice \| \d+\.\d \| 0\.\d\d \| 0\.76 \| 0\.76 \| 228 cycles at 300 MHz, nominal \|$")
        self.assertRegex(others[0], rf"^\| \| onnxruntime \| \d+\.\d \| reference \| {FIGURE} \| {FIGURE} \| a sequence, "
                                    r"divided by its 64 steps \|$")
        self.assertEqual(others[1:], [f"| | {name} | | | | | absent: {package} is not installed |"
                                      for name, package in (("IREE", "iree-base-compiler"), ("TVM", "apache-tvm"))])

    def test_time_ends_the_runs(self):
        code, out, err = peers("tcn", "--runs", "10000000", "--seconds", "0.2")
        self.assertEqual(code, 0, err)
        runs = re.search(r"\| ([\d,]+) runs; a sequence", out.splitlines()[1])
        self.assertLess(int(runs[1].replace(",", "")), 10_000_000)

    def test_wrong_words(self):
        for words, message in ((["lenet"], "unknown network 'lenet', allowed: ds_cnn, mobilenet, "),
                               (["--runs", "0"], "--runs and --seconds must be positive")):
            code, _, err = peers(*words)
            self.assertEqual(code, 2)
            self.assertIn(message, err)

    def test_busy_machine(self):
        """A table is not written while other programs use the processors."""
        sys.path.insert(0, str(SOURCE / "tools"))
        import peers as script # pylint: disable=import-outside-toplevel
        with mock.patch.object(sys, "argv", ["peers.py", str(SLUICE), "tcn", "--write"]), \
                mock.patch.object(script.os, "getloadavg", return_value=(1.5, 0, 0)), self.assertRaises(SystemExit) as ended:
            script.main()
        self.assertEqual(ended.exception.code, "error: other programs use the processors (load 1.5), allowed: up to 0.5; wait, or write "
                                               "with --anyway")

    def test_page(self):
        shown = {line.split("|")[1].strip(): line for line in PAGE.splitlines() if "| Sluice |" in line and "cycles at" in line}
        listed = re.findall(r"^\| \[([^]]*)\]\(#[^)]*\) \|.*\| ([\d,]+) \| [\d.]+ \| [\d,]+ \| ([\d.]+) \|$", GALLERY, re.MULTILINE)
        self.assertEqual(len(listed), 12)
        self.assertEqual(list(shown), [title for title, *_ in listed])
        for title, cycles, error in listed:
            self.assertIn(f"| {cycles} cycles at 300 MHz, nominal |", shown[title])
            self.assertAlmostEqual(float(shown[title].split("|")[4]), float(error), delta=0.02)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
