"""The base of the tests of refused input."""
import re
import textwrap

import onnx

import bad_models as models
from folder import Folder

USAGE, REFUSED, TOO_BIG, MALFORMED, INTERNAL = 2, 3, 4, 5, 6
LEGEND = ("note: '!' marks the data dimension, the axis that lies along the hardware lanes; "
          "see 'sluice explain {}'\n")
REPAIRED = "compiles with --apply-fixes: "
LONG = ("--fit-seconds", "600") # the search for a target with room ends before


class Refusal(Folder):
    old_output = b"the output of an earlier run"

    def refused(self, code, text, *args):
        """The command says exactly `text`, ends with `code` and changes no file. What it says is an error, but for the
        line that tells what --apply-fixes would do."""
        def files():
            return {p.name: p.read_bytes() for p in self.dir.iterdir() if p.is_file()}
        before = files()
        lines = textwrap.dedent(text).lstrip("\n").splitlines(True)
        found, out, err = self.sluice(*args)
        self.assertEqual(err, "".join(line for line in lines if not line.startswith(REPAIRED)))
        self.assertEqual((found, out.decode()), (code, "".join(line for line in lines if line.startswith(REPAIRED))))
        self.assertEqual(files(), before)

    def compile_refused(self, code, text, proto=None, file="m.onnx", flags=(), target="c2b8"):
        """Compiling is refused, where there is no output file and where there is one; so is checking, which also tells
        what --apply-fixes would do."""
        if proto is not None:
            onnx.save(proto, self.dir / file)
        arguments = [file, "--target", target, *flags]
        for name in ("new.sluice", "old.sluice"):
            if name.startswith("old"):
                (self.dir / name).write_bytes(self.old_output)
            self.refused(code, re.sub(f"^ *{REPAIRED}.*\n", "", text, flags=re.M), "compile", *arguments, "-o", name)
        self.assertFalse((self.dir / "new.sluice").exists())
        self.refused(code, text, "check", *arguments)

    def layout_refused(self, text, proto, flags=()):
        """Compiling is refused with errors of the data dimension, behind which its mark is explained."""
        code, *_ = re.findall(r"error\[(E03\d\d)\]", text)
        self.compile_refused(REFUSED, textwrap.dedent(text) + LEGEND.format(code), proto, flags=flags)

    def save(self, name, data):
        (self.dir / name).write_bytes(data)

    def compiled(self):
        onnx.save(models.dense(), self.dir / "good.onnx")
        self.ok("compile", "good.onnx", "--target", "c2b8", "-o", "good.sluice")
        return (self.dir / "good.sluice").read_bytes()
