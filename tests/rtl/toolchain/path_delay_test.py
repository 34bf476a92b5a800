#!/usr/bin/env python3
"""The estimate of a path: netlists written by hand, with sums of delays worked out by hand; and how well the stored
estimates order the placed units."""
import json
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))
import clock_figures  # noqa: E402
import path_delay  # noqa: E402

OUTPUTS = {"Q", "Z", "S0", "S1", "COUT", "DO", "DOA0", "DOB0", "P0"}


def cell(kind, parameters=None, **connections):
    return {"type": kind, "parameters": parameters or {},
            "port_directions": {port: "output" if port in OUTPUTS else "input" for port in connections},
            "connections": {port: bits if isinstance(bits, list) else [bits] for port, bits in connections.items()}}


def longest(**cells):
    return path_delay.Netlist({"cells": cells}).longest(path_delay.Wires(each=0.8, hard=0.6))


class PathDelay(unittest.TestCase):
    def check(self, path, ns, first, last, cells):
        self.assertAlmostEqual(path.ns, ns, 6)
        self.assertEqual((path.first, path.last, path.cells), (first, last, cells))

    def test_lut_between_flip_flops(self):
        path = longest(a=cell("TRELLIS_FF", CLK=1, DI="0", Q=2), lut=cell("LUT4", A=2, B="1", C=2, D=2, Z=3),
                       b=cell("TRELLIS_FF", CLK=1, DI=3, Q=4))
        self.check(path, 0.52 + 0.8 + 0.24 + 0.8, "a", "b", 1)

    def test_enable_is_an_end(self):
        path = longest(a=cell("TRELLIS_FF", CLK=1, DI="0", Q=2), b=cell("TRELLIS_FF", CLK=1, CE=2, DI="0", Q=4))
        self.check(path, 0.52 + 0.8, "a", "b", 0)

    def test_clock_is_none(self):
        path = longest(a=cell("TRELLIS_FF", CLK=1, DI="0", Q=2), lut=cell("LUT4", A=2, Z=3), b=cell("TRELLIS_FF", CLK=3, DI=2, Q=5))
        self.check(path, 0.52 + 0.8, "a", "b", 0)

    def test_wide_multiplexer(self):
        """No wire lies between a LUT and the multiplexer beside it."""
        path = longest(a=cell("TRELLIS_FF", CLK=1, DI="0", Q=2), x=cell("LUT4", A=2, Z=3), y=cell("LUT4", A=2, Z=4),
                       five=cell("PFUMX", ALUT=3, BLUT=4, C0=2, Z=5), six=cell("L6MUX21", D0=5, D1=5, SD="0", Z=6),
                       b=cell("TRELLIS_FF", CLK=1, DI=6, Q=7))
        self.check(path, 0.52 + 0.8 + 0.26 + 0.26 + 0.8, "a", "b", 2)

    def test_carry_chain(self):
        path = longest(a=cell("TRELLIS_FF", CLK=1, DI="0", Q=2),
                       low=cell("CCU2C", CIN="0", A0=2, A1="0", COUT=3), middle=cell("CCU2C", CIN=3, A0="0", A1="0", COUT=4),
                       high=cell("CCU2C", CIN=4, A0="0", A1="0", S1=5), b=cell("TRELLIS_FF", CLK=1, DI=5, Q=6))
        self.check(path, 0.52 + 0.8 + 0.45 + 0.07 + 0.44 + 0.8, "a", "b", 3)

    def test_block_ram(self):
        """Each wire into or out of it costs more; its output register saves the way out of the memory."""
        for mode, read in (("NOREG", 5.83), ("OUTREG", 0.57)):
            path = longest(ram=cell("DP16KD", {"REGMODE_A": mode, "REGMODE_B": "NOREG"}, CLKA=1, ADA0="0", DOA0=2),
                           b=cell("TRELLIS_FF", CLK=1, DI=2, Q=3))
            self.check(path, read + 0.8 + 0.6, "ram", "b", 0)
        path = longest(a=cell("TRELLIS_FF", CLK=1, DI="0", Q=2), ram=cell("DP16KD", CLKA=1, ADA0=2, DOA0=3))
        self.check(path, 0.52 + 0.8 + 0.6, "a", "ram", 0)

    def test_multiplier(self):
        path = longest(ram=cell("DP16KD", CLKB=1, ADB0="0", DOB0=2), product=cell("MULT18X18D", A0=2, B0="1", P0=3),
                       b=cell("TRELLIS_FF", CLK=1, DI=3, Q=4))
        self.check(path, 5.83 + (0.8 + 2 * 0.6) + 3.93 + (0.8 + 0.6), "ram", "b", 1)

    def test_multiplier_with_its_register(self):
        """A path ends in it, and another one begins."""
        product = {"REG_OUTPUT_CLK": "CLK0"}
        path = longest(a=cell("TRELLIS_FF", CLK=1, DI="0", Q=2), product=cell("MULT18X18D", product, CLK0=1, A0=2, B0="1", P0=3),
                       b=cell("TRELLIS_FF", CLK=1, DI=3, Q=4))
        self.check(path, 0.52 + (0.8 + 0.6) + 3.49, "a", "product", 0)
        path = longest(product=cell("MULT18X18D", product, CLK0=1, A0="0", B0="1", P0=3), b=cell("TRELLIS_FF", CLK=1, DI=3, Q=4))
        self.check(path, 0.74 + (0.8 + 0.6), "product", "b", 0)

    def test_lut_ram(self):
        path = longest(a=cell("TRELLIS_FF", CLK=1, DI="0", Q=2),
                       ram=cell("TRELLIS_DPR16X4", WCK=1, RAD=[2, 2, 2, 2], DI=["0"], WAD=["0"], WRE="0", DO=[3]),
                       b=cell("TRELLIS_FF", CLK=1, DI=3, Q=4))
        self.check(path, 0.52 + 0.8 + 0.24 + 0.8, "a", "b", 1)

    def test_unknown_cell(self):
        with self.assertRaisesRegex(ValueError, "^no delay is known for a cell EHXPLLL$"):
            longest(a=cell("EHXPLLL", CLKI=1))

    def test_ranks(self):
        self.assertAlmostEqual(clock_figures.rank_correlation([(1, 10), (2, 20), (3, 30), (4, 25)]), 0.8)
        self.assertAlmostEqual(clock_figures.rank_correlation([(1, 5), (1, 5), (2, 4)]), -1)

    def test_stored_units(self):
        """The estimates order the placed units: fit_text fails otherwise."""
        units = json.loads((ROOT / "hw/fpga_figures.json").read_text(encoding="utf-8"))["units"]
        self.assertIn(clock_figures.fit_text(units).strip(), (ROOT / "docs/hardware.md").read_text(encoding="utf-8"))
        for one in units.values():
            one["estimate"] = {"ns": -one["estimate"]["ns"]}
        with self.assertRaisesRegex(clock_figures.Failure, "^the estimate orders [0-9]+ placed units with a rank correlation of -"):
            clock_figures.fit_text(units)


if __name__ == "__main__":
    unittest.main()
