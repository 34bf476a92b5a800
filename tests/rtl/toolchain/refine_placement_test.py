#!/usr/bin/env python3
"""Refined placements: random netlists of all kinds of cells, placed at random but legally. A checker of its own knows the
rules of the part, the delays are added up along every path, and a placement that was spread at random becomes better."""
import copy
import json
import pathlib
import random
import re
import sys
import tempfile
import unittest
from collections import defaultdict
from unittest import mock

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))
import refine_placement  # noqa: E402

COLUMNS, ROWS, FREE_ROW, RAM_ROWS, MULTIPLIER_ROWS = range(2, 26), range(2, 14), 7, (14, 15), (16, 17)
OUTPUTS = {"F", "OFX", "FCO", "Q", "DOA0", "WDO0", "P0", "O"}


class Builder:
    """Places cells tile by tile and connects them."""

    def __init__(self, draw):
        self.draw, self.cells, self.bit = draw, {}, 1
        self.tiles = [(x, y) for y in ROWS for x in COLUMNS if y != FREE_ROW]
        self.draw.shuffle(self.tiles)
        self.resets = [self.wire() for _ in range(3)]
        self.enables = [self.wire() for _ in range(4)]
        self.outputs, self.inputs = [], []  # bits; (cell, port) to be connected

    def wire(self):
        self.bit += 1
        return self.bit

    def add(self, name, kind, place, ports, parameters=None, late=()):
        """Adds a cell; the ports `late` are connected to any wire in the end."""
        ports = {port: [] if bit is None else [bit] for port, bit in ports.items()} | {port: [] for port in late}
        x, y, bel = place
        self.cells[name] = {"type": kind, "parameters": parameters or {}, "attributes": {"NEXTPNR_BEL": f"X{x}/Y{y}/{bel}"},
                            "port_directions": {port: "output" if port in OUTPUTS else "input" for port in ports},
                            "connections": ports}
        self.inputs += [(name, port) for port in late]
        return name

    def lut(self, name, x, y, k, **ports):
        out = self.wire()
        self.outputs.append(out)
        self.add(name, "TRELLIS_COMB", (x, y, f"SLICE{'ABCD'[k // 2]}.K{k % 2}"), {"F": out, **ports}, late="AB")
        return out

    def flop(self, name, x, y, k, reset, enable, direct=None):
        out = self.wire()
        self.outputs.append(out)
        ports = {"Q": out, "CE": enable, "LSR": reset, "CLK": None}
        ports |= {"DI": direct} if direct else {}
        self.add(name, "TRELLIS_FF", (x, y, f"SLICE{'ABCD'[k // 2]}.FF{k % 2}"), ports, late=() if direct else ("M",))

    def logic(self, x, y):
        """LUTs and registers, some of them tied; some slices hold a multiplexer of two LUTs."""
        reset = self.draw.choice(self.resets)
        for slice_ in range(4):
            enable = self.draw.choice(self.enables)
            if self.draw.random() < 0.2:
                low, high, wide = (self.wire() for _ in range(3))
                self.outputs.append(wide)
                self.add(f"mux{x}.{y}.{slice_}.1", "TRELLIS_COMB", (x, y, f"SLICE{'ABCD'[slice_]}.K1"), {"F": high}, late="AB")
                self.add(f"mux{x}.{y}.{slice_}.0", "TRELLIS_COMB", (x, y, f"SLICE{'ABCD'[slice_]}.K0"),
                         {"F": low, "F1": high, "OFX": wide}, late="ABM")
                continue
            for k in (2 * slice_, 2 * slice_ + 1):
                if self.draw.random() < 0.6:
                    out = self.lut(f"lut{x}.{y}.{k}", x, y, k)
                    if self.draw.random() < 0.3:
                        self.flop(f"tied{x}.{y}.{k}", x, y, k, reset, enable, direct=out)
                if f"tied{x}.{y}.{k}" not in self.cells and self.draw.random() < 0.4:
                    self.flop(f"flop{x}.{y}.{k}", x, y, k, reset, enable)

    def chain(self, number, x, y, tiles):
        """A carry chain over several tiles of a row, with registers at its sums."""
        carry = None
        reset, enable = self.draw.choice(self.resets), self.draw.choice(self.enables)
        for k in range(8 * tiles):
            total, after = self.wire(), self.wire()
            self.outputs.append(total)
            self.add(f"carry{number}.{k}", "TRELLIS_COMB", (x + k // 8, y, f"SLICE{'ABCD'[k % 8 // 2]}.K{k % 2}"),
                     {"F": total, "FCO": after, "FCI": carry}, {"MODE": "CCU2"}, late="AB")
            self.flop(f"tied of carry{number}.{k}", x + k // 8, y, k % 8, reset, enable, direct=total)
            carry = after

    def lut_ram(self, x, y):
        data = self.wire()
        self.add(f"write{x}.{y}", "TRELLIS_RAMW", (x, y, "SLICEC.RAMW"), {"WDO0": data}, late=("A0", "D0"))
        for k in range(4):
            self.lut(f"ram{x}.{y}.{k}", x, y, k, WD=data)
            self.cells[f"ram{x}.{y}.{k}"]["parameters"]["MODE"] = "DPRAM"
        for k in (4, 5):
            self.add(f"block{x}.{y}.{k}", "TRELLIS_COMB", (x, y, f"SLICEC.K{k % 2}"), {}, {"MODE": "RAMW_BLOCK"})

    def whole(self):
        for number, tiles in enumerate((1, 3, 2, 2, 1)):
            x = 2 + 4 * number
            self.chain(number, x, 2, tiles)
            self.tiles = [tile for tile in self.tiles if not (tile[1] == 2 and x <= tile[0] < x + tiles)]
        for number, (x, y) in enumerate(self.tiles[:150]):
            (self.lut_ram if number % 12 == 0 else self.logic)(x, y)
        for number, (x, y) in enumerate((x, y) for y in RAM_ROWS for x in COLUMNS[::6]):
            if number % 3:
                out = self.wire()
                self.outputs.append(out)
                self.add(f"block ram{number}", "DP16KD", (x, y, f"EBR{x % 4}"), {"DOA0": out}, {"REGMODE_A": "NOREG"}, late=("ADA0", "DIA0"))
        for x in COLUMNS:
            self.add(f"free {x}", "TRELLIS_COMB", (x, FREE_ROW, "SLICEA.K0"), {})
        for number, (x, y) in enumerate((x, y) for y in MULTIPLIER_ROWS for x in COLUMNS[::9]):
            if number % 4:
                out = self.wire()
                self.outputs.append(out)
                self.add(f"multiplier{number}", "MULT18X18D", (x, y, f"MULT18_{x % 2}"), {"P0": out}, late=("A0", "B0"))
        # A LUT reads wires of cells before it, so that there are no loops; others read any.
        order = {bit: index for index, bit in enumerate(self.outputs)}
        for name, port in self.inputs:
            driven = [order[bits[0]] for p, bits in self.cells[name]["connections"].items() if p in OUTPUTS and bits and bits[0] in order]
            combinational = self.cells[name]["type"] in ("TRELLIS_COMB", "MULT18X18D")
            choice = self.outputs[:min(driven, default=1)] if combinational else self.outputs
            self.cells[name]["connections"][port] = [self.draw.choice(choice[-60:] if choice else self.outputs[:1])] if choice else []
        for bit in self.resets + self.enables:  # each is driven by a register
            self.cells[f"flop driving {bit}"] = {
                "type": "TRELLIS_FF", "parameters": {}, "attributes": {}, "port_directions": {"Q": "output"}, "connections": {"Q": [bit]}}
        return self.cells


def place_of(cell):
    return re.match(r"X(\d+)/Y(\d+)/(.*)", cell["attributes"]["NEXTPNR_BEL"]).groups()


def violations(cells, original):
    """Returns what breaks the rules of the part, a sentence each."""
    found, at, slices, tiles = [], {}, defaultdict(set), defaultdict(set)
    for name, cell in cells.items():
        if "NEXTPNR_BEL" not in cell["attributes"]:
            continue
        bel = cell["attributes"]["NEXTPNR_BEL"]
        if bel in at:
            found.append(f"{name} and {at[bel]} at {bel}")
        at[bel] = name
        x, y, site = place_of(cell)
        if cell["type"] == "TRELLIS_FF":
            slices[x, y, site[:6]].add(str(cell["connections"]["CE"]))
            tiles[x, y].add(str(cell["connections"]["LSR"]))
            if "DI" in cell["connections"]:
                lut = next(n for n, c in cells.items() if c["connections"].get("F") == cell["connections"]["DI"])
                if cells[lut]["attributes"]["NEXTPNR_BEL"] != bel.replace("FF", "K"):
                    found.append(f"{name} is not at its LUT {lut}")
        if name.startswith("free ") and bel != original[name]["attributes"]["NEXTPNR_BEL"]:
            found.append(f"{name} has moved")
        if int(y) == FREE_ROW and not name.startswith("free "):
            found.append(f"{name} lies in a row that is kept free")
        if (cell["type"] == "DP16KD") != (int(y) in RAM_ROWS) or (cell["type"] == "MULT18X18D") != (int(y) in MULTIPLIER_ROWS):
            found.append(f"{name} lies in a wrong row")
        if site != {"DP16KD": f"EBR{int(x) % 4}", "MULT18X18D": f"MULT18_{int(x) % 2}"}.get(cell["type"], site):
            found.append(f"{name} at {bel}, where it has no place")
    found += [f"two enables in {slice_}" for slice_, enables in slices.items() if len(enables) > 1]
    found += [f"two resets in {tile}" for tile, resets in tiles.items() if len(resets) > 1]
    groups = defaultdict(list)  # cells that keep their distances: chains, the halves of a multiplexer, LUT RAMs
    for name in cells:
        kind = re.match(r"(carry\d+|mux[\d.]+\.\d+(?=\.)|(?:write|ram|block)(?=\d))(.*)", name)
        if kind:
            key = kind[1] if kind[1][0] in "cm" else re.search(r"\d+\.\d+", name)[0]
            groups[key].append(name)
    for key, names in groups.items():
        def offsets(of):
            places = [place_of(of[name]) for name in names]
            return [(int(x) - int(places[0][0]), int(y) - int(places[0][1]), site if not key.startswith("mux") else site[7:])
                    for x, y, site in places]
        if offsets(cells) != offsets(original):
            found.append(f"{key} is torn apart")
    return found


def longest(cells):
    """Returns the longest path, by walking back from every end."""
    driver = {bits[0]: (name, port) for name, cell in cells.items() for port, bits in cell["connections"].items()
              if bits and port in OUTPUTS and "NEXTPNR_BEL" in cell["attributes"]}
    known = {}

    def wire(name, port, bit):
        if port in ("FCI", "F1", "WD", "DI"):
            return 0
        (x0, y0, _), (x1, y1, _) = place_of(cells[driver[bit][0]]), place_of(cells[name])
        return 0.55 + 0.08 * (abs(int(x0) - int(x1)) + abs(int(y0) - int(y1)))

    def arrival(bit):
        if bit not in known:
            name, output = driver[bit]
            cell, kind = cells[name], cells[name]["type"]
            known[bit] = {"TRELLIS_FF": 0.52, "DP16KD": 5.83}.get(kind, 0)
            for port, bits in cell["connections"].items():
                if kind in ("TRELLIS_FF", "DP16KD", "TRELLIS_RAMW") or port in OUTPUTS or not bits or bits[0] not in driver:
                    continue
                if kind == "MULT18X18D":
                    delay = 3.93
                elif cell["parameters"].get("MODE") == "CCU2":
                    delay = {("F", "FCI"): 0.44, ("FCO", "FCI"): 0.035}.get((output, port), 0.45)
                elif port == "WD":
                    continue
                else:
                    delay = {"M": 0.26, "F1": 0}.get(port, 0.24)
                    if port in ("M", "F1") and output != "OFX":
                        continue
                known[bit] = max(known[bit], arrival(bits[0]) + wire(name, port, bits[0]) + delay)
        return known[bit]
    ends = [(name, port, bits[0]) for name, cell in cells.items() for port, bits in cell["connections"].items()
            if "NEXTPNR_BEL" in cell["attributes"] and port not in OUTPUTS and bits and bits[0] in driver]
    return max(arrival(bit) + wire(name, port, bit) for name, port, bit in ends)


def wire_ends(cells):
    """Returns the tiles of the ends of each wire."""
    ends = defaultdict(list)
    driven = {bits[0] for cell in cells.values() if "NEXTPNR_BEL" in cell["attributes"]
              for port, bits in cell["connections"].items() if bits and port in OUTPUTS}
    for cell in cells.values():
        for bits in cell["connections"].values():
            if bits and bits[0] in driven and "NEXTPNR_BEL" in cell["attributes"]:
                ends[bits[0]].append([int(part) for part in place_of(cell)[:2]])
    return ends.values()


def wire_length(cells):
    return sum(max(axis) - min(axis) for places in wire_ends(cells) for axis in zip(*places))


def wires_by_tile(cells):
    """Returns the length of wire in each tile; a wire lies evenly in the rectangle around its ends."""
    tiles = defaultdict(float)
    for places in wire_ends(cells):
        (left, right), (low, high) = ((min(axis), max(axis)) for axis in zip(*places))
        for x in range(left, right + 1):
            for y in range(low, high + 1):
                tiles[y, x] += (right - left + high - low) / ((right - left + 1) * (high - low + 1))
    return tiles


class RefinePlacement(unittest.TestCase):
    def placements(self):
        for seed in range(3):
            yield seed, Builder(random.Random(seed)).whole()

    def test_the_checker_finds_faults(self):
        cells = Builder(random.Random(0)).whole()
        self.assertEqual(violations(cells, cells), [])
        for name, bel in (("carry1.9", "X25/Y13/SLICEA.K1"), ("free 2", "X2/Y8/SLICED.K0"), ("block ram1", "X10/Y14/EBR1"), ("multiplier1", "X3/Y16/MULT18_0")):
            broken = copy.deepcopy(cells)
            broken[name]["attributes"]["NEXTPNR_BEL"] = bel
            self.assertNotEqual(violations(broken, cells), [], name)

    def test_paths(self):
        for seed, cells in self.placements():
            with self.subTest(seed=seed):
                placement = refine_placement.Placement(copy.deepcopy(cells))
                self.assertAlmostEqual(placement.analyse(10), longest(cells), 6)
                self.assertEqual(placement.wire_length(), wire_length(cells))

    def test_wires_by_tile(self):
        for seed, cells in self.placements():
            with self.subTest(seed=seed):
                found = refine_placement.Placement(copy.deepcopy(cells)).wires_by_tile()
                wanted = numpy.zeros(found.shape)
                for tile, wires in wires_by_tile(cells).items():
                    wanted[tile] = wires
                numpy.testing.assert_allclose(found, wanted, atol=1e-9)
                self.assertAlmostEqual(found.sum(), wire_length(cells), 6)

    def test_crowded_wires_cost_more(self):
        for seed, cells in self.placements():
            with self.subTest(seed=seed):
                placement = refine_placement.Placement(copy.deepcopy(cells))
                placement.analyse(1000)  # no path is late, so a wire costs its length alone
                mean, tiles = placement.wires_by_tile().sum() / (len(COLUMNS) * len(ROWS)), wires_by_tile(cells)
                costs = []
                for crowded in (tiles[max(tiles, key=tiles.get)] + 1, mean):
                    with mock.patch.object(refine_placement, "CROWDED", crowded):
                        costs.append(placement.prices(1000).cost.sum())
                wanted = 0
                for places in wire_ends(cells):
                    (left, right), (low, high) = ((min(axis), max(axis)) for axis in zip(*places))
                    inside = [max(tiles[y, x] / mean - 1, 0) for x in range(left, right + 1) for y in range(low, high + 1)]
                    wanted += (right - left + high - low) * (1 + refine_placement.CROWDED_PRICE * sum(inside) / len(inside))
                self.assertAlmostEqual(costs[0], wire_length(cells), 4)
                self.assertAlmostEqual(costs[1], wanted, 4)
                self.assertGreater(costs[1], 1.1 * costs[0])

    def test_a_chain_that_is_torn_apart_is_refused(self):
        cells = Builder(random.Random(0)).whole()
        cells["carry1.8"]["attributes"]["NEXTPNR_BEL"] = "X25/Y13/SLICEA.K0"
        with self.assertRaisesRegex(ValueError, r"^carry1\.[79] and carry1\.[89] are connected, but do not lie in neighbouring tiles$"):
            refine_placement.Placement(cells)

    def test_costs_follow_the_moves(self):
        for seed, cells in self.placements():
            with self.subTest(seed=seed):
                placement = refine_placement.Placement(copy.deepcopy(cells))
                placement.analyse(6)
                prices, critical = placement.prices(6), numpy.flatnonzero(placement.paths.length > 5).astype(numpy.int32)
                before = placement.board.place.copy()
                refine_placement.anneal(seed, 1500, 2.0, 6, placement.movable, critical, placement.graph, placement.board,
                                        placement.rules, prices)
                self.assertGreater((placement.board.place != before).sum(), 100)
                anew = prices._replace(cost=numpy.zeros_like(prices.cost))
                refine_placement.all_costs(placement.graph, placement.board, anew)
                numpy.testing.assert_allclose(prices.cost, anew.cost, rtol=1e-9)

    def test_refined_placements_are_legal_and_better(self):
        for seed, cells in self.placements():
            with self.subTest(seed=seed), tempfile.TemporaryDirectory() as folder:
                source, target = pathlib.Path(folder, "source.json"), pathlib.Path(folder, "target.json")
                source.write_text(json.dumps({"modules": {"top": {"cells": cells}}}), encoding="utf-8")
                before, after = refine_placement.refine(str(source), str(target), 8, seed, rounds=30, tries=400)
                refined = json.loads(target.read_text(encoding="utf-8"))["modules"]["top"]["cells"]
                self.assertEqual(violations(refined, cells), [])
                self.assertAlmostEqual(before[0], longest(cells), 6)
                self.assertAlmostEqual(after[0], longest(refined), 6)
                self.assertEqual(after[1], wire_length(refined))
                self.assertLess(after[0], before[0])
                moved = sum(refined[name] != cells[name] for name in cells)
                self.assertGreater(moved, len(cells) / 4)
                for name, cell in refined.items():
                    cell["attributes"], old = {}, cells[name]
                    self.assertEqual(cell, {**old, "attributes": {}})


if __name__ == "__main__":
    unittest.main()
