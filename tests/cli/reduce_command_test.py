#!/usr/bin/env python3
"""sluice reduce: what it prints and reads, and what is not allowed.

usage: reduce_command_test.py SLUICE FAULTY_SLUICE [unittest arguments]

FAULTY_SLUICE is the driver with faults in the compiler (faulty_sluice.cpp).
"""
import json
import os
import shutil
import signal
import subprocess
import time

import numpy as np
import onnx
from onnx import helper

import bad_models as models
from failing_models import FAULTY, WIDTH, Chain, Reduce, around
from folder import main
from refusal import INTERNAL, MALFORMED, USAGE


class Command(Reduce):
    def test_what_is_printed(self):
        onnx.save(around(lambda chain: chain.add("Erf")), self.dir / "m.onnx")
        status, out, err = self.run_tool(FAULTY, "reduce", "m.onnx", "--target", "c2b8", "-o", "small.onnx",
                                         env={"SLUICE_FAULT": "check Erf"})
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"\Areduced 61 nodes to 1: E0611, \d+ models tried, \d+\.\d\d s\n"
                              r"written small\.onnx, sluice compile small\.onnx --target c2b8 shows the failure\n"
                              r"this is a bug in sluice; please report it with these files and the output of 'sluice version --json'\n\Z")
        self.assertFalse((self.dir / "small.npz").exists())

    def test_wrong_inputs_are_written(self):
        onnx.save(around(lambda chain: chain.add("Erf")), self.dir / "m.onnx")
        status, out, err = self.run_tool(FAULTY, "reduce", "m.onnx", "--target", "c2b8", env={"SLUICE_FAULT": "table Erf"})
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"\Areduced 61 nodes to 1: wrong value at Erf, \d+ models tried, \d+\.\d\d s\n"
                              r"written reduced\.onnx, sluice compile reduced\.onnx --target c2b8 --calibrate reduced\.npz shows the failure\n"
                              r"written reduced\.npz, inputs that show it\n")

    def test_a_bundle(self):
        """What compile writes with an internal error is what reduce takes."""
        env = {"SLUICE_FAULT": "table Tanh"}
        onnx.save(around(lambda chain: chain.add("Tanh")), self.dir / "m.onnx")
        status, _, err = self.run_tool(FAULTY, "compile", "m.onnx", "--target", "c2b8", "--effort", "fast", env=env)
        self.assertEqual(status, INTERNAL)
        self.assertIn(" note: 'm.E0498' has what a report needs: model, flags, versions and inputs; 'sluice reduce m.E0498' makes "
                      "the model small\n", err)
        (self.dir / "m.onnx").rename(self.dir / "other.onnx")
        status, out, err = self.run_tool(FAULTY, "reduce", "m.E0498", "--json", env=env)
        self.assertEqual((status, err), (0, ""))
        found = json.loads(out)
        self.assertEqual((found["failure"]["kind"], found["failure"]["op"], found["nodes"]), ("wrong", "Tanh", {"before": 61, "after": 1}))
        self.assertEqual(found["command"], "sluice compile reduced.onnx --target c2b8 --effort fast --calibrate reduced.npz")
        # A large model is not in the bundle.
        (self.dir / "m.E0498/m.onnx").unlink()
        self.wrong(USAGE, "error[E0601]: 'm.E0498' does not have the model; give it with --bundle m.E0498\n  --> m.E0498\n", "m.E0498")
        status, out, err = self.run_tool(FAULTY, "reduce", "other.onnx", "--bundle", "m.E0498", env=env)
        self.assertEqual((status, err), (0, ""))
        self.assertIn("reduced 61 nodes to 1: wrong value at Tanh", out)
        onnx.save(models.dense(), self.dir / "other.onnx")
        self.wrong(USAGE, "error[E0601]: the model is not 'm.onnx' of the bundle: its SHA-256 differs\n  --> other.onnx\n",
                   "other.onnx", "--bundle", "m.E0498")
        self.wrong(USAGE, "error[E0601]: --effort cannot be given with a bundle, which has the flags\n  --> m.E0498\n", "m.E0498",
                   "--effort", "fast")

    def test_bundles_of_other_versions(self):
        """The version that wrote a bundle is named, and what to do."""
        onnx.save(around(lambda chain: chain.add("Erf")), self.dir / "m.onnx")
        self.run_tool(FAULTY, "compile", "m.onnx", "--target", "c2b8", env={"SLUICE_FAULT": "proof Erf"})
        report = json.loads((self.dir / "m.E0499/report.json").read_text())
        ours = json.loads(self.ok("version", "--json"))["version"]
        self.assertTrue(report["version"].startswith(f"sluice {ours}\n"))
        path, whole = "m.E0499/report.json", " help: give the folder that the command named, with all its files\n"
        old = report["version"].replace(f"sluice {ours}\n", "sluice 0.0.9\n")
        again = f" help: use sluice 0.0.9 for this bundle, or run the command again with sluice {ours}, which writes a new one\n"
        for change, text in (
                ({"version": old, "flags": None}, f"'{path}' was written by sluice 0.0.9, this is sluice {ours}: its member 'flags' is "
                                                  f"missing or has another form\n  --> m.E0499\n{again}"),
                ({"version": old, "flags": ["--target", "c2b8", "--heroic", "3"]},
                 f"'m.E0499' was written by sluice 0.0.9, this is sluice {ours}: its flag '--heroic' is unknown\n  --> m.E0499\n{again}"),
                ({"version": old, "flags": ["--target", "c2b8", "--stream-delay", "x"]},
                 f"'m.E0499' was written by sluice 0.0.9, this is sluice {ours}: its flags '--target c2b8 --stream-delay x' have another "
                 f"form\n  --> m.E0499\n{again}"),
                ({"version": old, "inputs": [{"step": 0}]}, f"'{path}' was written by sluice 0.0.9, this is sluice {ours}: its member "
                                                            f"'inputs' is missing or has another form\n  --> m.E0499\n{again}"),
                ({"seed": "one"}, f"'{path}' is not a bundle: its member 'seed' is missing or has another form\n  --> m.E0499\n{whole}"),
                ({"errors": []}, f"'{path}' is not a bundle: its member 'errors' is missing or has another form\n  --> m.E0499\n{whole}"),
                ({"model": {"name": "m.onnx"}}, f"'{path}' is not a bundle: its member 'model' is missing or has another form\n"
                                                f"  --> m.E0499\n{whole}")):
            (self.dir / path).write_text(json.dumps({**report, **change}))
            self.wrong(MALFORMED, f"error[E0624]: {text}", "m.E0499")
        for text, said in (("{}", "its member 'errors' is missing or has another form"), ("[]", "its member 'errors' is missing or has "
                           "another form"), ("{", "it is not JSON")):
            (self.dir / path).write_text(text)
            self.wrong(MALFORMED, f"error[E0624]: '{path}' is not a bundle: {said}\n  --> m.E0499\n{whole}", "m.E0499")

    def test_bundles_of_other_internal_errors(self):
        onnx.save(around(lambda chain: chain.add("Erf")), self.dir / "m.onnx")
        for fault, code in (("proof", "E0499"), ("throw", "E0199"), ("check", "E0611")):
            with self.subTest(fault):
                env = {"SLUICE_FAULT": f"{fault} Erf"}
                status, _, err = self.run_tool(FAULTY, "compile", "m.onnx", "--target", "c2b8", "-o", "p.sluice", env=env)
                self.assertEqual(status, INTERNAL)
                self.assertIn(f" note: 'p.{code}' has what a report needs: ", err)
                report = json.loads((self.dir / f"p.{code}/report.json").read_text())
                self.assertEqual((report["errors"][0]["code"], report["flags"], report["inputs"]), (code, ["--target", "c2b8"], []))
                status, out, err = self.run_tool(FAULTY, "reduce", f"p.{code}", env=env)
                self.assertEqual((status, err), (0, ""))
                self.assertRegex(out, f"reduced 61 nodes to 1: {code}")

    def test_engines_that_differ(self):
        onnx.save(around(lambda chain: chain.add("Gemm", chain.constant(chain.rng.standard_normal((WIDTH, WIDTH))))), self.dir / "m.onnx")
        env = {"SLUICE_FAULT": "vm Gemm"}
        if "c2b8" not in json.loads(self.ok("version", "--json"))["engines"]["rtl"]:
            self.wrong(USAGE, "error[E0623]: the model does not show 'E0614': it shows E0606\n  --> m.onnx\n", "m.onnx", "--target", "c2b8",
                       "--keep", "E0614")
            return
        self.ok("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice")
        status, _, err = self.run_tool(FAULTY, "run", "m.sluice", "--engine", "both", "--input", "x=random:1", env=env)
        self.assertEqual(status, 1)
        self.assertRegex(err, r"\Aerror\[E0614\]: the engines differ: inference 0: output '\w+' differs in bits\n  --> m\.sluice\n note: "
                              r"'m\.E0614' has what a report needs: program, flags, versions and inputs; 'sluice reduce MODEL --bundle "
                              r"m\.E0614' makes the model small\n\Z")
        self.assertEqual((self.dir / "m.E0614/m.sluice").read_bytes(), (self.dir / "m.sluice").read_bytes())
        status, out, err = self.run_tool(FAULTY, "reduce", "m.onnx", "--bundle", "m.E0614", env=env)
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"\Areduced 61 nodes to 1: E0614, \d+ models tried, \d+\.\d\d s\nwritten reduced\.onnx, sluice compile reduced\.onnx "
                              r"--target c2b8 -o reduced\.sluice && sluice run reduced\.sluice --engine both --input @reduced\.npz shows the "
                              r"failure\nwritten reduced\.npz, inputs that show it\n")
        self.ok("compile", "reduced.onnx", "--target", "c2b8", "-o", "reduced.sluice")
        run = ("run", "reduced.sluice", "--engine", "both", "--input", "@reduced.npz")
        self.assertIn("engines agree", self.ok(*run))
        status, _, err = self.run_tool(FAULTY, *run, env=env)
        self.assertEqual(status, 1)
        self.assertIn("error[E0614]: the engines differ: ", err)

    def test_engines_that_differ_in_bench_and_profile(self):
        """The engine `vm` is slower: a difference of cycles."""
        onnx.save(around(lambda chain: chain.add("Erf")), self.dir / "m.onnx")
        self.ok("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice")
        if "c2b8" not in json.loads(self.ok("version", "--json"))["engines"]["rtl"]:
            return
        env = {"SLUICE_FAULT": "slow Erf"}
        note = (r"  --> m\.sluice\n note: 'm\.E0614' has what a report needs: program, flags, versions and inputs; 'sluice reduce MODEL "
                r"--bundle m\.E0614' makes the model small\n\Z")
        for command, text in (("bench", r"latency, spaced, is \d+ / \d+ cycles"), ("profile", r"cycle \d+, .+ unit of core \d: .+")):
            with self.subTest(command):
                status, out, err = self.run_tool(FAULTY, command, "m.sluice", "--engine", "both", env=env)
                self.assertEqual((status, out), (1, ""))
                self.assertRegex(err, rf"\Aerror\[E0614\]: the engines differ, vm / rtl: {text}\n{note}")
                self.assertEqual((self.dir / "m.E0614/m.sluice").read_bytes(), (self.dir / "m.sluice").read_bytes())
                status, out, err = self.run_tool(FAULTY, "reduce", "m.onnx", "--bundle", "m.E0614", env=env)
                self.assertEqual((status, err), (0, ""))
                self.assertRegex(out, r"\Areduced 61 nodes to 1: E0614, \d+ models tried, ")
                shutil.rmtree(self.dir / "m.E0614")

    def test_programs_that_stall(self):
        """`run`, `bench` and `profile` write a bundle of an engine that stalls; `reduce` runs the programs on the engines."""
        onnx.save(around(lambda chain: chain.add("Erf")), self.dir / "m.onnx")
        self.ok("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice")
        env = {"SLUICE_FAULT": "stall Erf"}
        for command in (("run", "m.sluice", "--engine", "vm", "--input", "x=random:1"), ("bench", "m.sluice"), ("profile", "m.sluice")):
            with self.subTest(command):
                status, out, err = self.run_tool(FAULTY, *command, env=env)
                self.assertEqual((status, out), (INTERNAL, ""))
                self.assertRegex(err, r"(?s)\Aerror\[E0607\]: engine vm: no progress for 10000 cycles.*\n  --> m\.sluice\n note: 'm\.E0607' has "
                                      r"what a report needs: program, flags, versions and inputs; 'sluice reduce MODEL --bundle m\.E0607' "
                                      r"makes the model small\nif the program file is as sluice compiled it, ")
                report = json.loads((self.dir / "m.E0607/report.json").read_text())
                self.assertEqual(([one["code"] for one in report["errors"]], [one["input"] for one in report["inputs"]]), (["E0607"], ["x"]))
                self.assertTrue((self.dir / "m.E0607/step_0_input_0.npy").exists())
                status, out, err = self.run_tool(FAULTY, "reduce", "m.onnx", "--bundle", "m.E0607", env=env)
                self.assertEqual((status, err), (0, ""))
                self.assertRegex(out, r"\Areduced 61 nodes to 1: E0607, \d+ models tried, ")
                shutil.rmtree(self.dir / "m.E0607")

    def test_external_weights_are_in_the_bundle(self):
        model = around(lambda chain: chain.add("Erf"))
        onnx.save(model, str(self.dir / "m.onnx"), save_as_external_data=True, location="m.data", size_threshold=0)
        env = {"SLUICE_FAULT": "proof Erf"}
        self.run_tool(FAULTY, "compile", "m.onnx", "--target", "c2b8", env=env)
        (self.dir / "m.data").unlink()
        status, out, _ = self.run_tool(FAULTY, "reduce", "m.E0499", env=env)
        self.assertEqual(status, 0)
        self.assertIn("reduced 61 nodes to 1: E0499 at Erf", out)

    def test_flags(self):
        """Flags that name tensors and nodes stay as long as these do."""
        chain = Chain()
        chain.filler(50)
        product = chain.add("Gemm", inputs=["x", chain.constant(chain.rng.standard_normal((WIDTH, WIDTH)))])
        chain.nodes[-1].name = ""
        chain.value = chain.add("Add", inputs=[product, "h"])
        chain.inputs.append(models.tensor("h", 4, WIDTH))
        found, small = self.reduced(chain.model(product), "--state", f"h={chain.value}", "--core-partition", "50=1",
                                    fault="weight Gemm", kind="wrong", code="E0498", op="Gemm")
        self.assertEqual(found["command"],
                         "sluice compile reduced.onnx --target c2b8 --core-partition node_50=1 --calibrate reduced.npz")
        self.assertEqual([n.op_type for n in small.graph.node], ["Gemm"])

    def test_a_cut(self):
        model = around(lambda chain: chain.add("Erf"))
        names = [n.output[0] for n in model.graph.node]
        onnx.save(model, self.dir / "m.onnx")
        status, out, err = self.run_tool(FAULTY, "reduce", "m.onnx", "--target", "c2b8", "--inputs", names[23], "--outputs", names[50],
                                         env={"SLUICE_FAULT": "proof Erf"})
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, "reduced \\d\\d nodes to 1: E0499 at Erf")
        self.assertNotIn("--inputs", out)

    def test_loop_bodies(self):
        """Nodes of bodies count, and go."""
        body = helper.make_graph([helper.make_node("Add", ["s", "e"], ["a"]), helper.make_node("Relu", ["a"], ["b"]),
                                  helper.make_node("Sigmoid", ["b"], ["c"]), helper.make_node("Erf", ["c"], ["d"]),
                                  helper.make_node("Identity", ["d"], ["o"])], "body",
                                 [models.tensor("s", WIDTH), models.tensor("e", WIDTH)], [models.tensor("d", WIDTH), models.tensor("o", WIDTH)])
        def change(chain):
            state = chain.constant(np.zeros(WIDTH))
            chain.nodes.append(helper.make_node("Scan", [state, chain.value], ["last", "all"], body=body, num_scan_inputs=1))
            chain.value = "all"
        found, small = self.reduced_bodies(around(change))
        self.assertEqual([n.op_type for n in small.graph.node], ["Scan"])
        inner = small.graph.node[0].attribute[0].g
        self.assertEqual([n.op_type for n in inner.node], ["Erf"])
        self.assertEqual(found["nodes"], {"before": 66, "after": 2})

    def reduced_bodies(self, model):
        onnx.save(model, self.dir / "m.onnx")
        status, out, err = self.run_tool(FAULTY, "reduce", "m.onnx", "--target", "c2b8", "--json", env={"SLUICE_FAULT": "proof Erf"})
        self.assertEqual((status, err), (0, ""))
        return json.loads(out), onnx.load(self.dir / "reduced.onnx")

    def test_constants_and_extents_shrink(self):
        def change(chain):
            chain.add("Gemm", chain.constant(chain.rng.standard_normal((WIDTH, WIDTH))), chain.constant(chain.rng.standard_normal(WIDTH)))
        _, small = self.reduced(around(change), fault="proof Gemm", kind="error", code="E0499", op="Gemm")
        self.assertEqual([[d.dim_value for d in i.type.tensor_type.shape.dim] for i in small.graph.input], [[1, 1]])
        for one in small.graph.initializer:
            array = onnx.numpy_helper.to_array(one)
            self.assertEqual(array.tolist(), np.ones_like(array).tolist())
            self.assertEqual(array.size, 1)

    def test_an_interrupt_keeps_the_best_model(self):
        onnx.save(around(lambda chain: chain.add("Erf")), self.dir / "m.onnx")
        flags = ("--keep", "timeout", "--timeout", "1", "--progress", "always")
        with subprocess.Popen([FAULTY, "reduce", "m.onnx", "--target", "c2b8", *flags], cwd=self.dir, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, env={**os.environ, "SLUICE_FAULT": "hang Erf"}) as running:
            for line in running.stderr:
                if " nodes, " in line:
                    break
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=600)
        self.assertEqual(running.returncode, 0, err)
        self.assertIn("note: interrupted: this is the smallest model so far\n", err)
        self.assertRegex(out, r"\Areduced 61 nodes to \d+: no end in stage importing, \d models tried, ")
        self.assertLess(len(onnx.load(self.dir / "reduced.onnx").graph.node), 61)

    def test_an_interrupt_before_there_is_a_model(self):
        onnx.save(around(lambda chain: chain.add("Erf")), self.dir / "m.onnx")
        with subprocess.Popen([FAULTY, "reduce", "m.onnx", "--target", "c2b8"], cwd=self.dir, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env={**os.environ, "SLUICE_FAULT": "hang Erf"}) as running:
            time.sleep(0.5)
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=600)
        self.assertEqual((running.returncode, out, err), (-signal.SIGINT, b"", b""))
        self.assertFalse((self.dir / "reduced.onnx").exists())

    def test_the_number_of_trials(self):
        onnx.save(around(lambda chain: chain.add("Erf")), self.dir / "m.onnx")
        status, out, err = self.run_tool(FAULTY, "reduce", "m.onnx", "--target", "c2b8", "--trials", "3", env={"SLUICE_FAULT": "crash Erf"})
        self.assertEqual((status, err), (0, "note: stopped after --trials 3: a smaller model may exist\n"))
        self.assertRegex(out, r"\Areduced 61 nodes to \d+: SIGSEGV in stage importing, 3 models tried, ")

    def wrong(self, code, text, *args, env=()):
        def files():
            return {p.name: p.read_bytes() for p in self.dir.iterdir() if p.is_file()}
        before = files()
        self.assertEqual(self.run_tool(FAULTY, "reduce", *args, env=env), (code, "", text))
        self.assertEqual(files(), before)

    def test_models_without_the_failure(self):
        onnx.save(models.dense(), self.dir / "m.onnx")
        self.wrong(USAGE, "error[E0623]: the model shows no failure: it compiles and its program passes the check\n  --> m.onnx\n",
                   "m.onnx", "--target", "c2b8")
        self.wrong(USAGE, "error[E0623]: the model does not show 'E0302': it compiles and its program passes the check\n  --> m.onnx\n",
                   "m.onnx", "--target", "c2b8", "--keep", "E0302")
        self.wrong(USAGE, "error[E0623]: the model does not show 'crash': it shows wrong value at Relu\n  --> m.onnx\n",
                   "m.onnx", "--target", "c2b8", "--keep", "crash", env={"SLUICE_FAULT": "weight Gemm"})
        self.wrong(USAGE, "error[E0623]: the model takes longer than 1 s; allow more with --timeout, or reduce this with --keep timeout\n"
                   "  --> m.onnx\n", "m.onnx", "--target", "c2b8", "--timeout", "1", env={"SLUICE_FAULT": "hang Gemm"})

    def test_flags_that_the_model_needs(self):
        """What is wrong with the flags is no failure to reduce; the message says what to do."""
        model = models.dense()
        model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "N"
        onnx.save(model, self.dir / "m.onnx")
        _, _, err = self.sluice("compile", "m.onnx", "--target", "c2b8")
        self.assertIn("error[E0111]: ", err)
        self.wrong(USAGE, err, "m.onnx", "--target", "c2b8")
        status, out, _ = self.run_tool(FAULTY, "reduce", "m.onnx", "--target", "c2b8", "--input-shape", "N=1", env={"SLUICE_FAULT": "proof Gemm"})
        self.assertEqual(status, 0)
        self.assertIn("reduced 2 nodes to 1: E0499 at Gemm", out)

    def test_standard_input(self):
        onnx.save(models.dense(), self.dir / "m.onnx")
        with open(self.dir / "m.onnx", "rb") as file:
            done = subprocess.run([FAULTY, "reduce", "-", "--target", "c2b8"], cwd=self.dir, stdin=file, capture_output=True, check=False,
                                  env={**os.environ, "SLUICE_FAULT": "proof Relu"})
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn(b"reduced 2 nodes to 1: E0499 at Relu", done.stdout)

    def test_wrong_arguments(self):
        onnx.save(models.dense(), self.dir / "m.onnx")
        (self.dir / "m.mlir").write_text("")
        (self.dir / "empty").mkdir()
        for code, text, *args in (
                (USAGE, "error[E0601]: --output is 'small', allowed: a file name that ends in .onnx\n  --> m.onnx\n", "m.onnx", "-o", "small"),
                (USAGE, "error[E0601]: --keep is 'Crash', allowed: an error code, wrong, crash or timeout\n  --> m.onnx\n", "m.onnx",
                 "--keep", "Crash"),
                (USAGE, "error[E0601]: --output 'm.onnx' would overwrite the model\n  --> m.onnx\n", "m.onnx", "-o", "m.onnx"),
                (USAGE, "error[E0601]: reduce needs an ONNX model, not textual IR\n  --> m.mlir\n", "m.mlir"),
                (USAGE, "error[E0601]: --data-dim 'x' is not of the form NAME=N\n  --> m.onnx\n", "m.onnx", "--data-dim", "x"),
                (USAGE, "error[E0601]: 'empty' is a folder, allowed with --bundle: an ONNX model\n  --> empty\n", "empty", "--bundle", "b"),
                (MALFORMED, "error[E0501]: cannot read 'empty/report.json': No such file or directory\n", "empty"),
                (MALFORMED, "error[E0101]: cannot open 'gone.onnx': No such file or directory\n  --> gone.onnx\n", "gone.onnx"),
                (MALFORMED, "error[E0501]: cannot read 'gone.npz': No such file or directory\n note: read from --data 'gone.npz'\n",
                 "m.onnx", "--target", "c2b8", "--data", "gone.npz")):
            with self.subTest(args):
                self.wrong(code, text, *args)


if __name__ == "__main__":
    main()
