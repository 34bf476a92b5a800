"""Estimates the longest path between two registers of a netlist for a Lattice ECP5, before placement.

A path costs what its cells cost in the part (speed grade 6), and each wire between two cells what such a wire costs on
average. The delays of cells are those of the part. The delays of wires are fitted to units that were placed and routed
(hw/fpga_figures.json): tools/fpga.sh --fit shows how well. All delays are in nanoseconds.
"""
import json
from dataclasses import dataclass

CLOCK_TO_Q = 0.52
LUT, MUX = 0.24, 0.26  # a LUT with four inputs; the multiplexer that joins two of them
CARRY_IN, CARRY, CARRY_OUT = 0.45, 0.07, 0.44  # an operand into the chain, two bits along it, a sum out of it
RAM_READ, RAM_READ_REGISTERED = 5.83, 0.57  # from the clock edge to the data, without and with the RAM's register
MULTIPLY = 3.93
MULTIPLY_REGISTERED, PRODUCT_READ = 3.49, 0.74  # to the register of a multiplier, and out of it
LUT_RAM_READ = 0.24

STARTS = {"TRELLIS_FF", "DP16KD"}
CLOCKS = {"CLK", "CLKA", "CLKB", "WCK"}
HARD = {"DP16KD", "MULT18X18D"}  # cells in columns of the part, which wires go far to reach


@dataclass(frozen=True)
class Wires:
    """What a wire costs: the same for each, and more for each end in a RAM or a multiplier. The number of sinks does not
    matter much: tools duplicate registers, and place the sinks of long paths first."""
    each: float = 0.8
    hard: float = 0.8


@dataclass(frozen=True)
class Path:
    """The longest path: its delay, the cells at its two ends, and how many cells lie between."""
    ns: float
    first: str
    last: str
    cells: int


def bits_of(cell, ports):
    """Returns the bits of wires at some ports of a cell; constants are none."""
    return [bit for port in ports for bit in cell["connections"].get(port, []) if not isinstance(bit, str)]


def is_registered(multiplier):
    """Whether a multiplier has its own register behind the product."""
    return multiplier["parameters"].get("REG_OUTPUT_CLK", "NONE") != "NONE"


def in_order(before):
    """Returns the nodes of a graph without cycles, each behind its predecessors; `before` names the predecessors of each."""
    order, state = [], {}
    for first in before:
        stack = [first]
        while stack:
            node = stack[-1]
            if state.get(node) == 2:
                stack.pop()
            elif state.get(node) == 1:
                state[node] = 2
                order.append(stack.pop())
            else:
                state[node] = 1
                stack += [one for one in before[node] if one not in state]
    return order


class Netlist:
    """The combinational arcs of a flat netlist that yosys wrote as JSON."""

    def __init__(self, module):
        self.cells = module["cells"]
        self.driver = {bit: (name, port) for name, cell in self.cells.items()
                       for port in cell["connections"] if cell["port_directions"][port] == "output"
                       for bit in bits_of(cell, [port])}
        self.arcs = {}  # by driven bit: [(bit before, delay of the cell, whether a wire lies between, hard ends)]
        self.ends = []  # of paths: (bit, hard ends, cell, delay in the cell)
        for name, cell in self.cells.items():
            self.add(name, cell)
        self.order = in_order({bit: [before for before, *_ in arcs if before in self.arcs] for bit, arcs in self.arcs.items()})

    @staticmethod
    def of_file(path, top):
        with open(path, encoding="utf-8") as file:
            return Netlist(json.load(file)["modules"][top])

    def add(self, name, cell):
        """Adds the arcs through a cell, and the paths that end at it."""
        kind, connections = cell["type"], cell["connections"]
        if kind in STARTS:
            inputs = [port for port in connections if cell["port_directions"][port] == "input" and port not in CLOCKS]
            self.ends += [(bit, int(kind in HARD), name, 0) for bit in bits_of(cell, inputs)]
        elif kind == "TRELLIS_DPR16X4":
            self.ends += [(bit, 0, name, 0) for bit in bits_of(cell, ["DI", "WRE", "WAD"])]
            self.arc(cell, "DO", ["RAD"], LUT_RAM_READ)
        elif kind == "LUT4":
            self.arc(cell, "Z", "ABCD", LUT)
        elif kind == "PFUMX":
            self.arc(cell, "Z", ["ALUT", "BLUT"], 0, wire=False)
            self.arc(cell, "Z", ["C0"], MUX)
        elif kind == "L6MUX21":
            self.arc(cell, "Z", ["D0", "D1"], MUX, wire=False)
            self.arc(cell, "Z", ["SD"], MUX)
        elif kind == "MULT18X18D":
            products = [port for port in connections if port[0] == "P" and port[1:].isdigit()]
            factors = [port for port in connections if port[0] in "AB" and port[1:].isdigit()]
            if is_registered(cell):
                self.ends += [(bit, 1, name, MULTIPLY_REGISTERED) for bit in bits_of(cell, factors)]
            else:
                for port in products:
                    self.arc(cell, port, factors, MULTIPLY, hard=1)
        elif kind == "CCU2C":
            low, high = ["A0", "B0", "C0", "D0"], ["A1", "B1", "C1", "D1"]
            self.arc(cell, "S0", low, CARRY_IN)
            self.arc(cell, "S1", low + high, CARRY_IN)
            self.arc(cell, "COUT", low + high, CARRY_IN)
            self.arc(cell, "S0", ["CIN"], CARRY_OUT, wire=False)
            self.arc(cell, "S1", ["CIN"], CARRY_OUT, wire=False)
            self.arc(cell, "COUT", ["CIN"], CARRY, wire=False)
        elif kind != "$scopeinfo":  # names alone
            raise ValueError(f"no delay is known for a cell {kind}")

    def arc(self, cell, output, inputs, delay, wire=True, hard=0):
        for driven in bits_of(cell, [output]):
            self.arcs.setdefault(driven, []).extend((bit, delay, wire, hard) for bit in bits_of(cell, inputs))

    def start(self, bit):
        """When a bit that a register drives, or a pin, is there; and whether a RAM or a multiplier drives it."""
        cell = self.cells[self.driver[bit][0]] if bit in self.driver else None
        if cell is None or cell["type"] not in HARD:
            return CLOCK_TO_Q, 0
        if cell["type"] != "DP16KD":
            return PRODUCT_READ, 1
        port = "A" if self.driver[bit][1].startswith("DOA") else "B"
        registered = cell["parameters"].get(f"REGMODE_{port}") == "OUTREG"
        return (RAM_READ_REGISTERED if registered else RAM_READ), 1

    def longest(self, wires=Wires()):
        """Returns the longest path."""
        known, hard, before = {}, {}, {}

        def arrival(bit, wire, hard_end):
            if bit not in known:
                known[bit], hard[bit] = self.start(bit)
            return known[bit] + (wires.each + wires.hard * (hard_end + hard[bit]) if wire else 0)

        for bit in self.order:
            known[bit], before[bit] = 0, None
            hard[bit] = int(self.cells[self.driver[bit][0]]["type"] in HARD)
            for source, delay, wire, hard_end in self.arcs[bit]:
                at = arrival(source, wire, hard_end) + delay
                if at > known[bit]:
                    known[bit], before[bit] = at, source
        ns, bit, last = max(((arrival(bit, True, hard_end) + delay, bit, cell) for bit, hard_end, cell, delay in self.ends))
        cells = 0
        while before.get(bit) is not None:
            bit, cells = before[bit], cells + 1
        return Path(ns, self.driver.get(bit, ("a pin", ""))[0], last, cells)
