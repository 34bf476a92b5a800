"""A sweep of models that compile, that are rejected, and whose compilation crashes, hangs or returns damage."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import onnx

import models

PACKAGE = Path(sys.argv[1]).resolve()
COMMAND = PACKAGE.parents[2] / "bin/sluice"
# The command, but for the compilation of some models. Each compilation is a line in the file `log`.
FAULTY = """#!/bin/sh
for word; do
  case $word in
  */*.onnx) model=${word##*/} path=$word ;;
  --json=*) json=${word#--json=} ;;
  esac
done
if [ "$1" = compile ]; then
  echo "$model $(stat -c '%i %y' "$path") $path" >> @LOG@
  case $model in
  crash.onnx) kill -SEGV $$ ;;
  hang.onnx) sleep 300 & echo $! >> @LOG@.pids; wait ;;
  damage.onnx) printf '{"schema": 1, "latency": {"spa' > "$json"; exit 0 ;;
  once.onnx) mkdir @LOG@.once 2> /dev/null && kill -SEGV $$ ;;
  slow*) sleep 0.3 ;;
  esac
fi
exec @COMMAND@ "$@"
"""
SWEEP = """
models: [dense.onnx, sensors.onnx, wide.onnx, crash.onnx, damage.onnx, once.onnx]
targets: [c2b8, c6b32]
"""


class SweepTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)
        dense, sensors = models.dense()[0], models.sensors()[0]
        for name in ("dense", "crash", "hang", "damage", "once", *(f"slow{i}" for i in range(6))):
            dense.graph.name = name # no two files are equal: those would be one point
            onnx.save(dense, self.dir / f"{name}.onnx")
        onnx.save(sensors, self.dir / "sensors.onnx")
        onnx.save(models.dense(600)[0], self.dir / "wide.onnx")
        self.log = self.dir / "log"
        faulty = self.dir / "faulty"
        faulty.write_text(FAULTY.replace("@LOG@", str(self.log)).replace("@COMMAND@", str(COMMAND)))
        faulty.chmod(0o755)
        self.write("s.yaml", SWEEP)

    def write(self, name, text):
        (self.dir / name).write_text(text)

    def words(self, *args):
        return [sys.executable, "-B", "-m", "sluice.sweep", *map(str, args)]

    def environment(self, faulty=True):
        command = str(self.dir / "faulty") if faulty else str(COMMAND)
        return {**os.environ, "PYTHONPATH": str(PACKAGE), "SLUICE": command}

    def sweep(self, *args, faulty=True):
        """Exit code, standard output and standard error."""
        done = subprocess.run(self.words(*args), cwd=self.dir, env=self.environment(faulty), capture_output=True, text=True, timeout=300,
                              check=False)
        return done.returncode, done.stdout, done.stderr

    def result(self, folder):
        """The files of a sweep, which are the same however it came about."""
        return {name: (self.dir / folder / name).read_text() for name in ("sweep.csv", "sweep.json", "sweep.html")}

    def rows(self, folder):
        return json.loads((self.dir / folder / "sweep.json").read_text())["rows"]

    def compilations(self):
        """The models that were compiled, once for each compilation."""
        return [line.split()[0] for line in self.log.read_text().splitlines()]

    def ends(self, folder):
        """Model, target, state and code of each row."""
        return [(row["model"], row["target"], row["state"], row["code"]) for row in self.rows(folder)]


ENDS = [("dense", "c2b8", "compiled", None), ("dense", "c6b32", "compiled", None), ("sensors", "c2b8", "rejected", "E0302"),
        ("sensors", "c6b32", "rejected", "E0302"), ("wide", "c2b8", "does not fit", "E0401"), ("wide", "c6b32", "compiled", None),
        ("crash", "c2b8", "failed", None), ("crash", "c6b32", "failed", None), ("damage", "c2b8", "failed", None),
        ("damage", "c6b32", "failed", None), ("once", "c2b8", "compiled", None), ("once", "c6b32", "compiled", None)]
