#!/usr/bin/env python3
"""sluice sweep on Dask workers: two workers, one of which is killed, give the result of a sweep on one machine; each gets a model once;
a scheduler that ends, and a worker with another version.

usage: sweep_dask_test.py FOLDER_OF_THE_PACKAGE [unittest arguments]
"""
import json
import os
import sys
import unittest

from dask_base import DaskTest

SLOW = "models: [dense.onnx, sensors.onnx, slow0.onnx, slow1.onnx, slow2.onnx, once.onnx]\ntargets: [c2b8, c6b32]"


class Workers(DaskTest):
    def setUp(self):
        super().setUp()
        self.write("s.yaml", SLOW)

    def test_killed_worker(self):
        workers = [self.worker(name) for name in ("first", "second")]
        process = self.begin("-o", "dask")
        self.until(lambda: all(self.compiled_by(name) >= 2 for name in ("first", "second")))
        workers[0].kill()
        _, err = process.communicate(timeout=120)
        self.assertEqual((process.returncode, err), (0, ""))
        lines = self.log.read_text().splitlines()
        self.assertGreater(self.compiled_by("second"), self.compiled_by("first"))
        files = {} # the versions of each file that a worker has
        for line in lines:
            files.setdefault(line.split()[-1], set()).add(tuple(line.split()[1:-1]))
        self.assertEqual({path: len(versions) for path, versions in files.items()}, dict.fromkeys(files, 1))
        self.assertEqual({path.split("/")[-1] for path in files}, {"dense.onnx", "sensors.onnx", "once.onnx", "slow0.onnx", "slow1.onnx",
                                                                    "slow2.onnx"})
        self.assertEqual(self.sweep("s.yaml", "-o", "local")[0], 0)
        self.assertEqual(self.result("dask"), self.result("local"))
        self.assertEqual(len((self.dir / "dask/points.jsonl").read_text().splitlines()), 12)

    def test_scheduler_ends(self):
        """What is finished stays, and another run goes on."""
        self.worker("only")
        process = self.begin("-o", "out")
        path = self.dir / "out/points.jsonl"
        self.until(lambda: path.exists() and path.read_text().count("\n") >= 2)
        self.scheduler.kill()
        _, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, err),
                         (2, f"error[E0621]: lost the Dask scheduler at '{self.address}'; type the command again to go on\n"))
        known = path.read_text().count("\n")
        self.assertEqual(self.sweep("s.yaml", "-o", "out")[0], 0)
        self.assertGreater(known, 1)
        self.assertEqual(len(path.read_text().splitlines()), 12)

    def test_other_version(self):
        """A worker with another version of the command computes nothing."""
        other = self.dir / "other"
        other.write_text("#!/bin/sh\necho '{\"version\": \"0.0.1\"}'\n")
        other.chmod(0o755)
        self.worker("old", SLUICE=str(other))
        self.write("s.yaml", "models: dense.onnx\ntargets: c2b8")
        process = self.begin("-o", "out", "--retries", "1")
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, err), (1, ""))
        self.assertEqual(self.rows("out")[0]["reason"], "the worker has sluice 0.0.1, the sweep needs 0.1.0")
        self.assertEqual(json.loads((self.dir / "out/points.jsonl").read_text())["attempts"], 2)

    def test_no_scheduler(self):
        code, out, err = self.sweep("s.yaml", "-o", "out", "--dask", "tcp://127.0.0.1:1")
        self.assertEqual((code, out), (2, ""))
        self.assertRegex(err, r"^error\[E0621\]: cannot connect to the Dask scheduler at 'tcp://127.0.0.1:1': .*\n$")


if __name__ == "__main__":
    os.environ.pop("PYTHONPATH", None)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
