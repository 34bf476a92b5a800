#!/usr/bin/env python3
"""sluice sweep on one machine: rows against `sluice compile`; points that crash, hang and return damage; a sweep that is killed and
continued; the messages, word for word.

usage: sweep_test.py FOLDER_OF_THE_PACKAGE [unittest arguments]
"""
import csv
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest
from concurrent.futures import Future
from pathlib import Path

import jsonschema
import onnx

import models
from sweep_base import COMMAND, ENDS, PACKAGE, SweepTest

sys.path.insert(0, str(PACKAGE))
from sluice.sweep.failure import Failure
from sluice.sweep.plan import read_plan
from sluice.sweep.run import outcome_of

SCHEMA = Path(__file__).resolve().parents[2] / "docs/json.schema.json"
MIXED = """
models:
- path: dense.onnx
  options: {effort: [fast, default]}
- {path: sensors.onnx, name: fixed, options: {allow-dynamic-weights: true}}
- {path: moving.onnx, options: [{stream: {x: [2, 4]}}, {data_dim: {x: 2}, check: off}]}
targets: [c2b8, big.json]
options:
- {}
- {fit_seconds: 2}
"""


class Rows(SweepTest):
    def test_ends(self):
        """Twelve points: compiled, rejected, too large, crashed, damaged, and crashed once."""
        code, out, err = self.sweep("s.yaml", "-o", "out", "--jobs", "2", "--retries", "1")
        self.assertEqual((code, err), (1, ""))
        self.assertEqual(self.ends("out"), ENDS)
        reasons = {row["model"]: row["reason"] for row in self.rows("out") if row["state"] == "failed"}
        self.assertEqual(reasons, {"crash": "ended by SIGSEGV, and no readable result",
                                   "damage": "exit code 0, and no readable result"})
        rejected = self.rows("out")[2]
        self.assertEqual(rejected["reason"], "the product contracts an axis that is not the data dimension")
        self.assertIsNone(rejected["fits"])
        self.assertIs(self.rows("out")[4]["fits"], False)
        calls = self.compilations()
        self.assertEqual({name: calls.count(f"{name}.onnx") for name in ("dense", "sensors", "wide", "crash", "damage", "once")},
                         {"dense": 2, "sensors": 2, "wide": 2, "crash": 4, "damage": 4, "once": 3})
        self.assertEqual(out.splitlines()[0], "12 points: 5 compiled, 2 rejected, 1 does not fit, 4 failed")
        self.assertIn("failed: crash c2b8: ended by SIGSEGV, and no readable result\n", out)
        self.assertEqual(out.splitlines()[-3:], ["written out/sweep.csv", "written out/sweep.json", "written out/sweep.html"])
        self.assertEqual(sorted(path.name for path in (self.dir / "out").iterdir()),
                         ["points.jsonl", "sweep.csv", "sweep.html", "sweep.json"])
        self.check_csv()

    def check_csv(self):
        """The CSV has the values of the JSON."""
        with (self.dir / "out/sweep.csv").open(newline="") as file:
            table = list(csv.DictReader(file))
        self.assertEqual(table, [{name: "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
                                  for name, value in row.items()} for row in self.rows("out")])

    def test_figures(self):
        """Every figure is that of `sluice compile` and the target."""
        onnx.save(models.moving_sum(), self.dir / "moving.onnx")
        target = json.loads(subprocess.run([COMMAND, "targets", "--show", "c2b8"], capture_output=True, text=True, check=True).stdout)
        self.write("big.json", json.dumps({**target, "name": "big", "cores": 4, "rtl": "big", "clock_mhz": 250,
                                           "clock_source": "routed on X"}))
        self.write("s.yaml", MIXED)
        code, out, err = self.sweep("s.yaml", "-o", "out", faulty=False)
        self.assertEqual((code, err), (0, ""), out)
        rows = self.rows("out")
        self.assertEqual(len(rows), (2 + 1 + 2) * 2 * 2)
        files = {"dense": "dense.onnx", "fixed": "sensors.onnx", "moving": "moving.onnx"}
        for row in rows:
            with self.subTest(row["model"] + row["target"] + row["options"]):
                done = subprocess.run([COMMAND, "compile", files[row["model"]], "--target", row["target"], *row["options"].split(),
                                       "--json", "-o", "p.sluice"], cwd=self.dir, capture_output=True, text=True, check=True)
                found = json.loads(done.stdout)
                mhz = {"c2b8": 300, "big.json": 250}[row["target"]]
                self.assertEqual({**row, "pareto": None}, {
                    "model": row["model"], "target": row["target"], "options": row["options"], "state": "compiled", "code": None,
                    "reason": None, "fits": True, "cycles": found["latency"]["spaced"], "contiguous": found["latency"]["contiguous"],
                    "period": found["latency"]["period"], "microseconds": found["latency"]["spaced"] / mhz, "clock_mhz": mhz,
                    "clock_source": {300: "nominal", 250: "routed on X"}[mhz], "macs_per_cycle": found["peak_mac_per_cycle"],
                    **found["area"],
                    "error_percent": found["checked"] and found["checked"]["max_error_percent"], "parameters": found["parameters"],
                    "macs": found["macs"], "pareto": None})
        self.assertEqual([row["options"] for row in rows[:4]],
                         ["--effort fast", "--effort fast --fit-seconds 2", "--effort fast", "--effort fast --fit-seconds 2"])
        self.assertEqual({row["options"] for row in rows if row["model"] == "moving"},
                         {"--stream x=2:4", "--stream x=2:4 --fit-seconds 2", "--data-dim x=2 --check off",
                          "--data-dim x=2 --check off --fit-seconds 2"})
        self.check_front(rows)

    def check_front(self, rows):
        """A row is on the front unless another of its model is better in one measure and not worse in the other."""
        for row in rows:
            better = [one for one in rows if one["model"] == row["model"] and one["microseconds"] <= row["microseconds"]
                      and one["macs_per_cycle"] <= row["macs_per_cycle"]
                      and (one["microseconds"] < row["microseconds"] or one["macs_per_cycle"] < row["macs_per_cycle"])]
            self.assertEqual(row["pareto"], not better)
        self.assertEqual({row["pareto"] for row in rows}, {True, False})

    def test_equal_points(self):
        """Points with the same options, file and target are compiled once."""
        self.write("s.yaml", "models: dense.onnx\ntargets: c2b8\noptions: [{}, {}]")
        self.assertEqual(self.sweep("s.yaml", "-o", "out")[0], 0)
        self.assertEqual((len(self.rows("out")), self.compilations()), (2, ["dense.onnx"]))

    def test_json(self):
        self.write("s.yaml", "models: [dense.onnx, crash.onnx]\ntargets: c2b8")
        code, out, err = self.sweep("s.yaml", "-o", "out", "--json=-")
        self.assertEqual((code, err), (1, ""))
        self.assertEqual(out, (self.dir / "out/sweep.json").read_text())
        found = json.loads(out)
        self.assertEqual((found["schema"], found["ok"]), (1, False))
        self.assertEqual(found["states"], {"compiled": 1, "rejected": 0, "does not fit": 0, "wrong input": 0, "failed": 1})
        definitions = json.loads(SCHEMA.read_text())["$defs"]
        for schema in (definitions["sweep"], definitions["sweep"]["properties"]["rows"]["items"]):
            schema["additionalProperties"] = False # it names every member
        jsonschema.Draft202012Validator({"$ref": "#/$defs/sweep", "$defs": definitions}).validate(found)
        code, out, err = self.sweep("s.yaml", "-o", "out", "--json=r.json")
        self.assertEqual((code, (self.dir / "r.json").read_text()), (1, json.dumps(found, indent=2) + "\n"))
        self.assertTrue(out.startswith("2 points: 1 compiled, 1 failed\n"))

    def test_progress(self):
        self.write("s.yaml", "models: [dense.onnx, crash.onnx]\ntargets: [c2b8, c6b32]")
        err = self.sweep("s.yaml", "-o", "out", "--progress=always", "--jobs", "1", "--retries", "0")[2]
        lines = err.splitlines()
        self.assertEqual(lines[0], "progress: sweep: 0 of 4 points, time left unknown")
        self.assertRegex(lines[1], r"^progress: sweep: \d of 4 points, \d:\d\d:\d\d left$")
        self.assertEqual(lines[-1], "progress: sweep: 4 of 4 points, 2 failed, 0:00:00 left")
        self.assertEqual(self.sweep("s.yaml", "-o", "out")[2], "") # no terminal


class Interrupted(SweepTest):
    SLOW = "models: [dense.onnx, sensors.onnx, slow0.onnx, slow1.onnx, slow2.onnx, crash.onnx]\ntargets: [c2b8, c6b32]"

    def finished(self, folder):
        path = self.dir / folder / "points.jsonl"
        return path.read_text().count("\n") if path.exists() else 0

    def start(self, *args):
        process = subprocess.Popen(self.words(*args), cwd=self.dir, env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def until(self, condition):
        end = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def test_killed(self):
        """A sweep that is killed, and whose last line is damaged, ends like one that is not."""
        self.write("s.yaml", self.SLOW)
        self.assertEqual(self.sweep("s.yaml", "-o", "whole", "--jobs", "2", "--retries", "1")[0], 1)
        process = self.start("s.yaml", "-o", "killed", "--jobs", "2", "--retries", "1")
        self.until(lambda: self.finished("killed") >= 4)
        process.kill()
        process.wait()
        path = self.dir / "killed/points.jsonl"
        entries = [json.loads(line) for line in path.read_text().splitlines()]
        self.assertLess(len(entries), 12)
        self.assertFalse((self.dir / "killed/sweep.csv").exists())
        last = entries[-1]
        with path.open("a") as file: # a result that is none, and half a line
            file.write(json.dumps({**last, "key": "0" * 64, "outcome": {"exit": 0, "figures": {}}}) + "\n")
            file.write(json.dumps(last)[:40])
        time.sleep(1) # compilations of the killed sweep end
        before = len(self.compilations())
        code, _, err = self.sweep("s.yaml", "-o", "killed", "--jobs", "2", "--retries", "1")
        self.assertEqual((code, err), (1, ""))
        self.assertEqual(self.result("killed"), self.result("whole"))
        done = {(one["model"], one["target"]) for one in entries}
        again = self.compilations()[before:]
        crashes = 2 - len([1 for model, _ in done if model == "crash"])
        self.assertEqual(len(again), 12 - len(done) + crashes) # each crash is tried twice
        self.assertFalse((self.dir / "killed/work").exists())
        before = len(self.compilations())
        self.assertEqual(self.sweep("s.yaml", "-o", "killed")[0], 1)
        self.assertEqual(len(self.compilations()), before) # nothing is left to do

    def test_timeout(self):
        """A compilation that hangs is ended with its children, after so many attempts."""
        self.write("s.yaml", "models: [hang.onnx, dense.onnx]\ntargets: c2b8")
        self.assertEqual(self.sweep("s.yaml", "-o", "out", "--timeout", "0.5", "--retries", "1")[0], 1)
        self.assertEqual([(row["state"], row["reason"]) for row in self.rows("out")],
                         [("failed", "timed out after 0.5 s"), ("compiled", None)])
        self.assertEqual(self.compilations().count("hang.onnx"), 2)
        self.no_child_is_left()

    def no_child_is_left(self):
        for pid in (self.dir / "log.pids").read_text().split():
            state = self.dir / f"/proc/{pid}/stat"
            self.assertTrue(not state.exists() or state.read_text().split(") ")[1].startswith("Z"), pid)

    def test_terminated(self):
        """SIGTERM and Ctrl-C end the child processes too."""
        self.write("s.yaml", "models: hang.onnx\ntargets: c2b8")
        for number in (signal.SIGTERM, signal.SIGINT):
            process = self.start("s.yaml", "-o", f"out{number}")
            self.until(lambda: (self.dir / "log.pids").exists())
            process.send_signal(number)
            _, err = process.communicate(timeout=30)
            self.assertEqual((process.returncode, err), (130, "sweep interrupted; type the command again to go on\n"))
            time.sleep(0.1)
            self.no_child_is_left()
            (self.dir / "log.pids").unlink()

    def test_retry_failed(self):
        self.write("s.yaml", "models: [crash.onnx, dense.onnx]\ntargets: c2b8")
        self.assertEqual(self.sweep("s.yaml", "-o", "out", "--retries", "0")[0], 1)
        self.assertEqual(self.sweep("s.yaml", "-o", "out", "--retry-failed", "--retries", "1")[0], 1)
        self.assertEqual(sorted(self.compilations()), ["crash.onnx"] * 3 + ["dense.onnx"])

    def test_changed_model(self):
        """A model that changes is another point."""
        self.write("s.yaml", "models: dense.onnx\ntargets: c2b8")
        self.assertEqual(self.sweep("s.yaml", "-o", "out")[0], 0)
        onnx.save(models.dense(16)[0], self.dir / "dense.onnx")
        self.assertEqual(self.sweep("s.yaml", "-o", "out")[0], 0)
        self.assertEqual((self.compilations(), self.rows("out")[0]["parameters"]), (["dense.onnx"] * 2, 16 * 17))


class Messages(SweepTest):
    def wrong(self, exit_code, text, *args, faulty=True):
        code, out, err = self.sweep(*(args or ("s.yaml", "-o", "out")), faulty=faulty)
        self.assertEqual((err, out, code), (text + "\n", "", exit_code))

    def test_file(self):
        known = "examples: no"
        for text, message in (
                ("[", "the file is not YAML: line 1: expected the node content, but found '<stream end>'"),
                ("3", "the file is 3, allowed: a mapping with models, targets, options"),
                ("model: m.onnx", "the file has 'model', did you mean 'models'?"),
                (known, "the file has 'examples', allowed: models, targets, options"),
                ("models: dense.onnx", "the file has no 'targets'"),
                ("targets: c2b8", "the file has no 'models'"),
                ("models: []\ntargets: c2b8", "'models' is [], allowed: a list with at least one entry"),
                ("models: [{name: a}]\ntargets: c2b8", "a model has no 'path'"),
                ("models: [{path: dense.onnx, file: w}]\ntargets: c2b8", "a model has 'file', did you mean 'files'?"),
                ("models: [{path: dense.onnx, files: w}]\ntargets: c2b8",
                 "'files' is 'w', allowed: a list of file names in the folder of the model"),
                ("models: [{path: dense.onnx, files: [../w]}]\ntargets: c2b8",
                 "'files' has '../w', allowed: names in the folder of the model"),
                ("models: [dense.onnx, ./dense.onnx]\ntargets: c2b8",
                 "two models have the name 'dense'; give one a 'name' of its own"),
                ("models: dense.onnx\ntargets: [3]", "a target is 3, allowed: the name of a preset, or a .json file"),
                ("models: dense.onnx\ntargets: c2b8\noptions: 3",
                 "'options' is 3, allowed: a mapping of lists, or a list of mappings"),
                ("models: dense.onnx\ntargets: c2b8\noptions: {effort: []}", "'options' has an empty list"),
                ("models: dense.onnx\ntargets: c2b8\noptions: {efort: high}", "'options' has 'efort', did you mean 'effort'?"),
                ("models: dense.onnx\ntargets: c2b8\noptions: {stream: x}", "'options': 'stream' is 'x', allowed: a mapping by name"),
                ("models: [{path: dense.onnx, options: {effort: {a: b}}}]\ntargets: c2b8",
                 "the options of 'dense': 'effort' is {'a': 'b'}, allowed: a value")):
            self.write("s.yaml", text)
            with self.assertRaises(Failure) as caught:
                read_plan(self.dir / "s.yaml", "0.1.0")
            self.assertEqual(str(caught.exception), f"error[E0622]: {message}\n  --> {self.dir}/s.yaml")
        self.wrong(5, f"error[E0622]: {message}\n  --> s.yaml") # the last one, by the command
        self.assertFalse((self.dir / "out").exists())

    def test_files(self):
        self.wrong(5, "error[E0501]: cannot read 'no.yaml': No such file or directory", "no.yaml", "-o", "out")
        self.write("s.yaml", "models: no.onnx\ntargets: c2b8")
        self.wrong(5, f"error[E0501]: cannot read '{self.dir}/no.onnx': No such file or directory\n  --> s.yaml")
        self.write("s.yaml", "models: dense.onnx\ntargets: c2b9")
        self.assertIn("c2b9", self.sweep("s.yaml", "-o", "out")[2])
        self.write("s.yaml", "models: dense.onnx\ntargets: c2b8")
        self.write("taken", "")
        self.wrong(2, "error[E0516]: cannot write 'taken': File exists", "s.yaml", "-o", "taken")

    def test_locked(self):
        import fcntl
        (self.dir / "out").mkdir()
        with (self.dir / "out/points.jsonl").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self.wrong(2, "error[E0621]: another sweep writes to 'out/points.jsonl'; wait for its end, or give another folder")

    def test_full_disk(self):
        self.write("s.yaml", "models: dense.onnx\ntargets: c2b8")
        done = subprocess.run(self.words("s.yaml", "-o", "out"), cwd=self.dir, env=self.environment(), capture_output=True, text=True,
                              check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)))
        self.assertEqual((done.returncode, done.stderr), (2, "error[E0516]: cannot write 'out/sweep.html': File too large\n"))
        self.assertFalse((self.dir / "out/sweep.html").exists())
        (self.dir / "device").mkdir()
        (self.dir / "device/points.jsonl").symlink_to("/dev/full")
        self.wrong(2, "error[E0516]: cannot write 'device/points.jsonl': it is not a regular file", "s.yaml", "-o", "device")

    def test_arguments(self):
        self.wrong(2, "error[E0601]: --jobs cannot be used with --dask, whose workers have threads of their own", "s.yaml", "-o", "out",
                   "--jobs", "2", "--dask", "tcp://127.0.0.1:1")
        self.wrong(2, "error[E0601]: the following arguments are required: -o/--output; see 'sluice sweep --help'", "s.yaml")
        self.assertEqual(json.loads(self.sweep("s.yaml", "--json=-")[1])["errors"][0]["code"], "E0601")

    def test_without_packages(self):
        """A message names a package that is not there."""
        self.write("distributed.py", "raise ImportError")
        self.write("yaml.py", "raise ImportError")
        environment = {**self.environment(), "PYTHONPATH": f"{PACKAGE}:{self.dir}"}

        def said():
            done = subprocess.run(self.words("s.yaml", "-o", "out", "--dask", "tcp://127.0.0.1:1"), cwd=self.dir, env=environment,
                                  capture_output=True, text=True, check=False)
            return done.returncode, done.stderr
        self.assertEqual(said(), (2, "error[E0621]: a sweep needs PyYAML; install python3-yaml, or type: python3 -m pip install PyYAML\n"))
        (self.dir / "yaml.py").unlink()
        self.assertEqual(said(), (2, "error[E0621]: --dask needs the Python package distributed; type: python3 -m pip install "
                                     "distributed\n"))


class Command(SweepTest):
    """`sluice sweep` starts the same."""

    def command(self, *args, command=COMMAND, **environment):
        done = subprocess.run([command, "sweep", *args], cwd=self.dir, capture_output=True, text=True, check=False,
                              env={**{name: value for name, value in os.environ.items() if name != "SLUICE"}, **environment})
        return done.returncode, done.stdout, done.stderr

    def test_command(self):
        self.write("s.yaml", "models: dense.onnx\ntargets: c2b8")
        self.assertEqual(self.sweep("s.yaml", "-o", "a", faulty=False)[0], 0)
        code, out, err = self.command("s.yaml", "-o", "b", "--jobs", "1", "--timeout", "30.5", "--retries", "0", "--retry-failed")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out.splitlines()[-1], "written b/sweep.html")
        self.assertEqual(self.result("b"), self.result("a"))
        code, out, err = self.command("s.yaml", "-o", "b", "--json")
        self.assertEqual((code, out, err), (0, (self.dir / "b/sweep.json").read_text(), ""))
        self.assertEqual(self.command("no.yaml", "-o", "c", "--progress=always"),
                         (5, "", "error[E0501]: cannot read 'no.yaml': No such file or directory\n"))

    def test_no_interpreter(self):
        self.assertEqual(self.command("s.yaml", "-o", "out", SLUICE_PYTHON="/no/python3"),
                         (2, "", "error[E0621]: the interpreter '/no/python3' cannot be started: No such file or directory; install "
                                 "python3, or set SLUICE_PYTHON to its path\n"))

    def test_no_package(self):
        (self.dir / "bin").mkdir()
        copy = self.dir / "bin/sluice"
        shutil.copy(COMMAND, copy)
        self.assertEqual(self.command("s.yaml", "-o", "out", command=copy),
                         (2, "", f"error[E0621]: the Python package of Sluice is not installed with '{copy}'; install the component "
                                 "python\n"))
        # As in a virtual environment, with its interpreter.
        packages = self.dir / "lib/python3.11/site-packages"
        packages.mkdir(parents=True)
        (packages / "sluice").symlink_to(PACKAGE / "sluice")
        self.assertEqual(self.command("s.yaml", "-o", "out", command=copy)[::2],
                         (2, f"error[E0621]: the interpreter '{self.dir}/bin/python3' cannot be started: No such file or directory; "
                             "install python3, or set SLUICE_PYTHON to its path\n"))
        (self.dir / "bin/python3").symlink_to(sys.executable)
        self.write("s.yaml", "models: dense.onnx\ntargets: c2b8")
        self.assertEqual(self.command("s.yaml", "-o", "out", command=copy)[::2], (0, ""))

    def test_arguments(self):
        self.assertEqual(self.command("s.yaml"), (2, "", "error: --output is required; see 'sluice sweep --help'\n"))
        self.assertEqual(self.command("s.yaml", "-o", "out", "--jobs", "0")[0], 2)


class Workers(unittest.TestCase):
    """What a Dask worker may return, and how it may end."""

    def lost(self, value=None, error=None):
        future = Future()
        if error:
            future.set_exception(error)
        else:
            future.set_result(value)
        return outcome_of(future).get("lost")

    def test_damage(self):
        figures = {"spaced": 9, "contiguous": 9, "period": 9, "macs": 1, "parameters": 1, "peak_mac_per_cycle": 1, "error_percent": None}
        self.assertIsNone(self.lost({"exit": 0, "figures": figures}))
        self.assertIsNone(self.lost({"exit": 3, "code": "E0302", "message": "no"}))
        for value in (None, [], {}, {"exit": 0}, {"exit": 0, "figures": {**figures, "spaced": "9"}}, {"exit": 0, "figures": {"spaced": 9}},
                      {"exit": 0, "figures": {**figures, "spaced": -1}}, {"exit": 6, "code": "E0611", "message": "no"},
                      {"exit": 3, "code": "302", "message": "no"}, {"exit": 3, "code": "E0302"}, {"lost": 3},
                      {"exit": 0, "figures": {**figures, "spaced": True}}):
            self.assertEqual(self.lost(value), "the worker returned no valid result", value)

    def test_ends(self):
        class KilledWorker(Exception):
            pass
        self.assertEqual(self.lost(error=KilledWorker("attempted to run\n3 times")), "the worker ended: attempted to run 3 times")
        self.assertEqual(self.lost(error=OSError("no room")), "OSError: no room")


class Page(SweepTest):
    def test_page(self):
        """Names stay data, and the page names no other file."""
        from html.parser import HTMLParser
        self.write("s.yaml", "models: [{path: dense.onnx, name: '</script><img src=x>'}]\ntargets: c2b8")
        self.assertEqual(self.sweep("s.yaml", "-o", "out", faulty=False)[0], 0)
        tags = []

        class Elements(HTMLParser):
            def handle_starttag(self, tag, attrs):
                tags.append((tag, dict(attrs)))
        text = (self.dir / "out/sweep.html").read_text()
        Elements().feed(text)
        self.assertNotIn("img", {tag for tag, _ in tags})
        for tag, attrs in tags:
            self.assertFalse({"src", "srcset", "action", "style"} & set(attrs), (tag, attrs))
        policy = next(attrs["content"] for tag, attrs in tags if attrs.get("http-equiv") == "Content-Security-Policy")
        self.assertRegex(policy, "^default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-[^']+'; "
                                 "script-src 'sha256-[^']+' 'sha256-[^']+'$")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
