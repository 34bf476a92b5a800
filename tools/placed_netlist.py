"""A placement that nextpnr-ecp5 wrote as JSON, as arrays of numbers: cells and places, wires with the delays through cells,
and the rules of the part."""
import re
from collections import defaultdict
from typing import Any, NamedTuple

import numpy

import path_delay
import prepare_netlist
from path_delay import CARRY, CARRY_IN, CARRY_OUT, CLOCK_TO_Q, LUT, MULTIPLY, MUX, PRODUCT_READ, RAM_READ, RAM_READ_REGISTERED

WIDTH, HEIGHT = 128, 96  # of the part, in tiles, or more
COMB, FLOP, WRITE, RAM, MULTIPLIER = range(5)  # layers of a place: LUT, register, write port of a LUT RAM, ...
HARD = {"DP16KD": RAM, "MULT18X18D": MULTIPLIER}  # they stand in columns of some rows
PLAIN, PAIR, RUN = range(3)  # a cell moves alone, with its slice, or with its run of tiles
WIDE = 0.15  # a multiplexer of two multiplexers
# Connections inside of a tile, which cost nothing and never lengthen.
INSIDE = {"FXA", "FXB", "FCI", "F1", "DI0", "DI1", "WD", "WAD0", "WAD1", "WAD2", "WAD3"}
MOST_SINKS = 400  # a wire with more is a constant or the clock


class Graph(NamedTuple):
    """Wires with their connections, and the delays through cells as arcs from a connection to a wire; arrays of numbers."""
    driver: Any     # of a wire: the cell
    first: Any      # of a wire: its first connection
    wire: Any       # of a connection
    sink: Any       # of a connection: the cell
    inside: Any     # of a connection: it stays in its tile
    ends_path: Any  # of a connection
    start: Any      # of a wire: when it has its value, if a path starts there
    arc_first: Any  # of a wire: the first arc to it
    arc_from: Any   # of an arc: the connection
    arc_delay: Any
    order: Any      # the wires, each behind those it depends on
    of_first: Any   # of a cell: the first of its wires
    of_cell: Any    # the wires of all cells


class Board(NamedTuple):
    """Where the cells are."""
    at: Any     # of a layer and a place: the cell, or -1
    place: Any  # of a cell
    x: Any
    y: Any


class Rules(NamedTuple):
    """What binds the cells, and the places they may have."""
    layer: Any
    kind: Any
    tied: Any    # a register that its LUT drives directly
    enable: Any  # of a register: a number that those in a slice share
    reset: Any   # of a register: a number that those in a tile share
    is_ram: Any  # a LUT that is RAM
    joined: Any  # a LUT that keeps its neighbour in the next tile
    usable: Any  # of a tile
    rams: Any    # places for block RAMs
    multipliers: Any  # places for them


class Cells:
    """The placed cells, by number: their layers and places, and what binds them."""

    def __init__(self, cells):
        self.cells = cells
        self.names = [name for name, cell in cells.items() if "NEXTPNR_BEL" in cell["attributes"]]
        count = len(self.names)
        self.layer = numpy.full(count, -1, numpy.int32)
        self.place = numpy.zeros(count, numpy.int32)  # (row * WIDTH + column) * 8 + LUT of the tile
        self.kind = numpy.full(count, PLAIN, numpy.int32)
        self.tied = numpy.zeros(count, numpy.bool_)
        self.enable = numpy.full(count, -1, numpy.int32)
        self.reset = numpy.full(count, -1, numpy.int32)
        self.bels = []
        numbers = {}
        for cell, name in enumerate(self.names):
            column, row, bel = re.match(r"X(\d+)/Y(\d+)/(.*)", cells[name]["attributes"]["NEXTPNR_BEL"]).groups()
            self.bels.append(bel)
            self.place[cell] = (int(row) * WIDTH + int(column)) * 8
            self.read(cell, cells[name], bel, numbers)

    def read(self, cell, entry, bel, numbers):
        kind, parameters, connections = entry["type"], entry["parameters"], entry["connections"]
        site = re.match(r"SLICE([A-D])\.\w+?([01])$", bel)
        if site:
            self.place[cell] += 2 * "ABCD".index(site[1]) + int(site[2])
        if kind == "TRELLIS_COMB":
            self.layer[cell] = COMB
            if parameters.get("MODE", "LOGIC") != "LOGIC" or connections.get("FXA") or connections.get("FXB"):
                self.kind[cell] = RUN
            elif connections.get("OFX") or connections.get("F1") or connections.get("M"):
                self.kind[cell] = PAIR
        elif kind == "TRELLIS_FF":
            def number(ports, names):
                key = (ports[0], *(tuple(connections.get(port, [])) for port in ports), *(parameters.get(n) for n in names))
                return numbers.setdefault(key, len(numbers))
            self.layer[cell] = FLOP
            self.tied[cell] = bool(connections.get("DI"))
            self.enable[cell] = number(["CE"], ["CEMUX", "GSR"])
            self.reset[cell] = number(["LSR", "CLK"], ["LSRMUX", "SRMODE", "CLKMUX"])
        elif kind == "TRELLIS_RAMW":
            self.layer[cell], self.kind[cell] = WRITE, RUN
            self.place[cell] += 4
        elif kind in HARD:
            self.layer[cell] = HARD[kind]

    def bel(self, cell, place, hard_bels):
        """Returns the name of a place for a cell."""
        bel = self.bels[cell]
        if self.layer[cell] in (COMB, FLOP):
            bel = re.sub(r"SLICE[A-D](\.\w+?)[01]$", f"SLICE{'ABCD'[place % 8 // 2]}\\g<1>{place % 2}", bel)
        elif self.layer[cell] in HARD.values():
            bel = hard_bels[place]
        return f"X{place // 8 % WIDTH}/Y{place // 8 // WIDTH}/{bel}"


def wires_between(placed):
    """Returns the graph of the wires between the placed cells, and the port at the end of each connection."""
    cells, names = placed.cells, placed.names
    number_of = {name: cell for cell, name in enumerate(names)}
    sinks, drivers = prepare_netlist.wires_of({name: cells[name] for name in names})
    sinks = defaultdict(list, {bit: [(number_of[name], port) for name, port, _ in ends] for bit, ends in sinks.items()})
    driver = {bit: number_of[name] for bit, (name, *_) in drivers.items()}
    skipped = {cell for cell, name in enumerate(names)
               if cells[name]["type"] in ("DCCA", "TRELLIS_IO") or name.startswith("$PACKER_")}
    bits = [bit for bit, cell in driver.items() if cell not in skipped and 0 < len(sinks[bit]) <= MOST_SINKS]
    number = {bit: wire for wire, bit in enumerate(bits)}
    ends = [end for bit in bits for end in sinks[bit]]
    wire = numpy.repeat(numpy.arange(len(bits), dtype=numpy.int32), [len(sinks[bit]) for bit in bits])
    inside = [port in INSIDE if cells[names[cell]]["type"] == "TRELLIS_COMB" else
              port == "DI" and cells[names[cell]]["type"] == "TRELLIS_FF" for cell, port in ends]
    of_cell = [set() for _ in names]
    for one, (cell, _) in zip(wire, ends):
        of_cell[cell].add(int(one))
    for one, bit in enumerate(bits):
        of_cell[driver[bit]].add(one)
    arcs, start = arcs_through(placed, number, {end: index for index, end in enumerate(ends)})
    ends_path = numpy.ones(len(ends), numpy.bool_)
    ends_path[[source for one in arcs for source, _ in one]] = False
    return Graph(
        driver=numpy.array([driver[bit] for bit in bits], numpy.int32),
        first=firsts(sinks[bit] for bit in bits),
        wire=wire,
        sink=numpy.array([cell for cell, _ in ends], numpy.int32),
        inside=numpy.array(inside),
        ends_path=ends_path,
        start=start,
        arc_first=firsts(arcs),
        arc_from=numpy.array([source for one in arcs for source, _ in one], numpy.int32),
        arc_delay=numpy.array([delay for one in arcs for _, delay in one]),
        order=numpy.array(path_delay.in_order({one: [int(wire[source]) for source, _ in some] for one, some in enumerate(arcs)}),
                          numpy.int32),
        of_first=firsts(of_cell),
        of_cell=numpy.array([one for some in of_cell for one in sorted(some)], numpy.int32)), [port for _, port in ends]


def firsts(lists):
    """Returns where each of some lists begins if they follow each other, and where the last one ends."""
    return numpy.cumsum([0] + [len(one) for one in lists]).astype(numpy.int32)


def arcs_through(placed, number, connection):
    """Returns for each wire the arcs to it, as (connection, delay), and when it has its value if a path starts there."""
    arcs, start = [[] for _ in number], numpy.zeros(len(number))
    for cell, name in enumerate(placed.names):
        entry = placed.cells[name]
        inputs = {port: connection[cell, port] for port in entry["connections"] if (cell, port) in connection}
        for port, bits in entry["connections"].items():
            if bits and entry["port_directions"][port] == "output" and bits[0] in number:
                wire = number[bits[0]]
                delays, start[wire] = delays_to(entry, port)
                arcs[wire] += [(inputs[source], delay) for source, delay in delays.items() if source in inputs]
    return arcs, start


def delays_to(entry, output):
    """Returns the delays from the inputs of a cell to an output, and when the output is there if a path starts at it."""
    kind, parameters = entry["type"], entry["parameters"]
    if kind == "TRELLIS_FF":
        return {}, CLOCK_TO_Q
    if kind == "DP16KD":
        return {}, RAM_READ_REGISTERED if parameters.get("REGMODE_" + output[2]) == "OUTREG" else RAM_READ
    if kind == "MULT18X18D" and path_delay.is_registered(entry):
        return {}, PRODUCT_READ  # paths into it are taken for shorter than they are: the delay in it is not counted
    if kind == "MULT18X18D":
        return {port: MULTIPLY for port in entry["connections"] if port[0] in "AB" and port[1:].isdigit()}, 0
    if kind != "TRELLIS_COMB":
        return {}, 0
    if parameters.get("MODE") == "CCU2":
        through = {"F": (CARRY_IN, CARRY_OUT), "FCO": (CARRY_IN, CARRY / 2)}.get(output, (0, 0))
        return {**dict.fromkeys("ABCD", through[0]), "FCI": through[1]}, 0
    delays = dict.fromkeys("ABCD", LUT)
    if output == "OFX":
        delays |= {"M": MUX, "F1": 0, "FXA": WIDE, "FXB": WIDE}
    return delays, 0


class PlacedNetlist:
    """A placement with its wires and rules."""

    def __init__(self, cells):
        self.placed = placed = Cells(cells)
        self.graph, ports = wires_between(placed)
        self.put(placed.place)
        rams, multipliers = self.places_of(RAM), self.places_of(MULTIPLIER)
        self.hard_bels = rams | multipliers
        joined = self.bind(ports)
        is_ram = numpy.array([cells[name]["parameters"].get("MODE") in ("DPRAM", "RAMW_BLOCK") for name in placed.names])
        self.rules = Rules(placed.layer, placed.kind, placed.tied, placed.enable, placed.reset, is_ram, joined,
                           self.usable_tiles(), *(numpy.array(sorted(places), numpy.int32) for places in (rams, multipliers)))
        moves = (placed.layer >= RAM) | ((placed.layer >= 0) & self.rules.usable[placed.place >> 3])
        self.movable = numpy.flatnonzero(moves).astype(numpy.int32)

    def put(self, place):
        """Puts the cells at some places."""
        at = numpy.full((5, WIDTH * HEIGHT * 8), -1, numpy.int32)
        moving = numpy.flatnonzero(self.placed.layer >= 0)
        at[self.placed.layer[moving], place[moving]] = moving
        self.board = Board(at, place, (place >> 3) % WIDTH, (place >> 3) // WIDTH)

    def bind(self, ports):
        """Makes cells move together that are connected inside of a tile or to the next one; returns which LUTs keep a
        neighbour in the next tile."""
        layer, kind, names, place = self.placed.layer, self.placed.kind, self.placed.names, self.board.place
        joined = numpy.zeros(len(names), numpy.bool_)
        for connection in numpy.flatnonzero(self.graph.inside):
            driver, sink = self.graph.driver[self.graph.wire[connection]], self.graph.sink[connection]
            if ports[connection] in ("FXA", "FXB"):
                kind[driver] = RUN
            if layer[driver] == layer[sink] == COMB and place[driver] >> 3 != place[sink] >> 3:
                left, right = sorted((driver, sink), key=lambda cell: place[cell])
                if place[right] // 8 - place[left] // 8 != 1:
                    raise ValueError(f"{names[left]} and {names[right]} are connected, but do not lie in neighbouring tiles")
                joined[left] = True
        for first in range(0, self.board.at.shape[1], 2):  # a LUT shares the kind of its slice
            both = [cell for cell in self.board.at[COMB, first:first + 2] if cell >= 0]
            kind[both] = max(kind[both], default=PLAIN)
        return joined

    def places_of(self, layer):
        """Returns the names of the places for block RAMs or multipliers, also of empty ones: all rows have the same."""
        cells = numpy.flatnonzero(self.placed.layer == layer)
        columns = {int(self.board.x[cell]): self.placed.bels[cell] for cell in cells}
        return {(int(row) * WIDTH + column) * 8: bel
                for row in numpy.unique(self.board.y[cells]) for column, bel in columns.items()}

    def usable_tiles(self):
        """Returns which tiles of logic are not kept free: those of the rows and columns in which the design has LUTs."""
        x, y, luts = self.board.x, self.board.y, self.placed.layer == COMB
        usable = numpy.zeros((HEIGHT, WIDTH), numpy.bool_)
        usable[numpy.unique(y[luts]), x[luts].min():x[luts].max() + 1] = True
        free = [cell for cell, name in enumerate(self.placed.names) if name.startswith("free ")]
        usable[y[free], x[free]] = False
        return usable.reshape(-1)

    def write(self):
        """Writes the places to the cells."""
        for cell, name in enumerate(self.placed.names):
            self.placed.cells[name]["attributes"]["NEXTPNR_BEL"] = self.placed.bel(cell, int(self.board.place[cell]), self.hard_bels)
