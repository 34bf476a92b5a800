#!/usr/bin/env python3
"""The driver on program files: exit codes, exact messages, results, files left.

usage: cli_test.py SLUICE MAKE_PROGRAMS SOURCE_FOLDER [unittest arguments]
"""
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
from onnx import numpy_helper

SLUICE, MAKE_PROGRAMS, SOURCE = sys.argv[1:4]


def run(*args, stdin=b"", cwd=None):
    done = subprocess.run([SLUICE, *map(str, args)], input=stdin, capture_output=True, timeout=3600, check=False, cwd=cwd)
    return done.returncode, done.stdout, done.stderr.decode()


def expected(x):
    return np.maximum(0, 2 * x.reshape(8) + np.arange(8)).astype(np.float32)


class Cli(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)
        subprocess.run([MAKE_PROGRAMS, folder.name], check=True)
        self.small = self.dir / "small.sluice"
        self.x = np.array([[1, -1, 2, -2, 0.5, 100, -100, 0]], dtype=np.float32)
        np.save(self.dir / "x.npy", self.x)
        self.input = f"x=@{self.dir / 'x.npy'}"

    def fails(self, code, message, *args, stdin=b"", cwd=None):
        """The command ends with `code` and says `message` in one line, and prints no result."""
        found, out, err = run(*args, stdin=stdin, cwd=cwd)
        self.assertEqual((found, out), (code, b""), err)
        self.assertIn(message, err.splitlines()[0] if err else "")

    def vm(self, *args):
        return run("run", self.small, "--engine", "vm", *args)

    # ---- run ---------------------------------------------------------------
    def test_run_writes_and_compares(self):
        y = self.dir / "y.npy"
        code, out, err = self.vm("--input", self.input, "--output", f"y=@{y}")
        self.assertEqual(code, 0, err)
        self.assertRegex(out.decode(), r"engine vm: \d+ cycles, \d+\.\d{3} us at 300 MHz, nominal")
        np.testing.assert_array_equal(np.load(y), expected(self.x))
        code, out, err = self.vm("--input", self.input, "--expect", f"y=@{y}")
        self.assertEqual((code, err), (0, ""))
        self.assertIn(b"max error 0, 0 % of the range 205; allowed 2 %, ok", out)

    def test_run_json(self):
        code, out, err = self.vm("--input", self.input, "--json")
        self.assertEqual(code, 0, err)
        result = json.loads(out)
        self.assertEqual((result["schema"], result["ok"], result["equal"]), (1, True, None))
        self.assertGreater(result["engines"]["vm"]["cycles"], 20)
        self.assertEqual(result["outputs"], [{"name": "y", "shape": [8], "ok": None, "max_abs_error": None, "mean_abs_error": None,
                                              "snr_db": None, "worst": None, "reference_range": None,
                                              "reference_magnitude": None, "near_constant": None,
                                              "not_finite": {"infinite": 0, "first_infinite": None, "nan": 0,
                                                             "first_nan": None},
                                              "reference_not_finite": None, "sets": []}])
        path = self.dir / "r.json"
        code, out, err = self.vm("--input", self.input, f"--json={path}")
        self.assertEqual(code, 0, err)
        self.assertIn(b"engine vm", out)
        self.assertEqual(json.loads(path.read_text()), result)

    def test_counters(self):
        code, out, err = self.vm("--input", self.input, "--counters", "--json")
        self.assertEqual(code, 0, err)
        units = json.loads(out)["engines"]["vm"]["counters"]
        self.assertEqual([(unit["unit"], unit["core"]) for unit in units],
                         [(unit, core) for core in (0, 1) for unit in ("matrix", "vector", "sequencer", "network")] +
                         [("input", None), ("sequencer", None), ("network", None)])
        totals = {unit["busy"] + unit["idle"] + sum(unit["waits"].values()) for unit in units}
        self.assertEqual(len(totals), 1, totals)
        matrix, vector = units[:2]
        self.assertEqual((matrix["busy"], vector["busy"]), (1, 1))
        self.assertGreater(vector["waits"]["result"], 0)
        self.assertNotIn("counters", json.loads(self.vm("--input", self.input, "--json")[1])["engines"]["vm"])
        # As text, and with every data set a new start: the counters are those of all.
        text = self.vm("--input", self.input, "--counters")[1].decode()
        self.assertRegex(text, r"\nunit +busy +idle   waits, in cycles\n")
        self.assertRegex(text, rf"\ncore 0 vector +1 +\d+\.\d % +{vector['idle']}   result {vector['waits']['result']}")
        for i in range(2):
            folder = self.dir / "sets" / f"test_data_set_{i}"
            folder.mkdir(parents=True)
            (folder / "input_0.pb").write_bytes(numpy_helper.from_array(self.x, "x").SerializeToString())
        both = json.loads(self.vm("--data-set", self.dir / "sets", "--counters", "--json")[1])["engines"]["vm"]["counters"]
        self.assertEqual([unit["busy"] for unit in both], [2 * unit["busy"] for unit in units])

    def test_different_from_the_reference(self):
        np.save(self.dir / "wrong.npy", expected(self.x) + 10)
        code, _, err = self.vm("--input", self.input, "--expect", f"y=@{self.dir / 'wrong.npy'}")
        self.assertEqual(code, 1)
        self.assertIn("error[E0613]: output 'y' differs from its reference: max error 10 at [0], 4.88 % of the range "
                      "205; mean 10; SNR 17.7 dB; allowed 2 %\n", err)
        code, _, err = self.vm("--input", self.input, "--expect", f"y=@{self.dir / 'wrong.npy'}", "--atol", "10")
        self.assertEqual(code, 0, err)

    def test_standard_streams(self):
        y = self.vm("--input", self.input, "--output", "y=@-")[1]
        np.testing.assert_array_equal(np.load(io.BytesIO(y)), expected(self.x))
        code, out, err = run("run", "-", "--engine", "vm", "--input", self.input, stdin=self.small.read_bytes())
        self.assertEqual(code, 0, err)

    def test_input_forms(self):
        for kind in (np.float64, np.float16):
            np.save(self.dir / "k.npy", self.x.astype(kind))
            code, _, err = self.vm("--input", f"x=@{self.dir / 'k.npy'}")
            self.assertEqual(code, 0, err)
        np.savez_compressed(self.dir / "all.npz", x=self.x)
        np.savez(self.dir / "two.npz", x=self.x, other=self.x)
        (self.dir / "x.pb").write_bytes(numpy_helper.from_array(self.x, "x").SerializeToString())
        np.save(self.dir / "fortran.npy", np.asfortranarray(np.arange(8, dtype=np.float32).reshape(1, 8)))
        for spec in (f"@{self.dir / 'all.npz'}", f"x=@{self.dir / 'two.npz'}", f"x=@{self.dir / 'x.pb'}",
                     f"x=@{self.dir / 'fortran.npy'}", "x=zeros", "x=random:7"):
            code, _, err = self.vm("--input", spec)
            self.assertEqual(code, 0, err)
        first = self.vm("--input", "x=random:7", "--output", "y=@-")[1]
        self.assertEqual(first, self.vm("--input", "x=random:7", "--output", "y=@-")[1])
        self.assertNotEqual(first, self.vm("--input", "x=random:8", "--output", "y=@-")[1])

    def test_data_sets(self):
        for i, sign in enumerate((1, -1)):
            folder = self.dir / "data" / f"test_data_set_{i}"
            folder.mkdir(parents=True)
            (folder / "input_0.pb").write_bytes(numpy_helper.from_array(sign * self.x, "x").SerializeToString())
            (folder / "output_0.pb").write_bytes(
                numpy_helper.from_array(expected(sign * self.x), "y").SerializeToString())
        for folder in ("data", "data/test_data_set_1"):
            code, out, err = self.vm("--data-set", self.dir / folder, "--json")
            self.assertEqual(code, 0, err)
            self.assertEqual(json.loads(out)["outputs"][0]["max_abs_error"], 0)

    def test_wrong_inputs(self):
        wrong = self.dir / "w.npy"
        np.save(wrong, self.x.reshape(8))
        strange = self.dir / "i.npy"
        np.save(strange, self.x.astype(np.complex128))
        cut = self.dir / "cut.npy"
        cut.write_bytes((self.dir / "x.npy").read_bytes()[:-4])
        text = self.dir / "t.npy"
        text.write_text("hello")
        pb = self.dir / "t.pb"
        pb.write_text("hello")
        npz = self.dir / "t.npz"
        npz.write_bytes(b"PK" + bytes(40))
        for code, message, spec in (
                (2, "error[E0602]: the model has no input 'X', allowed: 'x'", "X=zeros"),
                (2, "error[E0604]: input 'x' has shape [8], allowed: [1, 8]", f"x=@{wrong}"),
                (2, f"error[E0604]: '{strange}': the element type is '<c16', allowed: b1, i1 to i8, u1 to u8, f2, f4, f8, "
                 "bfloat16 (V2)", f"x=@{strange}"),
                (2, "error[E0601]: input 'x' is 'ones', allowed: @FILE, zeros, random:SEED", "x=ones"),
                (2, "error[E0601]: 'x' is not of the form NAME=VALUE", "x"),
                (5, f"error[E0605]: '{cut}': not a valid .npy file: the file has 28 bytes of elements, the shape (1, 8) needs 32",
                 f"x=@{cut}"),
                (5, f"error[E0605]: '{text}': not a valid .npy file: the magic bytes at the start are missing", f"x=@{text}"),
                (5, f"error[E0605]: '{pb}': not a valid .pb tensor: the file is not a TensorProto", f"x=@{pb}"),
                (5, f"error[E0605]: '{npz}': not a valid .npz file: the central directory is missing", f"x=@{npz}"),
                (5, f"error[E0501]: cannot read '{self.dir}/no.npy': No such file or directory", f"x=@{self.dir}/no.npy")):
            with self.subTest(spec=spec):
                self.fails(code, message, "run", self.small, "--engine", "vm", "--input", spec)
        self.fails(2, "error[E0603]: input 'x' [1, 8] is not given", "run", self.small, "--engine", "vm")
        self.fails(2, "error[E0603]: input 'x' is given twice", "run", self.small, "--engine", "vm",
                   "--input", "x=zeros", "--input", "x=zeros")
        self.fails(5, f"error[E0615]: '{self.dir}' has neither input_0.pb nor test_data_set_0",
                   "run", self.small, "--engine", "vm", "--data-set", self.dir)

    def test_no_output_file_on_failure(self):
        y = self.dir / "y.npy"
        y.write_text("old")
        stalling = self.dir / "stalling.sluice"
        code, _, err = run("run", stalling, "--engine", "vm", "--input", "x=zeros", "--output", f"y=@{y}",
                           "--stall-limit", "1000", cwd=self.dir)
        self.assertEqual(code, 6)
        self.assertIn('error[E0607]: engine vm: no progress for 1000 cycles: the matrix unit of core 0 waits for token 7 '
                      '(has 0, needs 2) in instruction 0, node 0 "fc" (Gemm)', err)
        self.assertTrue(err.endswith("\nif the program file is as sluice compiled it, this is a bug in sluice; please report "
                                     "it with the model, the command line and the output of 'sluice "
                                     "version --json'\n"), err)
        self.assertEqual(y.read_text(), "old")
        before = sorted(os.listdir(self.dir))
        self.fails(2, "error[E0516]: cannot write", "run", self.small, "--engine", "vm", "--input", self.input,
                   "--output", f"y=@{self.dir}/missing/y.npy")
        self.assertEqual(sorted(os.listdir(self.dir)), before)

    def test_engine_that_is_not_built(self):
        def refused(name, why):
            self.fails(3, f"error[E0606]: engine 'rtl' of this build cannot run target 'c2b8': {why}; engine 'vm' runs "
                       "every target", "run", self.dir / name, "--input", "x=zeros")
        models = json.loads(run("version", "--json")[1])["engines"]["rtl"]
        only = f"it has no hardware 'none', only {', '.join(models) or 'none'}"
        if "c2b8" not in models:
            refused("other.sluice", only)
            return
        refused("other.sluice", f"{only}; 'c2b8' fits, so set \"rtl\": \"c2b8\" in the target file")
        refused("larger.sluice", "inbox_rows is 2048 (hardware: 1024), tables is 8 (hardware: 4); add the target "
                "file to hw/targets and build again")
        refused("terms.sluice", "pe_terms is 2 (hardware: 4)")
        refused("hops.sluice", "net_hop is 4 (hardware: 3)")

    def test_smaller_memories_run_on_the_model_of_the_larger(self):
        if "c2b8" not in json.loads(run("version", "--json")[1])["engines"]["rtl"]:
            self.skipTest("this build has no model of c2b8")
        results = [run("run", self.dir / name, "--engine", "both", "--input", self.input, "--output", "y=@-")
                   for name in ("small.sluice", "smaller.sluice")]
        self.assertEqual([code for code, _, _ in results], [0, 0], results)
        self.assertIn("engines agree: equal bits, equal cycles", results[1][2])
        self.assertEqual(results[0], results[1])

    def test_waves_that_are_not_built(self):
        waves = self.dir / "w.fst"
        self.fails(3, f"error[E0612]: engine 'vm' cannot write waves to '{waves}', allowed: engine 'rtl'", "run", self.small,
                   "--engine", "vm", "--input", "x=zeros", "--waves", waves)
        self.fails(2, f"error[E0516]: cannot write '{self.dir}/no/w.fst'", "run", self.small, "--input", "x=zeros",
                   "--waves", self.dir / "no/w.fst")
        if "c6b32" not in json.loads(run("version", "--json")[1])["engines"]["rtl"]:
            self.skipTest("this build has no model of c6b32")
        digits = self.dir / "digits.sluice"
        self.assertEqual(run("compile", f"{SOURCE}/tools/digits/digits.onnx", "--target", "c6b32", "--effort", "fast",
                             "-o", digits)[0], 0)
        self.fails(3, f"error[E0612]: engine 'rtl' of this build cannot write waves of hardware 'c6b32' to "
                   f"'{waves}', only of c2b8; configure with -DSLUICE_RTL_WAVES='c2b8;c6b32', or run without waves",
                   "run", digits, "--input", "pixels=zeros", "--waves", waves)

    # ---- bench -------------------------------------------------------------
    def bench(self, *args):
        code, out, err = run("bench", self.small, "--engine", "vm", "--json", *args)
        self.assertEqual(code, 0, err)
        return json.loads(out)

    def test_bench(self):
        both = self.bench()
        self.assertEqual(set(both), {"schema", "ok", "engine", "equal", "target", "clock_mhz", "clock_source", "spaced",
                                     "contiguous", "period", "ahead", "macs", "utilisation"})
        self.assertEqual((both["schema"], both["engine"], both["target"], both["clock_mhz"], both["macs"]),
                         (1, "vm", "c2b8", 300, 64))
        ran = json.loads(self.vm("--input", self.input, "--steps", "2", "--json")[1])
        self.assertEqual(both["spaced"], ran["engines"]["vm"]["cycles"])
        self.assertGreater(both["period"], 0)
        self.assertLessEqual(both["period"], both["contiguous"])
        self.assertAlmostEqual(both["utilisation"], 64 / (2 * 8 * 8 * both["period"]))
        spaced = self.bench("--spacing", "spaced")
        self.assertEqual(spaced, {**both, "contiguous": None, "period": None, "utilisation": None})
        self.assertEqual(self.bench("--spacing", "contiguous"), {**both, "spaced": None})
        code, out, _ = run("bench", self.small, "--engine", "vm", "--clock-mhz", "250")
        self.assertEqual(code, 0)
        self.assertIn(f"latency, spaced     {both['spaced']} cycles ({both['spaced'] / 250:.3f} us at 250 MHz, given)",
                      out.decode())

    def test_bench_both(self):
        if "c2b8" not in json.loads(run("version", "--json")[1])["engines"]["rtl"]:
            self.skipTest("this build has no model of c2b8")
        code, out, err = run("bench", self.small, "--engine", "both", f"--json={self.dir / 'b.json'}")
        self.assertEqual((code, err), (0, ""))
        text = out.decode()
        self.assertIn("model small on c2b8, engines vm and rtl, 64 MAC\n", text)
        self.assertRegex(text, r"engines agree: equal cycles\nspeed of vm +[0-9.]+ kHz \(\d+ cycles in [0-9.]+ s\)\n"
                               r"speed of rtl +[0-9.]+ kHz")
        self.assertEqual(json.loads((self.dir / "b.json").read_text()),
                         {**self.bench(), "engine": "both", "equal": True})

    def test_bench_refuses(self):
        self.fails(2, "error: --clock-mhz: Value 0 not in range", "bench", self.small, "--clock-mhz", "0")
        self.fails(2, "error: --engine: fast not in {vm,rtl,both}", "bench", self.small, "--engine", "fast")
        self.fails(2, "error[E0602]: the file has no model 'none', allowed: small", "bench", self.small, "--model", "none")
        self.fails(3, "error[E0606]: engine 'rtl' of this build cannot run target", "bench", self.dir / "other.sluice",
                   "--engine", "rtl")
        self.fails(6, "error[E0607]: engine vm: no progress for 10000 cycles", "bench", self.dir / "stalling.sluice",
                   "--engine", "vm", cwd=self.dir)

    # ---- program files -----------------------------------------------------
    def test_bad_program_files(self):
        good = self.small.read_bytes()
        cases = {
            "cut": (good[:-1], "E0504", "truncated"), "flip": (good[:900] + bytes([good[900] ^ 4]) + good[901:], "E0506", "damaged"),
            "longer": (good + b"x", "E0505", "trailing bytes"), "version": (good[:8] + b"\x63" + good[9:], "E0503", "format version 99"),
            "text": (b"hello", "E0502", "not a program file"), "empty": (b"", "E0502", "not a program file")}
        for name, (data, code, message) in cases.items():
            path = self.dir / name
            path.write_bytes(data)
            for command in (("run", path, "--engine", "vm", "--input", "x=zeros"), ("inspect", path)):
                with self.subTest(case=name, command=command[0]):
                    found, out, err = run(*command)
                    self.assertEqual((found, out), (5, b""), err)
                    self.assertIn(f"error[{code}]", err)
                    self.assertIn(message, err)
        self.fails(5, f"error[E0501]: cannot read '{self.dir}': it is a directory", "inspect", self.dir)
        code, out, _ = run("inspect", self.dir / "cut", "--json")
        self.assertEqual(code, 5)
        self.assertEqual((json.loads(out)["ok"], json.loads(out)["errors"][0]["code"]), (False, "E0504"))

    def test_what_cannot_be_a_program_is_not_read(self):
        """/dev/zero has no end."""
        for command in (("inspect", "/dev/zero"), ("run", "/dev/zero", "--input", "x=zeros")):
            self.fails(5, "error[E0502]: '/dev/zero': not a program file", *command)
        for command in (("inspect", "-"), ("run", "-", "--input", "x=zeros"),
                        ("run", self.small, "--engine", "vm", "--input", "x=@-")):
            with self.subTest(command=command), open("/dev/zero", "rb") as zero:
                done = subprocess.run([SLUICE, *map(str, command)], stdin=zero, capture_output=True, timeout=3600,
                                      check=False)
                self.assertEqual(done.returncode, 5, done.stderr)

    def test_inspect_counts_what_compile_counts(self):
        """Rows that instructions reach, not only those with a value at the start."""
        digits = self.dir / "digits.sluice"
        def used(rows):
            most = {}
            for row in rows:
                most[row["memory"]] = max(most.get(row["memory"], 0), row["used"])
            return most
        for target, effort in (("c6b32", "default"), ("c6b32", "fast"), ("c2b8", "fast")):
            code, out, _ = run("compile", f"{SOURCE}/tools/digits/digits.onnx", "--target", target, "--effort", effort,
                               "-o", digits, "--json")
            self.assertEqual(code, 0)
            memory = json.loads(run("inspect", digits, "--memory", "--json")[1])["memory"]
            self.assertEqual(used(memory), used(json.loads(out)["fits"]))

    def test_inspect(self):
        code, out, err = run("inspect", self.small)
        self.assertEqual(code, 0, err)
        text = out.decode()
        self.assertIn("model small: 72 parameters, 64 multiply-accumulates", text)
        self.assertIn("input  x float32 [1, 8], data dimension 1, rows 0 to 0", text)
        self.assertRegex(text, r"\ncore +memory +used +capacity +share\n")
        self.assertRegex(text, r"\n0 +weight blocks +1 +2048 +0\.0 %\n")
        self.assertRegex(text, r"weights +\d+ +\d+  [0-9a-f]{64}")
        code, out, err = run("inspect", self.small, "--asm", "--map")
        self.assertRegex(out.decode(), r'0  mm .*; node 0 "fc" \(Gemm\); reads x\[0, 0..7\]\n')
        self.assertRegex(out.decode(), r'1  vec .*; reads constant, writes y\[0..7\]\n')
        self.assertIn('node 1 "act" (Relu): 0:1', out.decode())
        code, out, err = run("inspect", self.small, "--core", "1", "--json")
        self.assertEqual(json.loads(out)["asm"], [{"core": 1, "instructions": [{"text": "halt", "source": "", "moves": ""}]}])
        self.fails(2, "error[E0601]: core is 2, allowed: 0 to 1", "inspect", self.small, "--core", "2")

    # ---- the rest ----------------------------------------------------------
    def test_usage(self):
        for args in ((), ("frobnicate",), ("run",), ("run", "--frob", self.small), ("run", self.small, "--engine", "gpu"),
                     ("run", self.small, "--steps", "0"), ("targets", "--color", "maybe")):
            with self.subTest(args=args):
                code, out, err = run(*args)
                self.assertEqual((code, out), (2, b""), err)
                self.assertRegex(err, r"^error: .*; see 'sluice.* --help'\n$")
        code, out, _ = run("--help")
        self.assertEqual(code, 0)
        self.assertIn(b"exit codes: 0 ok", out)

    def test_targets(self):
        code, out, _ = run("targets")
        self.assertEqual(code, 0)
        self.assertRegex(out.decode(), r"c6b32-deep +6 +32 +25165824 +6144 +c6b32 +300 MHz, nominal\n")
        code, out, err = run("targets", "--show", "c2b8")
        self.assertEqual(err, "area: about 100,000 LUTs, 69,600 flip-flops, 272 DSP blocks, 86 block RAMs, 48 UltraRAMs (estimate)\n")
        preset = json.loads(out)
        isa = json.loads(Path(SOURCE, "hw/isa/isa.json").read_text())
        stages = {one["name"]: one["value"] for one in isa["latencies"] if "least" in one}
        self.assertEqual(preset, {**json.loads(Path(SOURCE, "hw/targets/c2b8.json").read_text()), "clock_source": "nominal",
                                  "cells": "portable", "stages": stages})
        mine = self.dir / "mine.json"
        mine.write_text(json.dumps({**preset, "lanes": 12}))
        self.fails(5, f"error[E0514]: target '{mine}': lanes is 12, allowed: a power of two", "targets", "--show", mine)
        self.fails(2, "error[E0515]: unknown target 'c9b9', allowed: c2b8, c3b64, c6b32, c6b32-deep, ecp5-85f or a .json file",
                   "targets", "--show", "c9b9")

    def test_area(self):
        code, out, err = run("targets", "--show", "c2b8", "--area")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out.decode(), """\
c2b8                   LUTs  flip-flops  DSP blocks  block RAMs  UltraRAMs
one core             48,300      33,600         136          40         24
machine of 2 cores  100,000      69,600         272          86         48
share of the part      LUTs  flip-flops  DSP blocks  block RAMs  UltraRAMs  fit
V80                     4 %         1 %         3 %         2 %        2 %  fits
VU13P                   6 %         2 %         2 %         3 %        4 %  fits
VU9P                    8 %         3 %         4 %         4 %        5 %  fits
KU15P                  19 %         7 %        14 %         9 %       38 %  fits
ZU5EV                  86 %        30 %        22 %        60 %       75 %  tight: 86 % of its LUTs
""")
        code, out, err = run("targets", "--area")
        self.assertEqual((code, err), (0, ""))
        lines = out.decode().splitlines()
        self.assertEqual([line.split()[0] for line in lines], ["target", "c2b8", "c3b64", "c6b32", "c6b32-deep", "ecp5-85f"])
        self.assertRegex(lines[1], r"^c2b8 .* 272 .*  V80, VU13P, VU9P, KU15P, ZU5EV \(tight\)$")
        self.assertRegex(lines[2], r"  none$")
        self.fails(2, "error[E0515]: unknown target 'c9b9', allowed: c2b8, c3b64, c6b32, c6b32-deep, ecp5-85f or a .json file",
                   "targets", "--area", "--show", "c9b9")
        code, out, err = run("targets", "--area", "--json")
        areas = json.loads(out)["areas"]
        self.assertEqual([one["target"] for one in areas], [line.split()[0] for line in lines[1:]])
        small = areas[0]
        self.assertEqual(small["machine"]["dsp_blocks"], 2 * small["core"]["dsp_blocks"])
        last = small["parts"][-1]
        self.assertEqual((last["part"], last["verdict"], last["resource"]), ("ZU5EV", "tight", "luts"))
        self.assertAlmostEqual(last["shares"]["dsp_blocks"], 272 / 1248)
        code, out, err = run("targets", "--show", "c2b8", "--area", "--json")
        self.assertEqual(json.loads(out)["areas"], [small])

    def test_version(self):
        code, out, _ = run("version", "--json")
        self.assertEqual(code, 0)
        self.assertEqual({"schema", "version", "format", "isa", "api", "engines"}, set(json.loads(out)))

    def test_every_error_code_has_a_page(self):
        codes = set()
        for folder in ("compiler", "runtime", "sim", "tools"):
            for path in Path(SOURCE, folder).rglob("*"):
                if path.suffix in (".cpp", ".h", ".td"):
                    codes |= set(re.findall(r'"(E0\d{3})"', path.read_text()))
        self.assertGreater(len(codes), 40)
        listed = {entry["code"]: entry["title"] for entry in json.loads(run("explain", "--json")[1])["codes"]}
        self.assertEqual(codes - set(listed), set(), "error codes without a page in docs/errors")
        self.assertEqual(set(listed) - codes, set(), "pages of error codes that nothing reports")
        for code, title in listed.items():
            found, out, _ = run("explain", code.lower())
            self.assertEqual(found, 0)
            self.assertTrue(title.startswith(code + ": "), title)
            for part in ("\n## Example\n", "\n## Fix\n"):
                self.assertIn(part, out.decode())
        for short in ("0302", "302", "e302"): # as a person remembers it
            self.assertEqual(run("explain", short)[1], run("explain", "E0302")[1])
        self.fails(2, "error[E0601]: unknown error code 'E9999'", "explain", "E9999")

    def test_explain_plan(self):
        """The plan of a small model, word for word, as text and as JSON."""
        model = Path(SOURCE, "tools/digits/digits.onnx")
        code, out, err = run("explain", "--plan", model, "--target", "c2b8", "--verbose")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out.decode(), Path(SOURCE, "tests/cli/explain_plan.txt").read_text())
        summary = out.decode().splitlines(True)[:3]
        self.assertEqual(run("explain", "--plan", model, "--target", "c2b8")[1].decode(), "".join(summary) +
                         "--verbose prints stages, cycles, the critical path and other plans\n")
        plan = json.loads(run("explain", "--plan", model, "--target", "c2b8", "--json")[1])
        self.assertEqual((plan["schema"], plan["ok"], plan["target"], plan["cores"]), (1, True, "c2b8", 2))
        self.assertEqual(plan["floor"]["products"] + sum(plan["idle"].values()), 2 * plan["spaced"])
        self.assertEqual(sum(step["cycles"] for step in plan["critical_path"]), plan["spaced"])
        self.assertEqual(plan["stages"][1]["nodes"][0], {"index": 1, "name": "fc1", "op": "Gemm"})
        self.assertEqual(plan["summary"], [line.rstrip() for line in summary])

    def test_explain_plan_refusals(self):
        self.fails(5, "missing.onnx", "explain", "--plan", self.dir / "missing.onnx")
        self.fails(2, "--target requires --plan or --index-space", "explain", "--target", "c2b8")
        self.fails(2, "excludes", "explain", "E0401", "--plan", "x.onnx")

    def test_explain_index_space(self):
        """The loops of a small model as JSON; docs/index-spaces.md has the text."""
        model = Path(SOURCE, "tools/digits/digits.onnx")
        code, out, err = run("explain", "--index-space", model, "--target", "c2b8", "--json")
        self.assertEqual((code, err), (0, ""))
        result = json.loads(out)
        self.assertEqual((result["schema"], result["ok"], result["lanes"]), (1, True, 8))
        first = next(one for one in result["operations"] if one["operation"] == "matmul")
        self.assertEqual(first["nodes"], [{"index": 1, "name": "fc1", "op": "Gemm"}])
        loops = [(loop["extent"], loop["kind"], loop["monoid"]) for loop in first["loops"]]
        x, w = first["operands"]
        y, = first["results"]
        rows, inner = x["shape"]
        self.assertEqual(loops, [(rows, "parallel", None), (w["shape"][1], "parallel", None),
                                 (inner, "reduced", "sum")])
        self.assertEqual([x["matrix"], w["matrix"], y["matrix"]],
                         [[[1, 0, 0], [0, 0, 1]], [[0, 0, 1], [0, 1, 0]], [[1, 0, 0], [0, 1, 0]]])
        self.assertEqual((x["data_dim"], w["data_dim"], y["data_dim"]), (1, None, 1))
        # Eight features more: the activation is shared, the weights are not.
        features = first["loops"][1]
        self.assertEqual((features["step"], features["shared"][0]["elements"], features["shared"][1]["elements"]),
                         (8, inner, 0))
        self.assertEqual(features["next_step"], {"rows_read": 0, "rows_written": 1, "beats": inner // 8,
                                                 "weight_blocks": inner // 8, "working_rows": 1})
        self.assertEqual(first["cost"]["beats"], rows * -(-w["shape"][1] // 8) * -(-inner // 8))
        self.assertRegex(first["split"]["how"], r"^\d+ rows over cores, \d+ \d+$")

        for node in ("1", "fc1"):
            operations = json.loads(run("explain", "--index-space", model, "--target", "c2b8", "--node", node,
                                        "--json")[1])["operations"]
            self.assertTrue(operations)
            for operation in operations:
                self.assertIn("fc1", [one["name"] for one in operation["nodes"]])

    def test_explain_index_space_of_a_window(self):
        """A product behind a window reads the window's operand, of which neighbours share a halo; the rows of all
        bodies of its loop are over the cores."""
        source, positions = self.dir / "window.mlir", 600
        source.write_text(f"""
            func.func @main(%x: tensor<1x16x{positions}xf32>) -> tensor<1x8x{positions}xf32> {{
              %w = sluice.constant dense<0.25> : tensor<8x16x3xf32>
              %v = sluice.window %x axes [2] sizes [3] counts [{positions}] starts [-1] strides [1] dilations [1] value 0.0
                : (tensor<1x16x{positions}xf32>) -> tensor<1x16x{positions}x3xf32>
              %y = sluice.contract [affine_map<(n, o, y, c, k) -> (n, c, y, k)>, affine_map<(n, o, y, c, k) -> (o, c, k)>,
                affine_map<(n, o, y, c, k) -> (n, o, y)>] %v, %w
                : (tensor<1x16x{positions}x3xf32>, tensor<8x16x3xf32>) -> tensor<1x8x{positions}xf32>
              return %y : tensor<1x8x{positions}xf32>
            }}""")
        code, out, err = run("explain", "--index-space", source, "--target", "c2b8", "--json")
        self.assertEqual((code, err), (0, ""))
        product = next(one for one in json.loads(out)["operations"] if one["operation"] == "contract")
        x, w = product["operands"]
        self.assertEqual((x["shape"], x["through"], x["outside"]), ([1, 16, positions], ["window"], 0))
        self.assertEqual(w["through"], [])
        self.assertEqual(x["matrix"], [[1, 0, 0, 0, 0], [0, 0, 0, 1, 0], [0, 0, 1, 0, 1]])
        self.assertEqual(x["offset"], [0, 0, -1])
        along = product["loops"][2]
        self.assertEqual(along["shared"][0], {"elements": 2 * 16, "of": 3 * 16})
        self.assertEqual((along["next_step"]["rows_read"], along["next_step"]["beats"]), (2, 6))
        # At both ends, one of three taps lies outside.
        self.assertEqual(product["cost"]["beats"], 6 * positions - 2 * 2)
        split = product["split"]
        self.assertEqual(sum(split["rows_by_core"]), positions)
        self.assertEqual(split["how"], "600 rows over cores, " + " ".join(map(str, split["rows_by_core"])))
        self.assertLess(max(split["rows_by_core"]), 0.6 * positions)

    def test_explain_index_space_refusals(self):
        model = Path(SOURCE, "tools/digits/digits.onnx")
        self.fails(5, "missing.onnx", "explain", "--index-space", self.dir / "missing.onnx")
        self.fails(2, "error[E0602]: no accelerated operation comes from node 'fc9', allowed: the number or name of a node",
                   "explain", "--index-space", model, "--node", "fc9")
        self.fails(2, "--node requires --index-space", "explain", "--node", "1")
        self.fails(2, "excludes", "explain", "--plan", model, "--index-space", model)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
