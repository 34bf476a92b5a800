"""The base of the tests of refused input. Commands run in a folder of their own,
so that paths in the messages are short."""
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

import onnx

import bad_models as models

SLUICE = os.path.abspath(sys.argv[1])
USAGE, REFUSED, TOO_BIG, MALFORMED, INTERNAL = 2, 3, 4, 5, 6


class Refusal(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.outside = Path(folder.name)
        self.dir = self.outside / "work"
        self.dir.mkdir()
        self.old_output = b"the output of an earlier run"

    def sluice(self, *args):
        done = subprocess.run([SLUICE, *map(str, args)], cwd=self.dir, capture_output=True, timeout=300, check=False)
        return done.returncode, done.stdout, done.stderr.decode()

    def refused(self, code, text, *args):
        """The command says exactly `text`, ends with `code` and changes no file."""
        def files():
            return {p.name: p.read_bytes() for p in self.dir.iterdir() if p.is_file()}
        before = files()
        found, out, err = self.sluice(*args)
        self.assertEqual(err, textwrap.dedent(text).lstrip("\n"))
        self.assertEqual((found, out), (code, b""))
        self.assertEqual(files(), before)

    def compile_refused(self, code, text, proto=None, file="m.onnx", flags=()):
        """Compiling is refused, where there is no output file and where there is one; so is checking."""
        if proto is not None:
            onnx.save(proto, self.dir / file)
        arguments = [file, "--target", "c2b8", *flags]
        for name in ("new.sluice", "old.sluice"):
            if name.startswith("old"):
                (self.dir / name).write_bytes(self.old_output)
            self.refused(code, text, "compile", *arguments, "-o", name)
        self.assertFalse((self.dir / "new.sluice").exists())
        self.refused(code, text, "check", *arguments)

    def save(self, name, data):
        (self.dir / name).write_bytes(data)

    def compiled(self):
        onnx.save(models.dense(), self.dir / "good.onnx")
        code, _, err = self.sluice("compile", "good.onnx", "--target", "c2b8", "-o", "good.sluice")
        self.assertEqual((code, err), (0, ""))
        return (self.dir / "good.sluice").read_bytes()


def main():
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
