#!/usr/bin/env python3
"""docs/targets.md has every field that the loader of target files knows, with the loader's limits, the minima of the SystemVerilog
and the bits of a preset.

usage: targets_page_test.py SLUICE SOURCE_FOLDER [unittest arguments]
"""
import json
import re
import sys
import unittest
from pathlib import Path

from folder import Folder, main

SOURCE = Path(sys.argv[2]).resolve()
PAGE = (SOURCE / "docs/targets.md").read_text()
# These parameters of the SystemVerilog are fields of a target. Those of memories spell the name of the field differently.
PARAMETERS = {"Terms": "pe_terms"}


def table(header):
    """The cells of the rows of a table by their first cell, which is in code font."""
    text = PAGE[PAGE.index(header):].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]
    return {cells[0].strip("`"): cells[1:] for cells in rows}


class Page(Folder):
    def setUp(self):
        super().setUp()
        self.preset = json.loads(self.ok("targets", "--show", "c6b32", "--json"))["target"]
        self.fields = table("| field | meaning | allowed |")

    def refusal(self, **changes):
        """What the loader says of the preset with other values; "" if it takes them."""
        (self.dir / "t.json").write_text(json.dumps({**self.preset, **changes}))
        code, _, err = self.sluice("targets", "--show", "t.json")
        self.assertEqual(code, 5 if "E0514" in err else 0, err)
        return err.strip() if code else ""

    def test_fields(self):
        self.assertEqual(list(self.fields), list(self.preset))
        for name in self.preset:
            without = {key: value for key, value in self.preset.items() if key != name}
            (self.dir / "t.json").write_text(json.dumps(without))
            code, _, err = self.sluice("targets", "--show", "t.json")
            self.assertEqual(code == 0, name in ("clock_source", "cells", "stages"), err)

    def test_limits_of_numbers(self):
        numbers = [name for name, value in self.preset.items() if isinstance(value, int)]
        self.assertEqual(len(numbers), 12)
        for name in numbers:
            others = {"pe_terms": 1, "weight_blocks": 1} if name == "lanes" else {}
            least, most = re.search(r"allowed: (\d+) to (\d+)$", self.refusal(**others, **{name: 2 ** 32 - 1})).groups()
            said = self.fields[name][1].split(",")[0] if name in ("lanes", "pe_terms") else self.fields[name][1]
            self.assertEqual(said, f"{int(least):,} to {'`lanes`' if name == 'pe_terms' else f'{int(most):,}'}", name)
            if name == "pe_terms":
                self.assertEqual(int(most), self.preset["lanes"])
            if name == "weight_blocks": # its product with the lanes has a smaller limit
                most = 2 ** 18 // self.preset["lanes"]
            for value in (int(least), int(most)):
                self.assertEqual(self.refusal(**others, **{name: value}), "", (name, value))
            self.assertIn(f"allowed: {least} to ", self.refusal(**others, **{name: int(least) - 1}))

    def test_limits_of_two(self):
        self.assertIn("power of two", self.fields["lanes"][1])
        self.assertTrue(self.refusal(lanes=24, pe_terms=1).endswith("allowed: a power of two"))
        self.assertIn("divisor of `lanes`", self.fields["pe_terms"][1])
        self.assertTrue(self.refusal(pe_terms=5).endswith("allowed: a divisor of lanes (32)"))
        most = int(self.refusal(weight_blocks=2 ** 16).split()[-1])
        self.assertIn(f"`weight_blocks` times `lanes` is up to {most:,}", self.fields["weight_blocks"][0])

    def test_limits_of_texts(self):
        for name in ("name", "rtl"):
            self.assertIn(self.fields[name][1].replace("`-`", "'-'").replace("`_`", "'_'"), self.refusal(**{name: "A"}))
        self.assertIn(self.fields["clock_source"][1], self.refusal(clock_source=""))
        self.assertIn(self.fields["cells"][1].replace("`", ""), self.refusal(cells=""))

    def test_stages(self):
        """The table of the page, the source of the defaults, and the limits of the loader."""
        isa = {one["name"]: one for one in json.loads((SOURCE / "hw/isa/isa.json").read_text())["latencies"] if "least" in one}
        self.assertEqual(self.preset["stages"], {name: one["value"] for name, one in isa.items()})
        self.assertEqual({name: cells[:2] for name, cells in table("| stage | default | allowed | part |").items()},
                         {name: [str(one["value"]), f"{one['least']} to {one['most']}"] for name, one in isa.items()})
        for name, one in isa.items():
            for value in (one["least"], one["most"]):
                self.assertEqual(self.refusal(stages={name: value}), "", (name, value))
            for value in (one["least"] - 1, one["most"] + 1):
                self.assertTrue(self.refusal(stages={name: value}).endswith(
                    f"'t.json': {name} is {value}, allowed: {one['least']} to {one['most']}"))

    def test_minima_of_hardware(self):
        found = {}
        for file in (SOURCE / "hw/rtl").glob("*.sv"):
            for line in file.read_text().splitlines():
                if "SLUICE_REQUIRE" in line:
                    for parameter, least in re.findall(r"\b([A-Z]\w+) >= (\d+)", line):
                        name = PARAMETERS.get(parameter, re.sub(r"(?<!^)([A-Z])", r"_\1", parameter).lower())
                        if isinstance(self.preset.get(name), int) and int(least) > int(self.fields[name][1].split()[0]):
                            found[name] = int(least)
        self.assertEqual({name: int(cells[0]) for name, cells in table("| field | minimum in hardware |").items()}, found)

    def test_sizes_of_units(self):
        """The estimate of the area adds up the units of docs/hardware.md."""
        page = (SOURCE / "docs/hardware.md").read_text()
        rows = re.findall(r"^\| ([^|]+) \| `(\w+)` (\d+) \|((?: [\d,-]+ \|){4})$", page.split("<!-- end -->")[0], re.MULTILINE)
        number = lambda text: 0 if text == "-" else int(text.replace(",", ""))
        shown = [[unit, field, int(value), *(number(cell.strip()) for cell in cells.split("|")[:-1])] for unit, field, value, cells in rows]
        stored = json.loads((SOURCE / "hw/area/unit_sizes.json").read_text())["units"]
        self.assertGreater(len(stored), 15)
        self.assertEqual(shown, [[unit["unit"], unit["field"], *size.values()] for unit in stored for size in unit["sizes"]])

    def test_units_of_the_model(self):
        """Every unit that the model names was measured, and every measured unit is in the model."""
        source = (SOURCE / "runtime/format/area.cpp").read_text()
        stored = {unit["unit"] for unit in json.loads((SOURCE / "hw/area/unit_sizes.json").read_text())["units"]}
        self.assertEqual(set(re.findall(r'(?:sizeOf|measured)\(\s*"([^"]+)"', source)), stored)

    def test_area(self):
        area = json.loads(self.ok("targets", "--show", "c6b32", "--json"))["area"]
        shown = table("| field | bits for each |")
        megabits = sum(float(cells[2]) for cells in shown.values())
        self.assertAlmostEqual(area["ram_bits"] / 1e6, megabits, delta=0.3)

    def test_parts(self):
        """The page lists the parts with their figures."""
        parts = json.loads((SOURCE / "hw/area/parts.json").read_text())["parts"]
        names = ("luts", "flip_flops", "dsp_blocks", "block_rams", "ultra_rams")
        self.assertEqual({name: cells[1:] for name, cells in table("| part | family").items()},
                         {part["name"]: [f"{part[name]:,}" for name in names] for part in parts})
        self.assertEqual([one["part"] for one in json.loads(self.ok("targets", "--area", "--json"))["areas"][0]["parts"]],
                         [part["name"] for part in parts])

    def test_bits(self):
        isa = {one["name"]: one["value"] for one in json.loads((SOURCE / "hw/isa/isa.json").read_text())["constants"]}
        lanes = self.preset["lanes"]
        instruction = int(re.search(r"An instruction has (\d+) bits", (SOURCE / "docs/isa.md").read_text()).group(1))
        anchored = lanes * (isa["acc_bits"] + isa["anchor_bits"] + 1)
        bits = {"weight_blocks": lanes * lanes * 16, "inbox_rows": lanes * 16 * 4, "local_rows": lanes * 16 * 4,
                "accumulators": anchored, "preload_rows": anchored, "instructions": instruction, "host_instructions": instruction,
                "tables": lanes * isa["table_entries"] * 16}
        shown = table("| field | bits for each |")
        self.assertEqual(list(shown), list(bits))
        for name, cells in shown.items():
            cores = 1 if name == "host_instructions" else self.preset["cores"]
            self.assertEqual(cells[1], f"{bits[name]:,}", name)
            self.assertEqual(cells[2], f"{bits[name] * self.preset[name] * cores / 1e6:.1f}", name)


if __name__ == "__main__":
    main(2)
