#!/usr/bin/env python3
"""Files that commands write: never one that they read, and never two results in one; a file that is
replaced keeps its mode; odd names are escaped.

usage: files_test.py SLUICE [unittest arguments]
"""
import json
import os
import resource
import signal
import stat
import subprocess
import unittest

import numpy as np
import onnx

import bad_models as models
from folder import SLUICE, main
from refusal import USAGE, Refusal


class Files(Refusal):
    def setUp(self):
        super().setUp()
        onnx.save(models.dense(), self.dir / "m.onnx")
        self.ok("compile", "m.onnx", "--target", "c2b8", "-o", "p.sluice")
        np.save(self.dir / "x.npy", models.values(1, 8))
        (self.dir / "link").symlink_to("p.sluice")
        os.link(self.dir / "x.npy", self.dir / "hard.npy")

    def conflicts(self, text, *args):
        self.refused(USAGE, f"error[E0601]: {text}\n", *args)

    def test_files_that_are_read(self):
        run = ("run", "p.sluice", "--engine", "vm", "--input", "x=@x.npy")
        for flag in ("--trace", "--waves", "--save-state"):
            for name in ("p.sluice", "./p.sluice", "link"):
                self.conflicts(f"{flag} '{name}' would overwrite the program", *run, flag, name)
            self.conflicts(f"{flag} 'hard.npy' would overwrite the file of --input", *run, flag, "hard.npy")
        self.conflicts("--output 'x.npy' would overwrite the file of --input", *run, "--output", "y=@x.npy")
        self.conflicts("--output 'y.npy' would overwrite the file of --expect", *run, "--expect", "y=@y.npy",
                       "--output", "y=@y.npy")
        for flag in ("--csv", "--trace"):
            self.conflicts(f"{flag} 'p.sluice' would overwrite the program", "profile", "p.sluice", "--engine", "vm",
                           flag, "p.sluice")

    def test_json(self):
        """Nothing is written to the file, not even what is wrong."""
        for args in (("compile", "m.onnx", "--target", "c2b8", "-o", "q.sluice"), ("check", "m.onnx"),
                     ("explain", "--plan", "m.onnx")):
            self.conflicts("--json 'm.onnx' would overwrite the model", "--json=m.onnx", *args)
        for args in (("run", "p.sluice", "--engine", "vm", "--input", "x=zeros"), ("inspect", "p.sluice"),
                     ("profile", "p.sluice", "--engine", "vm")):
            self.conflicts("--json 'p.sluice' would overwrite the program", "--json=p.sluice", *args)

    def test_results_in_one_file(self):
        run = ("run", "p.sluice", "--engine", "vm", "--input", "x=zeros")
        self.conflicts("--output and --trace both write 'y.npy'; give one another file name", *run, "--output",
                       "y=@y.npy", "--trace", "y.npy")
        self.conflicts("--trace and --json both write './new'; give one another file name", "--json=./new", *run,
                       "--trace", "new")
        self.conflicts("--csv and --trace both write 'new'; give one another file name", "profile", "p.sluice",
                       "--engine", "vm", "--csv", "new", "--trace", "new")
        self.conflicts("--output and --json both write 'new'; give one another file name", "--json=new", "compile",
                       "m.onnx", "--target", "c2b8", "-o", "new")

    def test_mode(self):
        """A new file has the mode of the user's mask, one that is replaced its own."""
        program = self.dir / "p.sluice"
        for mode in (0o600, 0o640, 0o755):
            program.chmod(mode)
            self.ok("compile", "m.onnx", "--target", "c2b8", "-o", "p.sluice")
            self.assertEqual(stat.S_IMODE(program.stat().st_mode), mode)

    @unittest.skipUnless("c2b8" in json.loads(subprocess.run([SLUICE, "version", "--json"], capture_output=True,
                                                             check=True).stdout)["engines"]["rtl"],
                         "this build has no model of c2b8")
    def test_waves(self):
        """Waveforms go where links lead, keep modes, replace no device, and say where the disk is full."""
        run = ("run", "p.sluice", "--engine", "rtl", "--input", "x=@x.npy", "--waves")
        self.ok(*run, "new.fst")
        whole = (self.dir / "new.fst").stat().st_size
        (self.dir / "old.fst").write_bytes(b"")
        (self.dir / "old.fst").chmod(0o640)
        (self.dir / "way.fst").symlink_to("old.fst")
        self.ok(*run, "way.fst")
        self.assertTrue((self.dir / "way.fst").is_symlink())
        old = (self.dir / "old.fst").stat()
        self.assertEqual(stat.S_IMODE(old.st_mode), 0o640)
        self.assertGreater(old.st_size, whole // 2)
        os.mkfifo(self.dir / "pipe")
        for name in ("pipe", "/dev/null"):
            self.refused(USAGE, f"error[E0516]: cannot write '{name}': waveforms need a regular file\n",
                         *run, name)
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
        for size in (0, 100, 4096, whole // 2, whole * 9 // 10):
            def full(size=size):
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # writing beyond the limit fails, as on a full disk
                resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            with self.subTest(size=size):
                done = subprocess.run([SLUICE, *run, "full.fst"], cwd=self.dir, capture_output=True, preexec_fn=full,
                                      check=False)
                self.assertEqual((done.returncode, done.stderr.decode()), (
                    USAGE, "error[E0516]: cannot write 'full.fst': the waveforms are incomplete; is the disk full?\n"))
                self.assertFalse((self.dir / "full.fst.hier").exists())

    def test_one_step(self):
        """Files may have one step along a new axis where --steps is given."""
        x = np.load(self.dir / "x.npy")
        np.save(self.dir / "steps.npy", x[None])
        self.ok("run", "p.sluice", "--engine", "vm", "--input", "x=@x.npy", "--output", "y=@y.npy")
        self.ok("run", "p.sluice", "--engine", "vm", "--steps", "1", "--input", "x=@steps.npy", "--output", "y=@ys.npy",
                "--expect", "y=@y.npy")
        np.testing.assert_array_equal(np.load(self.dir / "ys.npy"), np.load(self.dir / "y.npy")[None])
        self.refused(USAGE, "error[E0604]: input 'x' has shape [1, 1, 8], allowed: [1, 8]\n  --> p.sluice\n", "run",
                     "p.sluice", "--engine", "vm", "--input", "x=@steps.npy")

    def test_odd_names(self):
        name = 'a,"b"\n\x07\t=1'
        model = models.dense()
        for node in model.graph.node:
            node.name = name
        onnx.save(model, self.dir / "odd.onnx")
        self.ok("compile", "odd.onnx", "--target", "c2b8", "-o", "odd.sluice")
        csv = self.ok("profile", "odd.sluice", "--engine", "vm", "--csv", "-")
        self.assertFalse(set(csv) & {"\x07", "\t"})
        self.assertIn('a,""b""\\x0a\\x07\\x09=1', csv)
        layers = json.loads(self.ok("--json", "profile", "odd.sluice", "--engine", "vm"))["layers"]
        self.assertTrue(any(name in json.dumps(layer, ensure_ascii=False) or json.dumps(name)[1:-1] in json.dumps(layer)
                            for layer in layers))


if __name__ == "__main__":
    main()
