"""The base of the tests of commands: they run in a folder of their own, so that
paths in the messages are short."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SLUICE = os.path.abspath(sys.argv[1])


class Folder(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.outside = Path(folder.name)
        self.dir = self.outside / "work"
        self.dir.mkdir()

    def sluice(self, *args):
        """Exit code, standard output as bytes, standard error as text."""
        done = subprocess.run([SLUICE, *map(str, args)], cwd=self.dir, capture_output=True, timeout=3600, check=False)
        return done.returncode, done.stdout, done.stderr.decode()

    def ok(self, *args):
        """What the command prints; it complains of nothing."""
        code, out, err = self.sluice(*args)
        self.assertEqual((code, err), (0, ""))
        return out.decode()

    def right(self, program, target="c2b8", output="y", more=()):
        """The program computes y.npy, the given output, from x.npy; on both engines, which agree, where the build has both: one with
        sanitizers has no rtl. `more` are flags for other inputs and outputs."""
        has = target in json.loads(self.ok("version", "--json"))["engines"]["rtl"]
        out = self.ok("run", program, "--engine", "both" if has else "vm", "--input", "x=@x.npy", "--expect", f"{output}=@y.npy",
                      *more)
        if has:
            self.assertIn("engines agree: equal bits, equal cycles\n", out)


def main(arguments=1):
    """Runs the tests of the script, which takes so many arguments of its own."""
    unittest.main(argv=sys.argv[:1] + sys.argv[1 + arguments:])
