#!/usr/bin/env python3
"""A sweep of 200 points over two Dask workers. A worker is killed twice, then the scheduler, and the sweep is started again. Some
points are rejected, crash, hang or take longer than 30 s. The result must be that of a sweep without Dask. Prints its figures.

usage: tests/support/with_dask.sh tests/python/sweep_long.py FOLDER_OF_THE_PACKAGE

By hand: it takes nine minutes, most of it in one compilation that hangs. sweep_dask_test.py is the share of it that ctest runs.
"""
import collections
import json
import os
import re
import subprocess
import sys
import time
import unittest

import numpy as np
import onnx
from onnx import helper

import models
from dask_base import DaskTest
from sweep_base import COMMAND

TARGETS = ("c2b8", "c6b32", "c6b32-deep", "c3b64")
TIMEOUT, RETRIES = 100, 1
# As that of sweep_base, but two models are slow or hang on one target only. Each compilation that ends by itself is a line in
# `times`: begin, end, exit code and arguments.
FAULTY = """#!/bin/sh
[ "$1" = compile ] || exec @COMMAND@ "$@"
model=${2##*/}
begin=$(date +%s.%N)
echo "$model" >> @LOG@
case "$model $*" in
crash.onnx*) kill -SEGV $$ ;;
hang.onnx*c2b8*) sleep 300 & echo $! >> @LOG@.pids; wait ;;
damage.onnx*) for word; do case $word in --json=*) printf '{"schema": 1, "latency": {"spa' > "${word#--json=}" ;; esac; done; exit 0 ;;
once.onnx*) mkdir @LOG@.once 2> /dev/null && kill -SEGV $$ ;;
long.onnx*c2b8*) sleep 31 ;;
esac
@COMMAND@ "$@"
code=$?
echo "$begin $(date +%s.%N) $code $*" >> @LOG@.times
exit $code
"""


def network(seed):
    """Returns dense layers of random widths and activations, some with a sum of two layers."""
    random = np.random.default_rng(seed)
    widths = random.integers(4, 80, random.integers(2, 7)).tolist()
    nodes, constants, value = [], [], "x"
    for i, (inner, outer) in enumerate(zip(widths, widths[1:])):
        constants += [(f"w{i}", random.standard_normal((inner, outer)).astype(np.float32) / inner ** 0.5),
                      (f"v{i}", random.standard_normal((outer, outer)).astype(np.float32) / outer ** 0.5)]
        nodes += [helper.make_node("MatMul", [value, f"w{i}"], [f"h{i}"]),
                  helper.make_node(str(random.choice(["Relu", "Tanh", "Sigmoid", "Elu"])), [f"h{i}"], [f"a{i}"])]
        value = f"a{i}"
        if random.random() < 0.5:
            nodes += [helper.make_node("MatMul", [value, f"v{i}"], [f"r{i}"]), helper.make_node("Add", [value, f"r{i}"], [f"s{i}"])]
            value = f"s{i}"
    nodes.append(helper.make_node("Identity", [value], ["y"]))
    return models.model(nodes, {"x": [1, widths[0]]}, {"y": [1, widths[-1]]}, constants, f"n{seed}")


class Long(DaskTest):
    def setUp(self):
        super().setUp()
        names = [f"n{i:02d}" for i in range(20)]
        for i, name in enumerate(names):
            onnx.save(network(i), self.dir / f"{name}.onnx")
        dense = models.dense()[0]
        dense.graph.name = "long"
        onnx.save(dense, self.dir / "long.onnx")
        (self.dir / "faulty").write_text(FAULTY.replace("@LOG@", str(self.log)).replace("@COMMAND@", str(COMMAND)))
        both = {"effort": ["fast", "default"]}
        entries = [{"path": f"{name}.onnx", "options": both} for name in (*names, "sensors", "wide")]
        one = [{"path": f"{name}.onnx"} for name in ("long", "crash", "damage", "once", "hang", "slow0")]
        entries[4:4] = one[:4]
        entries[12:12] = one[4:]
        self.write("s.yaml", json.dumps({"models": entries, "targets": TARGETS})) # JSON is YAML
        self.addCleanup(self.end_hanging)

    def end_hanging(self):
        path = self.log.with_name("log.pids")
        for pid in path.read_text().split() if path.exists() else ():
            try:
                with open(f"/proc/{pid}/cmdline", encoding="utf-8") as file:
                    if file.read().split("\0")[:2] == ["sleep", "300"]:
                        os.kill(int(pid), 9)
            except OSError:
                pass

    def finished(self):
        path = self.dir / "dask/points.jsonl"
        return path.read_text().splitlines() if path.exists() else []

    def say(self, text):
        print(f"{time.monotonic() - self.start_time:6.0f} s  {text}", flush=True)

    def ended(self):
        """Begin, seconds, model, target and effort of each compilation that ended by itself."""
        lines = self.log.with_name("log.times").read_text()
        return [(float(begin), float(end) - float(begin), model, target, effort) for begin, end, model, target, effort in re.findall(
            r"^(\S+) (\S+) \d+ compile \S*/(\w+)\.onnx --target (\S+)((?: --effort \w+)?) -o", lines, re.MULTILINE)]

    def test_long(self):
        self.start_time = time.monotonic()
        arguments = "-o", "dask", "--timeout", str(TIMEOUT), "--retries", str(RETRIES)
        workers = {name: self.worker(name) for name in ("first", "second")}
        sweep = self.begin(*arguments)
        for count in (40, 80):
            self.until(lambda count=count: len(self.finished()) >= count, 1800)
            workers["first"].kill()
            workers["first"].wait()
            self.say(f"killed worker 'first' with {len(self.finished())} points finished")
            workers["first"] = self.worker("first")
        self.until(lambda: len(self.finished()) >= 120, 1800)
        self.scheduler.kill()
        self.say(f"killed the scheduler with {len(self.finished())} points finished")
        _, err = sweep.communicate(timeout=120)
        self.assertEqual((sweep.returncode, err),
                         (2, f"error[E0621]: lost the Dask scheduler at '{self.address}'; type the command again to go on\n"))
        known = {json.loads(line)["key"] for line in self.finished()}
        begun, resumed = len(self.compilations()), time.time()
        self.say(f"the sweep ended with {len(known)} points in its file; {begun} compilations begun")
        for worker in workers.values():
            worker.kill()
            worker.wait()
        self.start_scheduler()
        for name in ("third", "fourth"):
            self.worker(name)
        sweep = self.begin(*arguments)
        out, err = sweep.communicate(timeout=3600)
        self.say(f"resumed: {out.splitlines()[0]}; {len(self.compilations()) - begun} compilations begun")
        self.assertEqual((sweep.returncode, err), (1, ""))
        points = [json.loads(line) for line in self.finished()]
        self.assertEqual((len(points), len({point["key"] for point in points})), (200, 200))
        first = {(one["model"], one["target"], one["options"]) for one in points[:len(known)]}
        self.assertEqual({one["key"] for one in points[:len(known)]}, known)
        for begin, _, model, target, effort in self.ended():
            if begin > resumed: # no point that was known is compiled again
                self.assertNotIn((model, target, effort.strip()), first)
        seconds = sorted((one[1] for one in self.ended()), reverse=True)
        self.say(f"{len(seconds)} compilations ended by themselves, the longest {', '.join(f'{one:.0f}' for one in seconds[:5])} s, "
                 f"the median {seconds[len(seconds) // 2]:.2f} s")
        self.assertGreater(seconds[0], 30)
        reasons = collections.Counter(row["reason"] for row in self.rows("dask") if row["state"] == "failed")
        self.assertEqual(reasons, {"ended by SIGSEGV, and no readable result": 4, "exit code 0, and no readable result": 4,
                                   f"timed out after {TIMEOUT} s": 1})
        self.say(f"failed: {dict(reasons)}")
        self.end_hanging()
        (self.dir / "log.once").rmdir() # it crashes once here, too
        alone = subprocess.run(self.words("s.yaml", "-o", "local", "--jobs", "2", *arguments[2:]), cwd=self.dir, env=self.environment(),
                               capture_output=True, text=True, timeout=3600, check=False)
        self.assertEqual((alone.returncode, alone.stderr), (1, ""))
        self.say(f"without Dask: {alone.stdout.splitlines()[0]}")
        self.assertEqual(self.result("dask"), self.result("local"))
        self.say("both results are equal: sweep.csv, sweep.json and sweep.html")


if __name__ == "__main__":
    os.environ.pop("PYTHONPATH", None)
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
