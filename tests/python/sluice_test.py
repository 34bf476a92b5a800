#!/usr/bin/env python3
"""The package sluice, on both engines, against NumPy.

usage: sluice_test.py FOLDER_OF_THE_PACKAGE [unittest arguments]
"""
import asyncio
import contextlib
import ctypes.util
import doctest
import importlib
import inspect
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, sys.argv[1])

import numpy as np
import onnx

import models
import sluice
from sluice import errors, tool
from base import Python

VERSION = json.loads(subprocess.run([tool.executable(), "version", "--json"], stdout=subprocess.PIPE, check=True).stdout)
ENGINES = ["vm", "rtl"] if "c2b8" in VERSION["engines"]["rtl"] else ["vm"]  # one with sanitizers has no rtl


class Compile(Python):
    def test_paths_bytes_and_protos_are_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "example.onnx"
            onnx.save(self.model, path)
            programs = {bytes(sluice.compile(model, target="c2b8", name="n"))
                        for model in (path, str(path), path.read_bytes(), self.model)}
        self.assertEqual(len(programs), 1)

    def test_what_a_program_says(self):
        self.assertEqual(self.program.inputs, (sluice.Port("x", (1, 8), 1, np.dtype(np.float32)),))
        self.assertEqual((self.program.target, self.program.macs, self.program.parameters), ("c2b8", 64, 72))
        self.assertGreaterEqual(self.program.latency.spaced, self.program.latency.period)
        self.assertIn(f"<th style='text-align:left'>spaced, cycles</th><td>{self.program.latency.spaced}</td>",
                      self.program._repr_html_())

    def test_bound_inputs(self):
        x = self.inputs(1)[0]
        for value, factor in ((2, 2), (np.arange(8, dtype=np.float32).reshape(1, 8), np.arange(8))):
            program = sluice.compile(models.scaled(), target="c2b8", bind={"s": value})
            self.assertEqual([port.name for port in program.inputs], ["x"])
            self.near(program.run(x=x)["y"], x * factor)

    def test_refusals_are_objects(self):
        model, reference = models.sensors()
        with self.assertRaises(sluice.CompileError) as caught:
            sluice.compile(model, target="c2b8")
        problem, = caught.exception.problems
        self.assertEqual((caught.exception.code, problem.rule), ("E0302", "DD-MM-CONST"))
        self.assertEqual(problem.node, sluice.Node(1, "head", "MatMul"))
        self.assertEqual([(step.node.name, step.shape, step.data_dim) for step in problem.chain],
                         [("mix", (4, 5), 0), ("head", (4, 5), 0)])
        self.assertIn("error[E0302]: the product contracts an axis that is not the data dimension", str(caught.exception))
        self.assertIn("node 1 &quot;head&quot; (MatMul)", caught.exception._repr_html_())
        checked = sluice.check(model, target="c2b8")
        self.assertFalse(checked)
        self.assertEqual(checked.problems, caught.exception.problems)
        fix = next(fix for fix in problem.fixes if fix.flag == "--allow-dynamic-weights")
        self.assertTrue(fix.verified)
        x = np.random.default_rng(2).standard_normal((4, 5)).astype(np.float32)
        program = sluice.compile(model, target="c2b8", allow_dynamic_weights=True)
        self.near(program.run(x=x)["y"], reference(x))
        self.assertEqual(fix.cycles, program.latency.spaced)
        self.assertEqual(fix.extra_cycles, fix.cycles - min(fix.cycles for fix in problem.fixes))
        self.assertEqual(checked.fixes[0]["cycles"], sluice.compile(model, target="c2b8", fix=True).latency.spaced)
        self.assertTrue(sluice.check(model, target="c2b8", rewrite_layout=True))
        self.assertTrue(sluice.check(model, target="c2b8", fix=True))
        self.near(sluice.compile(model, target="c2b8", fix=True).run(x=x)["y"], reference(x))

    def test_wrong_arguments(self):
        for code, kind, call in (
                ("E0515", sluice.ArgumentError, lambda: sluice.compile(self.model, target="c2b9")),
                ("E0120", sluice.ArgumentError, lambda: sluice.compile(models.moving_sum(), stream={"x": 3})),
                ("E0601", sluice.ArgumentError, lambda: sluice.compile(5)),
                ("E0601", sluice.ArgumentError, lambda: sluice.compile(self.model, effort="heroic")),
                ("E0101", sluice.CompileError, lambda: sluice.compile("/nonexistent.onnx")),
                ("E0502", sluice.ProgramError, lambda: sluice.Program(b"text")),
                ("E0602", sluice.ArgumentError, lambda: sluice.Program(bytes(self.program), model="other")),
                ("E0601", sluice.ArgumentError, lambda: sluice.Program(bytes(self.program)).plan())):
            with self.assertRaises(kind) as caught:
                call()
            self.assertEqual(caught.exception.code, code, caught.exception)
            kinds = {sluice.ArgumentError: "argument", sluice.CompileError: "model", sluice.ProgramError: "program"}
            self.assertEqual(caught.exception.problems[0].kind, kinds[kind])

    def test_exceptions_follow_from_the_kinds_of_problems(self):
        def error(code, kind):
            return {"code": code, "rule": None, "node": None, "message": "m", "notes": [], "chain": [], "fixes": [], "kind": kind}

        for kind, expected in (("model", sluice.CompileError), ("program", sluice.ProgramError),
                               ("argument", sluice.ArgumentError), ("run", sluice.RunError)):
            problems = errors.problems_of([error("E0499", kind), error("E0601", "argument")])
            self.assertIs(type(errors.of_problems(problems, "")), expected)

    def test_shapes_by_name(self):
        shaped = models.dense()[0]
        shaped.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
        shaped.graph.output[0].type.tensor_type.shape.dim[0].dim_param = "batch"
        for shape in ({"batch": 2}, {"x": (2, 8)}, {"x": [2, 8]}):
            self.assertEqual(sluice.compile(shaped, target="c2b8", input_shape=shape).inputs[0].shape, (2, 8))
        pinned = sluice.compile(shaped, target="c2b8", input_shape={"batch": 2}, data_dim={"x": 1}, rewrite_layout=True)
        self.assertEqual(pinned.inputs[0].data_dim, 1)

    def test_calibration_and_checks(self):
        for check in (False, True, "off", 3):
            self.assertEqual(bytes(sluice.compile(self.model, target="c2b8", check=check)), bytes(self.program))
        with self.assertRaisesRegex(sluice.ArgumentError, "check is '0', allowed: 1 to 10000, auto or off"):
            sluice.compile(self.model, target="c2b8", check=0)
        sluice.compile(self.model, target="c2b8", calibrate={"x": self.inputs(3)})
        with self.assertRaisesRegex(sluice.ArgumentError, "'z'"):
            sluice.compile(self.model, target="c2b8", calibrate={"z": self.inputs(3)})
        with tempfile.TemporaryDirectory() as folder:
            np.savez(f"{folder}/x.npz", x=self.inputs(3))
            sluice.compile(self.model, target="c2b8", calibrate=Path(folder) / "x.npz")

    def test_progress_where_somebody_looks(self):
        class Terminal(io.StringIO):
            def isatty(self):
                return True

        for stream, is_shown in ((Terminal(), True), (io.StringIO(), False)):
            with contextlib.redirect_stderr(stream):
                sluice.compile(self.model, target="c2b8")
            lines = stream.getvalue().split("\r")
            self.assertEqual(any(line.startswith("compiling <model>: ") for line in lines), is_shown)
            self.assertEqual(lines[-1], "")

    def test_ctrl_c_ends_the_compiler(self):
        model = models.dense(512)[0]
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            for _ in range(100):
                sluice.compile(model, target="c6b32", effort="high")
        with open(f"/proc/self/task/{os.getpid()}/children") as children:
            self.assertEqual(children.read(), "")


    def test_ctrl_c_while_the_compiler_starts(self):
        start = subprocess.Popen

        def interrupted(*arguments, **options):
            process = start(*arguments, **options)
            os.kill(os.getpid(), signal.SIGINT)
            return process

        with unittest.mock.patch("subprocess.Popen", interrupted), self.assertRaises(KeyboardInterrupt):
            sluice.compile(models.dense(512)[0], target="c6b32", effort="high")
        with open(f"/proc/self/task/{os.getpid()}/children") as children:
            self.assertEqual(children.read(), "")


class Run(Python):
    def test_both_engines(self):
        found = {}
        for name in ENGINES:
            with self.program.open(name, pacing="spaced") as engine:
                jobs = [engine.submit(x=x) for x in self.inputs(3)]
                found[name] = [(job.result()["y"].tobytes(), job.cycles) for job in jobs]
                for job, x in zip(jobs, self.inputs(3)):
                    self.near(job.result()["y"], self.reference(x))
        self.assertEqual(found["vm"], found[ENGINES[-1]])
        self.assertEqual(found["vm"][0][1].latency, self.program.latency.spaced)

    def test_inputs_by_position(self):
        x = self.inputs(1)[0]
        expected = self.program.run(x=x)["y"]
        with self.program.open() as engine:
            for found in (self.program(x), self.program.run(x), engine(x), engine.submit(x).result(), self.program({"x": x}),
                          asyncio.run(self.program.run_async(x))):
                np.testing.assert_array_equal(found["y"], expected)
        np.testing.assert_array_equal(self.program.steps(x[None])["y"][0], expected)
        scaled = sluice.compile(models.scaled(), target="c2b8")
        np.testing.assert_array_equal(scaled(x, np.full((1, 8), 2))["y"], scaled(x, s=np.full((1, 8), 2))["y"])
        self.assertEqual(str(inspect.signature(scaled)), "(x, s, *, out=None)")
        self.assertEqual(str(inspect.signature(scaled.open())), "(x, s, *, out=None)")
        for call, message in (
                (lambda: scaled(x, x, x), "E0602: 3 inputs are given, allowed: 2 ('x', 's')"),
                (lambda: scaled(x, x=x), "E0603: input 'x' is given twice"),
                (lambda: scaled(x), "E0603: input 's' [1, 8] is not given"),
                (lambda: scaled(x, z=x), "E0602: the model has no input 'z', allowed: 'x', 's'")):
            with self.assertRaises(TypeError) as caught:
                call()
            self.assertIsInstance(caught.exception, sluice.ArgumentError)
            self.assertEqual(str(caught.exception), message)

    def test_saved_programs(self):
        x = self.inputs(1)[0]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "p.sluice"
            self.program.save(path)
            loaded = sluice.Program.load(path, engine=ENGINES[-1])
        np.testing.assert_array_equal(loaded.run({"x": x})["y"], self.program.run(x=x)["y"])
        self.assertIsNone(loaded.latency)

    def test_every_type_and_order_of_elements(self):
        x = np.arange(-4, 4).reshape(1, 8)
        expected = self.program.run(x=x.astype(np.float32))["y"]
        for given in (x, x.tolist(), x.astype(np.int8), x.astype(np.float16), x.astype(">f4"), x.astype(np.float64),
                      np.asfortranarray(np.repeat(x, 2, axis=0))[::2], x[:, ::-1][:, ::-1]):
            np.testing.assert_array_equal(self.program.run(x=given)["y"], expected)

    def test_outputs_where_the_caller_wants_them(self):
        for kind in (np.float16, np.float32, np.float64):
            y = np.full((1, 8), np.nan, kind)
            self.assertIs(self.program.run(x=self.inputs(1)[0], out={"y": y})["y"], y)
            self.near(y, self.reference(self.inputs(1)[0]))

    def test_odd_names(self):
        model = onnx.ModelProto()
        model.CopyFrom(self.model)
        name = 'a,"b"\n\x07\t=1\u2028'
        old = model.graph.input[0].name
        model.graph.input[0].name = name
        for node in model.graph.node:
            node.name = name
            node.input[:] = [name if one == old else one for one in node.input]
        program = sluice.compile(model, target="c2b8", name=name)
        told = 'a,"b"\\x0a\\x07\\x09=1\\u2028'
        self.assertTrue(repr(program).startswith(f"<sluice.Program '{told}' for c2b8: {told}[1, 8] -> "), repr(program))
        self.assertEqual(program.inputs[0].name, name)
        self.assertEqual(str(inspect.signature(program)), "(*inputs, out=None, **named)")
        self.assertEqual(len(repr(program.profile().layers).splitlines()), 1 + len(program.profile().layers))
        with self.assertRaises(sluice.ArgumentError) as wrong:
            program.run(q=self.inputs(1)[0])
        self.assertEqual(str(wrong.exception), f"E0602: the model has no input 'q', allowed: '{told}'")

    @unittest.skipIf("tsan" in os.environ.get("LD_PRELOAD", ""), "ThreadSanitizer allows no thread behind a fork")
    def test_a_forked_child_is_told(self):
        x = self.inputs(1)[0]
        expected = self.program.run(x=x)["y"]
        child = os.fork()
        if child == 0:  # assertions would run the tests behind this one twice
            try:
                self.program.run(x=x)
                os._exit(1)
            except sluice.ArgumentError as wrong:
                told = "E0601: the device was opened before the process forked; open one in the new process"
                own = sluice.compile(self.model, target="c2b8").run(x=x)["y"]
                os._exit(0 if str(wrong) == told and (own == expected).all() else 2)
            finally:
                os._exit(3)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        np.testing.assert_array_equal(self.program.run(x=x)["y"], expected)

    def test_state_and_steps(self):
        program = sluice.compile(models.accumulator(), target="c2b8", state={"h": "h_next"})
        x = np.ones((5, 1, 8), np.float32)
        np.testing.assert_array_equal(program.steps(x=x)["y"], 2 * np.cumsum(x, axis=0))
        np.testing.assert_array_equal(program.run(x=x[0])["y"], 12 * x[0])
        program.reset()
        np.testing.assert_array_equal(program.run(x=x[0])["y"], 2 * x[0])
        state, other = program.save_state(), program.open("vm")
        for engine in (program, other):
            engine.restore_state(state)
            np.testing.assert_array_equal(engine.run(x=x[0])["y"], 4 * x[0])
        self.assertGreater(other.counters()["switch_cycles"], 2)
        with self.assertRaisesRegex(sluice.RunError, "^E0616: the state cannot be used: damaged: the SHA-256 does not match$"):
            program.restore_state(state[:-1] + bytes([state[-1] ^ 1]))
        with self.assertRaisesRegex(sluice.ArgumentError, f"^E0601: the state has 3 bytes, the program needs {len(state)}$"):
            program.restore_state(b"abc")

    def test_queued_resets(self):
        program = sluice.compile(models.accumulator(), target="c2b8", state={"h": "h_next"})
        x = np.ones((1, 8), np.float32)
        for name in ENGINES:
            with program.open(name) as engine:
                engine.hold()
                jobs = [engine.submit(x) if step % 3 else engine.submit_reset() for step in range(1, 9)]
                self.assertFalse(any(job.done for job in jobs))
                engine.hold(False)
                found = [job.result() for job in jobs]
                self.assertEqual([one["y"][0, 0] for one in found if one], [2, 4, 2, 4, 2, 4])
                self.assertEqual([len(one) for one in found], [1, 1, 0, 1, 1, 0, 1, 1])
                engine.reset()
                self.assertEqual({job.cycles.latency for job in jobs[2::3]}, {engine.counters()["switch_cycles"]})
        program.run(x)
        self.assertEqual(program.submit_reset().result(), {})
        self.assertEqual(program(x)["y"][0, 0], 2)

    def test_random_numbers(self):
        program = sluice.compile(models.noisy(), target="c2b8")
        self.assertEqual([port.name for port in program.inputs], ["x"])
        x = np.zeros((4, 1, 8), np.float32)
        found = {}
        for name in ENGINES:
            with program.open(name) as engine:
                first = engine.steps(x)["y"]
                self.assertEqual(len({one.tobytes() for one in first}), 4)
                engine.reset()
                np.testing.assert_array_equal(engine.steps(x)["y"], first)
                engine.set_seed(7)
                seven = engine.steps(x)["y"]
                self.assertFalse((seven == first).any())
                engine.set_seed(7, 2)
                np.testing.assert_array_equal(engine.steps(x[:2])["y"], seven[2:])
                engine.set_seed(2 ** 64 - 1, inference=2 ** 64 - 1)
                found[name] = [first, seven, engine.run(x[0])["y"]]
        for mine, other in zip(found["vm"], found[ENGINES[-1]]):
            np.testing.assert_array_equal(mine, other)
        program.set_seed(7, inference=1)
        np.testing.assert_array_equal(program(x[0])["y"], found["vm"][1][1])
        for wrong, text in (({"seed": -1}, "the seed is -1"), ({"seed": 2 ** 64}, f"the seed is {2 ** 64}"),
                            ({"seed": 0, "inference": -5}, "the inference is -5")):
            with self.assertRaisesRegex(sluice.ArgumentError, rf"^E0604: {text}, allowed: 0 to 2\*\*64 - 1$"):
                program.set_seed(**wrong)
        fixed = sluice.compile(models.noisy(), target="c2b8", fixed_random=True)
        np.testing.assert_array_equal(fixed(x[0])["y"], fixed(x[0])["y"])

    def test_inputs_that_the_engine_keeps(self):
        program = sluice.compile(models.gained(), target="c2b8", hold=["gain"])
        self.assertEqual(str(inspect.signature(program)), "(x, *, gain=None, out=None)")
        x, gain = np.full((1, 8), 3, np.float32), np.arange(8, dtype=np.float32)[None]
        message = "E0603: input 'gain' is left out, but no job has given it since the program was loaded or reset"
        for name in ENGINES:
            with program.open(name) as engine, self.subTest(name):
                with self.assertRaises(sluice.ArgumentError) as caught:
                    engine(x)
                self.assertEqual(str(caught.exception), message)
                np.testing.assert_array_equal(engine(x, gain=gain)["y"], 3 * gain)
                np.testing.assert_array_equal(engine(x)["y"], 3 * gain)
                np.testing.assert_array_equal(engine(x, gain=-gain)["y"], -3 * gain)
                np.testing.assert_array_equal(engine.run(x=2 * x)["y"], -6 * gain)
                np.testing.assert_array_equal(engine.steps(x=np.stack([x, 2 * x]))["y"], np.stack([-3 * gain, -6 * gain]))
                for given in (gain, np.stack([gain, gain])):
                    np.testing.assert_array_equal(engine.steps(x=np.stack([x, 2 * x]), gain=given)["y"], np.stack([3 * gain, 6 * gain]))
                engine.submit_reset()
                with self.assertRaisesRegex(sluice.ArgumentError, "^E0603: "):
                    engine(x)
        program(x, gain)
        np.testing.assert_array_equal(program(x)["y"], 3 * gain)
        with self.assertRaisesRegex(sluice.KeywordError, r"^E0603: input 'x' \[1, 8\] is not given$"):
            program(gain=gain)
        with program.open(hold=()) as engine, self.assertRaisesRegex(sluice.KeywordError, r"^E0603: input 'gain' \[1, 8\] is not given$"):
            engine(x)
        for wrong in (lambda: sluice.Program(bytes(program), hold=["gian"]), lambda: program.open(hold="gian")):
            with self.assertRaisesRegex(sluice.ArgumentError, "^E0602: the model has no input 'gian', allowed: 'x', 'gain'$"):
                wrong()

    def test_streams(self):
        x = np.arange(24, dtype=np.float32)
        expected = np.convolve(x, np.ones(3))[:24]
        for stream, steps in (({"x": 2}, 1), ({"x": (2, 4)}, 4)):
            program = sluice.compile(models.moving_sum(), target="c2b8", stream=stream)
            found = program.steps(x=x.reshape(-1, 1, 1, steps))["y"]
            np.testing.assert_array_equal(found.ravel(), expected)

    def test_tasks(self):
        async def all_of(xs):
            return await asyncio.gather(*(self.program.run_async(x=x) for x in xs))
        for found, x in zip(asyncio.run(all_of(self.inputs(20))), self.inputs(20)):
            self.near(found["y"], self.reference(x))

    def test_ten_thousand_jobs_of_four_threads(self):
        xs = self.inputs(16)
        expected = [self.program.run(x=x)["y"] for x in xs]
        wrong, per_thread = [], 2500
        with self.program.open("vm") as engine:
            def work():
                jobs = []
                for i in range(per_thread):
                    jobs.append((i % 16, engine.submit(x=xs[i % 16])))
                    if i % 7 == 0:
                        engine.submit(x=xs[0])  # whose handle goes at once
                    if len(jobs) > 50:
                        n, job = jobs.pop(0)
                        wrong.append(n) if not np.array_equal(job.result()["y"], expected[n]) else None
                wrong.extend(n for n, job in jobs if not np.array_equal(job.result()["y"], expected[n]))
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(engine.counters()["jobs_submitted"], 4 * (per_thread + (per_thread + 6) // 7))
        self.assertEqual(wrong, [])

    @unittest.skipIf("asan" in os.environ.get("LD_PRELOAD", ""), "the sanitizer keeps what is freed")
    def test_nothing_is_kept(self):
        def pages():
            return int(Path("/proc/self/statm").read_text().split()[1])

        def use(rounds):
            for _ in range(rounds):
                with sluice.Program(bytes(self.program)).open("vm") as engine:
                    for x in self.inputs(10):
                        engine.submit(x=x)
                    engine.run(x=x)
                    with self.assertRaises(sluice.ArgumentError):
                        engine.run(x=x[0])
        use(50)
        before = pages()
        use(200)
        self.assertLess(pages() - before, 1000)  # of 4 KB: less than 20 KB a round

    def test_other_threads_run_while_an_engine_does(self):
        turns = 0
        with self.program.open("vm") as engine:
            engine.hold()
            job = engine.submit(x=self.inputs(1)[0])
            threading.Timer(0.3, engine.hold, (False,)).start()
            waiting = threading.Thread(target=job.result)
            waiting.start()
            while waiting.is_alive():
                turns += 1
                time.sleep(0.001)
        self.assertGreater(turns, 20)

    def test_ctrl_c_ends_a_wait(self):
        with self.program.open("vm") as engine:
            engine.hold()
            job = engine.submit(x=self.inputs(1)[0])
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
            with self.assertRaises(KeyboardInterrupt):
                job.result()
            self.assertFalse(job.done)
            engine.hold(False)
            self.near(job.result()["y"], self.reference(self.inputs(1)[0]))

    def test_jobs_that_are_dropped(self):
        engine = self.program.open("vm")
        engine.hold()
        job = engine.submit(x=self.inputs(1)[0])
        engine.reset()
        with self.assertRaisesRegex(sluice.RunError, "^E0609: the device was reset$"):
            job.result()
        engine.close()
        with self.assertRaisesRegex(sluice.ArgumentError, "^E0604: the engine is closed$"):
            engine.submit(x=self.inputs(1)[0])

    def test_refused_arrays(self):
        x = self.inputs(1)[0]
        read_only = np.zeros((1, 8), np.float32)
        read_only.flags.writeable = False
        for message, call in (
                ("E0602: the model has no input 'z', allowed: 'x'", lambda: self.program.run(z=x)),
                ("E0603: input 'x' [1, 8] is not given", lambda: self.program.run()),
                ("E0604: input 'x' has shape [8], allowed: [1, 8]", lambda: self.program.run(x=x[0])),
                ("E0604: input 'x' has shape [2, 8], allowed: [1, 8], [2, 1, 8] for 2 steps",
                 lambda: self.program.steps(x=np.zeros((2, 8)))),
                ("E0604: the array has elements of type complex64, allowed: real numbers",
                 lambda: self.program.run(x=x.astype(np.complex64))),
                ("E0602: the model has no output 'z', allowed: 'y'", lambda: self.program.run(x=x, out={"z": x})),
                ("E0604: output 'y' has shape [8], allowed: [1, 8]", lambda: self.program.run(x=x, out={"y": x[0]})),
                ("E0601: output 'y' of type float32 is given int32 elements, allowed: floating-point types",
                 lambda: self.program.run(x=x, out={"y": np.zeros((1, 8), np.int32)})),
                ("E0604: the array is not contiguous", lambda: self.program.run(x=x, out={"y": np.zeros((1, 16), np.float32)[:, ::2]})),
                ("E0604: the array is read-only", lambda: self.program.run(x=x, out={"y": read_only})),
                ("E0601: the pacing is 'slow', allowed: queued, contiguous, spaced", lambda: self.program.open(pacing="slow"))):
            with self.assertRaises(sluice.ArgumentError) as caught:
                call()
            self.assertEqual(str(caught.exception), message)
        with self.assertRaisesRegex(sluice.ArgumentError, "unknown engine 'gpu', allowed: vm, rtl"):
            self.program.open("gpu")


class Import(unittest.TestCase):
    """What an interpreter is told that cannot use the package."""

    def said(self, before, **environment):
        done = subprocess.run([sys.executable, "-B", "-c", f"import sys; {before}; import sluice"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False,
                              env={**os.environ, "PYTHONPATH": str(Path(sluice.__file__).parents[1]), **environment})
        self.assertEqual(done.returncode, 1)
        return done.stderr.splitlines()[-1]

    def test_an_old_interpreter(self):
        self.assertEqual(self.said("sys.version_info = (3, 8, 18, 'final', 0)"),
                         f"ImportError: sluice needs Python 3.9 or newer, {sys.executable} is Python 3.8")

    def test_no_numpy(self):
        self.assertEqual(self.said("sys.modules['numpy'] = None"),
                         f"ImportError: sluice needs NumPy 1.24 or newer; type: {sys.executable} -m pip install numpy")

    @unittest.skipIf("san" in os.environ.get("LD_PRELOAD", ""), "the sanitizers' libraries say more")
    def test_another_library(self):
        with tempfile.TemporaryDirectory() as folder:
            text = Path(folder) / "libsluice_rt.so.2"
            text.write_text("text")
            self.assertEqual(self.said("pass", SLUICE_RT=str(text)),
                             f"ImportError: the runtime of sluice cannot be loaded: {text}: file too short; set SLUICE_RT to the "
                             "path of libsluice_rt.so.2")
        libm = ctypes.util.find_library("m")
        name = f"/lib/{os.uname().machine}-linux-gnu/{libm}"
        self.assertEqual(self.said("pass", SLUICE_RT=name), f"ImportError: {name} is not the runtime of sluice; set SLUICE_RT to "
                                                            "the path of libsluice_rt.so.2")


class Look(Python):
    def test_profiles(self):
        profiles = [self.program.profile(engine) for engine in ENGINES]
        self.assertEqual(profiles[0].cycles, self.program.latency.spaced)
        self.assertEqual(profiles[0].instructions, profiles[-1].instructions)
        with tempfile.TemporaryDirectory() as folder:
            self.program.save(f"{folder}/p.sluice")
            printed = subprocess.run([tool.executable(), "profile", f"{folder}/p.sluice", "--engine", "vm"],
                                     stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertEqual(f"{profiles[0]}\n", printed)

    def test_a_timeline(self):
        profile = self.program.profile()
        svg, rest = profile._repr_html_().split("</svg>")
        self.assertEqual(rest, profile.layers._repr_html_())
        root = ElementTree.fromstring(svg + "</svg>")
        texts = [one.text for one in root.iter("{http://www.w3.org/2000/svg}text")]
        self.assertEqual(texts[:6], ["0", "5", "10", "15", "20", "cycles"]) # of 26
        layer = "fc (MatMul), bias (Add), act (Relu)"
        self.assertEqual(texts[6:], ["core 0, matrix", "core 0, vector", "core 1, matrix", "core 1, vector", "host port, input",
                                     layer, "(input)", "waits"])
        bars = [(one[0].text, one.get("fill")) for one in root.iter("{http://www.w3.org/2000/svg}rect") if len(one)]
        legend = [one.get("fill") for one in root.iter("{http://www.w3.org/2000/svg}rect") if not len(one)]
        self.assertEqual({colour for text, colour in bars if text.startswith(layer)}, {legend[0]})
        self.assertEqual({colour for text, colour in bars if text.startswith("(input)")}, {legend[1]})
        self.assertEqual({colour for text, colour in bars if text.startswith("waits")}, {legend[2]})
        self.assertEqual(len(set(legend)), 3)

    def test_memory_and_plan(self):
        memory = {(row["core"], row["memory"]): row for row in self.program.memory()}
        self.assertGreater(memory["0", "weight blocks"]["used"] + memory["1", "weight blocks"]["used"], 0)
        plan = self.program.plan()
        self.assertEqual(plan.text, sluice.plan(self.model, target="c2b8").text)
        self.assertIn("fc", plan.text)
        self.assertIn("<pre>", plan._repr_html_())

    def test_operators_and_targets(self):
        self.assertIn("Conv", {row["op"] for row in sluice.ops()})
        self.assertIn("<td>c2b8</td>", sluice.targets()._repr_html_())
        with self.assertRaisesRegex(sluice.Error, "E9999"):
            sluice.explain("E9999")

    def test_examples_in_the_documentation(self):
        names = {"np": np, "example_model": lambda: self.model, "example_program": lambda: self.program,
                 "sensors_model": lambda: models.sensors()[0], **vars(sluice)}
        tried = 0
        for name in ("", ".comparison", ".difference", ".display", ".engine", ".keywords", ".program", ".reduction"):
            found = doctest.testmod(importlib.import_module("sluice" + name), extraglobs=names)
            self.assertEqual(found.failed, 0)
            tried += found.attempted
        self.assertGreater(tried, 8)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
