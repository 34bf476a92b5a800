#!/usr/bin/env python3
"""sluice report: the data of its page against profile, explain, check and inspect; names that want to be HTML; a program alone;
what is refused, word for word.

usage: report_test.py SLUICE SOURCE_FOLDER [unittest arguments]
"""
import base64
import hashlib
import json
import os
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import onnx

import bad_models as models
from folder import main
from refusal import MALFORMED, REFUSED, USAGE, Refusal

DIGITS = Path(sys.argv[2]).resolve() / "tools/digits/digits.onnx"
BUSY, IDLE = 0, 7
HOSTILE = "</script><img src=x onerror=alert(1)><!--\u2028"


class Page(HTMLParser):
    """The elements of a page, with the text of each script and style."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts, self.is_open = [], [], False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.texts.append("")
        self.is_open = True

    def handle_endtag(self, tag):
        self.is_open = False

    def handle_data(self, data):
        if self.is_open:
            self.texts[-1] += data

    def text(self, tag, **attributes):
        return [text for (name, found), text in zip(self.elements, self.texts)
                if name == tag and attributes.items() <= found.items()]

    def data(self):
        return json.loads(self.text("script", id="data")[0])


class Report(Refusal):
    def report(self, *args):
        """The JSON, which is the same as the page's, and the page."""
        found = json.loads(self.ok("report", *args, "-o", "r.html", "--json"))
        page = Page((self.dir / "r.html").read_text())
        self.assertEqual(page.data(), found)
        return found, page

    def command(self, *args):
        return json.loads(self.ok(*args, "--json"))


class Figures(Report):
    def setUp(self):
        super().setUp()
        self.ok("compile", DIGITS, "--target", "c6b32", "-o", "digits.sluice")

    def check_recording(self, found):
        profile = self.command("profile", "digits.sluice", "--engine", "vm")
        for name in ("model", "target", "clock_mhz", "clock_source", "cycles", "units"):
            self.assertEqual(found[name], profile[name])
        added = [{name: layer.pop(name) for name in ("title", "cycles")} for layer in found["layers"]]
        self.assertEqual(found["layers"], profile["layers"])
        self.assertEqual(sum(layer["cycles"] for layer in added), profile["cycles"])
        difference = self.command("diff", "digits.sluice", "digits.sluice")
        self.assertEqual([layer["cycles"] for layer in added], [layer["a"]["cycles"] for layer in difference["layers"]])
        self.assertEqual(added[0]["title"], "fc1 (Gemm), relu1 (Relu)")
        self.assertEqual(found["memory"], self.command("inspect", "digits.sluice", "--memory")["memory"])
        self.check_timeline(found["timeline"], profile)
        self.assertIn(f"The slowest layer is {max(added[:3], key=lambda one: one['cycles'])['title']}: ", found["summary"][2])
        return profile

    def check_timeline(self, timeline, profile):
        """Spans add up to the units and the instructions of the profile; none overlap."""
        kinds = ("busy", "token", "result", "taker", "network", "pipeline", "host")
        self.assertEqual(timeline["cycles"], profile["cycles"])
        self.assertEqual((len(timeline["activities"]), timeline["activities"][BUSY]), (IDLE + 1, "busy"))
        instructions = {}
        for unit, wanted in zip(timeline["units"], profile["units"], strict=True):
            self.assertEqual((unit["core"], unit["unit"]), (wanted["core"], wanted["unit"]))
            sums, end = [0] * len(kinds), 0
            for first, cycles, activity, instruction in unit["spans"]:
                self.assertGreaterEqual(first, end)
                self.assertGreater(cycles, 0)
                end = first + cycles
                sums[activity] += cycles
                key = (unit["core"], instruction)
                instructions.setdefault(key, [0] * len(kinds))[activity] += cycles
            self.assertLessEqual(end, profile["cycles"])
            self.assertEqual(sums, [wanted[kind] for kind in kinds])
        for one in profile["instructions"]:
            self.assertEqual(instructions.pop((one["core"], one["instruction"]), [0] * len(kinds)), [one[kind] for kind in kinds])
            core = len(timeline["instructions"]) - 1 if one["core"] == "host port" else one["core"]
            listed = timeline["instructions"][core][one["instruction"]]
            self.assertEqual((listed["text"], profile["layers"][listed["layer"]]["names"]), (one["text"], one["names"]))
        self.assertEqual(instructions, {})

    def test_model(self):
        found, _ = self.report(DIGITS, "--target", "c6b32")
        profile = self.check_recording(found)
        plan = self.command("explain", "--plan", DIGITS, "--target", "c6b32")
        self.assertEqual(plan["spaced"], profile["cycles"])
        self.assertEqual([found["summary"][i] for i in (0, 1, 4)], plan["summary"])
        blocks = {core["core"]: core["blocks"] for core in profile["cores"] if core["core"] != "host port"}
        most, least = (choice(blocks, key=blocks.get) for choice in (max, min))
        self.assertEqual(found["summary"][3],
                         f"The work is not balanced: core {most} computes {blocks[most]} block products, core {least} computes "
                         f"{blocks[least]}, and the average is {sum(blocks.values()) / len(blocks):.1f}.")
        for name in ("schema", "ok", "summary", "target", "cores"):
            del plan[name]
        self.assertEqual(found["plan"], plan)
        units = {unit["name"] for unit in found["timeline"]["units"]}
        self.assertLessEqual({step["unit"] for step in plan["critical_path"]}, units)
        layout = self.command("check", DIGITS, "--target", "c6b32", "--explain-layout")
        self.assertEqual(found["tensors"], layout["tensors"])
        checked = self.command("compile", DIGITS, "--target", "c6b32", "-o", "again.sluice")["checked"]
        self.assertEqual({name: found["accuracy"][name] for name in checked}, checked)
        self.assertEqual((found["accuracy"]["data"], found["accuracy"]["data_inputs"]), (None, 0))

    def test_data(self):
        np.savez(self.dir / "x.npz", pixels=np.random.default_rng(1).uniform(0, 16, (3, 1, 64)).astype(np.float32))
        found, _ = self.report(DIGITS, "--data", "x.npz")
        self.assertEqual((found["accuracy"]["data"], found["accuracy"]["data_inputs"]), ("x.npz", 3))
        self.assertGreater(found["accuracy"]["inputs"], 3)

    def test_program(self):
        found, _ = self.report("digits.sluice")
        cycles = self.check_recording(found)["cycles"]
        self.assertEqual((found["tensors"], found["plan"], found["accuracy"]), (None, None, None))
        self.assertEqual(found["summary"][0], f"An inference of digits takes {cycles} cycles on c6b32 ({cycles / 300:.3f} us at "
                                              "300 MHz, nominal).")
        self.assertEqual(found["summary"][-1], "What would help most is not known: this needs the model.")

    def test_what_it_says(self):
        out = self.ok("report", "digits.sluice")
        size = (self.dir / "digits.html").stat().st_size
        lines = out.splitlines()
        self.assertEqual(lines[:-1], Page((self.dir / "digits.html").read_text()).data()["summary"])
        self.assertEqual(lines[-1], f"written             digits.html, {size} bytes")
        code, out, err = self.sluice("report", "digits.sluice", "-o", "-")
        self.assertEqual((code, err.splitlines()[-1]), (0, f"written             -, {len(out)} bytes"))
        self.assertEqual(Page(out.decode()).data()["output"], "-")


class Runs(Report):
    def test_several_runs(self):
        """A program that runs several times for an inference: the recording is of all of them, the plan of one."""
        size, steps, random = 24, 300, np.random.default_rng(0)
        nodes = [onnx.helper.make_node("LSTM", ["x", "W", "R"], ["h"], name="lstm", hidden_size=size),
                 onnx.helper.make_node("Relu", ["h"], ["y"], name="act")]
        weights = [models.constant(name, 0.1 * random.normal(size=(1, 4 * size, width)).astype(np.float32))
                   for name, width in (("W", 8), ("R", size))]
        onnx.save(models.model(nodes, [models.tensor("x", steps, 1, 8)], [models.tensor("y", steps, 1, 1, size)], weights),
                  self.dir / "m.onnx")
        code, out, err = self.sluice("report", "m.onnx", "--target", "c2b8", "-o", "r.html", "--json")
        self.assertEqual((code, "the program runs 60 times" in err), (0, True), err)
        found = json.loads(out)
        self.assertEqual(self.sluice("compile", "m.onnx", "--target", "c2b8", "-o", "m.sluice", "--check", "off")[0], 0)
        profile = self.command("profile", "m.sluice", "--engine", "vm")
        self.assertEqual((found["runs"], found["cycles"]), (60, profile["cycles"]))
        self.assertLess(60 * 0.8 * found["plan"]["spaced"], profile["cycles"])
        self.assertEqual(found["summary"][:2], [
            f"An inference of m takes {profile['cycles']} cycles on c2b8 ({profile['cycles'] / 300:.3f} us at 300 MHz, nominal).",
            f"The program runs 60 times for this; one run alone takes {found['plan']['spaced']} cycles, and its rows need at least "
            f"{found['plan']['floor']['cycles']}."])


class Pages(Report):
    def test_hostile_names(self):
        """Names stay data: they end no element and add none."""
        plain, hostile = models.dense(), models.dense()
        hostile.graph.node[0].name = HOSTILE
        hostile.graph.node[0].output[0] = HOSTILE + "t"
        for node in hostile.graph.node[1:]:
            node.input[:] = [HOSTILE + "t" if name == plain.graph.node[0].output[0] else name for name in node.input]
        if len(hostile.graph.node) == 1:
            hostile.graph.output[0].name = HOSTILE + "t"
        pages = []
        for name, model in (("plain", plain), ("hostile", hostile)):
            onnx.save(model, self.dir / f"{name}.onnx")
            found, page = self.report(f"{name}.onnx", "--target", "c2b8", "--model-name", HOSTILE)
            pages.append(page.elements)
        self.assertEqual(found["model"], HOSTILE)
        self.assertIn(HOSTILE, found["layers"][0]["names"])
        self.assertIn(HOSTILE + "t", [tensor["name"] for tensor in found["tensors"]])
        self.assertEqual([tag for tag, _ in pages[0]], [tag for tag, _ in pages[1]])
        self.assertNotIn("img", {tag for tag, _ in pages[1]})
        self.assertNotIn("onerror=alert(1)>", (self.dir / "r.html").read_text().replace("\\u003cimg src=x onerror=alert(1)>", ""))

    def test_page_alone(self):
        """The policy allows the page's own scripts and style and nothing else; no element names another file."""
        onnx.save(models.dense(), self.dir / "m.onnx")
        _, page = self.report("m.onnx", "--target", "c2b8")
        policy = next(attrs["content"] for tag, attrs in page.elements
                      if tag == "meta" and attrs.get("http-equiv") == "Content-Security-Policy")

        def hashes(texts):
            return " ".join("'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'" for text in texts)
        scripts = [text for (tag, attrs), text in zip(page.elements, page.texts) if tag == "script" and not attrs]
        self.assertEqual(len(scripts), 2)
        self.assertEqual(policy, "default-src 'none'; base-uri 'none'; form-action 'none'; "
                                 f"style-src {hashes(page.text('style'))}; script-src {hashes(scripts)}")
        for tag, attrs in page.elements:
            self.assertFalse({"src", "srcset", "action", "style"} & set(attrs), (tag, attrs))
            self.assertTrue(attrs.get("href", "#").startswith("#"), attrs)
        self.assertIsNone(re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|\.html\(", scripts[1]))


class Refused(Report):
    def setUp(self):
        super().setUp()
        self.program = self.compiled()

    def wrong(self, message, *args):
        self.refused(USAGE, f"error[E0601]: {message}\n", "report", *args)

    def test_arguments(self):
        self.wrong("--output is empty, allowed: a file name or -", "good.sluice", "-o", "")
        self.wrong("--output './good.onnx' would overwrite the model", "good.onnx", "-o", "./good.onnx")
        self.wrong("--output and --json both write 'r'; give one another file name", "good.onnx", "-o", "r", "--json=r")
        for flag in (("--target", "c2b8"), ("--data", "x.npz"), ("--effort", "high")):
            self.wrong(f"{flag[0]} needs a model, but 'good.sluice' is a compiled program", "good.sluice", *flag)
        code, _, err = self.sluice("report", "good.sluice", "-o", "-", "--json")
        self.assertEqual((code, err), (USAGE, "error[E0601]: --output and --json both write to standard output; give one a file "
                                              "name\n"))
        self.refused(USAGE, "error: file is required; see 'sluice report --help'\n", "report")
        self.refused(USAGE, "error[E0602]: the file has no model 'other', allowed: good\n  --> good.sluice\n", "report",
                     "good.sluice", "--model", "other")

    def test_files(self):
        self.refused(MALFORMED, "error[E0101]: cannot open 'no.onnx': No such file or directory\n  --> no.onnx\n",
                     "report", "no.onnx")
        self.refused(MALFORMED, "error[E0501]: cannot read 'no.npz': No such file or directory\n note: read from --data 'no.npz'\n",
                     "report", "good.onnx", "--data", "no.npz")
        self.save("cut.sluice", self.program[:100])
        code, out, err = self.sluice("report", "cut.sluice")
        self.assertEqual((code, out, err[:9]), (MALFORMED, b"", "error[E05"), err)
        onnx.save(models.unsupported(), self.dir / "new.onnx")
        code, out, err = self.sluice("report", "new.onnx")
        self.assertEqual((code, out, err[:9]), (REFUSED, b"", "error[E02"), err)
        self.assertEqual([p.name for p in self.dir.glob("*.html")], [])

    def test_output(self):
        """Where nothing can be written, nothing is, and what was there stays."""
        self.refused(USAGE, "error[E0516]: cannot write 'no/r.html': No such file or directory\n", "report", "good.sluice",
                     "-o", "no/r.html")
        os.mkdir(self.dir / "folder")
        self.refused(USAGE, "error[E0516]: cannot write 'folder': Is a directory\n", "report", "good.sluice", "-o", "folder")
        self.save("r.html", b"old")
        self.refused(USAGE, "error[E0601]: --effort needs a model, but 'good.sluice' is a compiled program\n", "report",
                     "good.sluice", "--effort", "fast", "-o", "r.html")
        code, _, err = self.sluice("report", "good.sluice", "-o", "/dev/full")
        self.assertEqual((code, err), (USAGE, "error[E0516]: cannot write '/dev/full': No space left on device\n"))


if __name__ == "__main__":
    main(2)
