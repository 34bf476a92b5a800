"""Refines a placement that nextpnr-ecp5 wrote as JSON: moves cells such that late paths become shorter.

nextpnr's placer weighs a wire by the slack of its longest path alone, so a LUT that enables hundreds of registers moves
towards them and away from its own inputs. This program anneals the placement with a cost that knows both sides:

* every wire costs the half perimeter of its ends;
* every connection has a reach, the distance at which its longest path is as long as wanted, where the connections of a
  path share its slack. Each tile beyond the reach costs as much as there are late paths through the connection.

A move swaps what lies at two places: a LUT, a register or both; a slice; a run of whole tiles in a row, for carry chains,
wide multiplexers and LUT RAM; two block RAMs. The rules of the part stay satisfied: the registers of a slice share their
enable, those of a tile their reset, a register stays at the LUT that drives its input directly. Multipliers, pins and the
rows that are kept free do not move.
"""
import json
import re
from collections import defaultdict
from typing import Any, NamedTuple

import numpy

import path_delay
import prepare_netlist
from path_delay import CARRY, CARRY_IN, CARRY_OUT, CLOCK_TO_Q, LUT, MULTIPLY, MUX, RAM_READ, RAM_READ_REGISTERED

try:
    import numba
    compiled = numba.njit(nogil=True)
except ImportError:  # a hundred times as slow, but good enough for tests
    def compiled(function):
        return function

WIDTH, HEIGHT = 128, 96  # of the part, in tiles, or more
COMB, FLOP, WRITE, RAM = range(4)  # layers of a place: LUT, register, write port of a LUT RAM, block RAM
PLAIN, PAIR, RUN = range(3)  # a cell moves alone, with its slice, or with its run of tiles
# Delays in nanoseconds at speed grade 6. A wire of a routed machine takes this on average, and so much more for each tile.
WIRE, TILE = 0.55, 0.08
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


class Paths(NamedTuple):
    """The longest path through each connection."""
    delay: Any   # of the connection
    length: Any
    shares: Any  # how many connections share the path
    late: Any    # how many late paths depend on the connection


class Prices(NamedTuple):
    """What wires cost, in tiles."""
    reach: Any  # of a connection: the distance that costs nothing more
    price: Any  # of a connection: of each tile beyond
    cost: Any   # of a wire


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
        elif kind == "DP16KD":
            self.layer[cell] = RAM

    def bel(self, cell, place, ram_bels):
        """Returns the name of a place for a cell."""
        bel = self.bels[cell]
        if self.layer[cell] in (COMB, FLOP):
            bel = re.sub(r"SLICE[A-D](\.\w+?)[01]$", f"SLICE{'ABCD'[place % 8 // 2]}\\g<1>{place % 2}", bel)
        elif self.layer[cell] == RAM:
            bel = ram_bels[place]
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


@compiled
def analyse(graph, board, period, paths):
    """Computes the longest path through each connection; returns the longest of all, in nanoseconds."""
    delay, length, shares, late = paths
    order, arc_first, arc_from, wire = graph.order, graph.arc_first, graph.arc_from, graph.wire
    arrival, tail = numpy.zeros(order.size), numpy.zeros(order.size)
    before, behind = numpy.zeros(order.size, numpy.int32), numpy.zeros(order.size, numpy.int32)
    for c in range(wire.size):
        d, s = graph.driver[wire[c]], graph.sink[c]
        delay[c] = 0.0 if graph.inside[c] else WIRE + TILE * (abs(board.x[d] - board.x[s]) + abs(board.y[d] - board.y[s]))
    for w in order:
        arrival[w] = graph.start[w]
        for a in range(arc_first[w], arc_first[w + 1]):
            c = arc_from[a]
            at = arrival[wire[c]] + delay[c] + graph.arc_delay[a]
            if at > arrival[w]:
                arrival[w] = at
                before[w] = before[wire[c]] + (0 if graph.inside[c] else 1)
    dependent = numpy.zeros(order.size)
    for c in range(wire.size):
        length[c], shares[c], late[c] = 0.0, 1, 0.0
        if graph.ends_path[c]:
            w = wire[c]
            length[c] = arrival[w] + delay[c]
            shares[c] = before[w] + 1
            if delay[c] > tail[w]:
                tail[w] = delay[c]
                behind[w] = 1
            late[c] = min(max(4 * length[c] / period - 3, 0.0), 4.0)
            dependent[w] += late[c]
    for turn in range(order.size - 1, -1, -1):
        w = order[turn]
        total = 0.0
        for a in range(arc_first[w], arc_first[w + 1]):
            c = arc_from[a]
            at = arrival[wire[c]] + delay[c] + graph.arc_delay[a]
            total += numpy.exp(2 * (at - arrival[w]))
            behind_it = tail[w] + graph.arc_delay[a] + delay[c]
            if behind_it > tail[wire[c]]:
                tail[wire[c]] = behind_it
                behind[wire[c]] = behind[w] + (0 if graph.inside[c] else 1)
            if at + tail[w] > length[c]:
                length[c] = at + tail[w]
                shares[c] = before[wire[c]] + 1 + behind[w]
        # The late paths behind a wire divide among its sources, mostly to the latest of them.
        for a in range(arc_first[w], arc_first[w + 1]):
            c = arc_from[a]
            part = dependent[w] * numpy.exp(2 * (arrival[wire[c]] + delay[c] + graph.arc_delay[a] - arrival[w])) / total
            late[c] += part
            dependent[wire[c]] += part
    return length.max()


@compiled
def cost_of(w, graph, board, prices):
    """Returns the cost of a wire, in tiles."""
    x, y, sink = board.x, board.y, graph.sink
    d = graph.driver[w]
    left = right = x[d]
    low = high = y[d]
    beyond = 0.0
    for c in range(graph.first[w], graph.first[w + 1]):
        s = sink[c]
        left, right = min(left, x[s]), max(right, x[s])
        low, high = min(low, y[s]), max(high, y[s])
        beyond += prices.price[c] * max(0.0, abs(x[s] - x[d]) + abs(y[s] - y[d]) - prices.reach[c])
    return right - left + high - low + beyond


@compiled
def swap(board, p, q, count, lowest, highest):
    """Swaps `count` places of some layers; the same call again undoes it."""
    for k in range(count):
        for layer in range(lowest, highest + 1):
            for cell, to in ((board.at[layer, p + k], q + k), (board.at[layer, q + k], p + k)):
                board.at[layer, to] = cell
                if cell >= 0:
                    board.place[cell] = to
                    board.x[cell] = (to >> 3) % WIDTH
                    board.y[cell] = (to >> 3) // WIDTH


@compiled
def kind_at(at, kind, p):
    """Returns how the slice of a place moves, from the kinds of its LUTs; a write port of a LUT RAM lies in slice C."""
    s = p & ~1
    most = PLAIN
    for k in range(2):
        if at[COMB, s + k] >= 0:
            most = max(most, kind[at[COMB, s + k]])
    return RUN if at[WRITE, s] >= 0 else most


@compiled
def is_legal(at, rules, p):
    """Tells whether the registers of a slice share their enable, and those of its tile their reset."""
    a, b = at[FLOP, p & ~1], at[FLOP, p | 1]
    if a >= 0 and b >= 0 and rules.enable[a] != rules.enable[b]:
        return False
    shared = -1
    for k in range(8):
        cell = at[FLOP, (p & ~7) + k]
        if cell >= 0:
            if shared >= 0 and rules.reset[cell] != shared:
                return False
            shared = rules.reset[cell]
    return True


@compiled
def holds_ram(at, is_ram, p):
    """Tells whether the tile of a place holds a LUT RAM, whose write enable is the reset of the tile."""
    for k in range(8):
        cell = at[COMB, (p & ~7) + k]
        if cell >= 0 and is_ram[cell]:
            return True
    return False


@compiled
def joined_right(at, joined, tile):
    """Tells whether a cell of a tile has a neighbour in the next tile that it must keep."""
    for k in range(8):
        cell = at[COMB, tile * 8 + k]
        if cell >= 0 and joined[cell]:
            return True
    return False


@compiled
def anneal(seed, tries, heat, radius, movable, critical, graph, board, rules, prices):
    """Tries moves, and keeps one that costs more with the probability exp(-cost / heat)."""
    at, x, y, layer, usable = board.at, board.x, board.y, rules.layer, rules.usable
    wire, driver, first, sink = graph.wire, graph.driver, graph.first, graph.sink
    of_first, of_cell = graph.of_first, graph.of_cell
    numpy.random.seed(seed)
    seen = numpy.zeros(driver.size, numpy.int64)
    changed, costs = numpy.empty(driver.size, numpy.int32), numpy.empty(driver.size)
    for step in range(1, tries + 1):
        # Choose a cell and its target: near the other end of one of its connections, or anywhere around.
        if critical.size > 0 and numpy.random.random() < 0.4:
            c = critical[numpy.random.randint(critical.size)]
            cell, other = driver[wire[c]], sink[c]
            if numpy.random.random() < 0.5:
                cell, other = other, cell
            to_x, to_y = x[other], y[other]
            if numpy.random.random() < 0.3:
                to_x, to_y = (to_x + x[cell]) // 2, (to_y + y[cell]) // 2
            near = 3
        else:
            cell = movable[numpy.random.randint(movable.size)]
            to_x, to_y, near = x[cell], y[cell], radius
            if numpy.random.random() < 0.5 and of_first[cell + 1] > of_first[cell]:
                w = of_cell[of_first[cell] + numpy.random.randint(of_first[cell + 1] - of_first[cell])]
                other = driver[w] if driver[w] != cell else sink[first[w] + numpy.random.randint(first[w + 1] - first[w])]
                to_x, to_y, near = x[other], y[other], 3
        to_x += numpy.random.randint(-near, near + 1)
        to_y += numpy.random.randint(-near, near + 1)
        if layer[cell] < 0 or to_x < 1 or to_y < 0 or to_x >= WIDTH - 1 or to_y >= HEIGHT:
            continue
        p, tile = board.place[cell], to_y * WIDTH + to_x
        count, lowest, highest = 1, COMB, FLOP
        if layer[cell] == RAM:
            if numpy.random.random() > 0.3:
                continue
            lowest = highest = RAM
            q = rules.rams[numpy.random.randint(rules.rams.size)]
            for _ in range(15):  # the nearest of a few
                r = rules.rams[numpy.random.randint(rules.rams.size)]
                if abs((r >> 3) % WIDTH - to_x) + abs((r >> 3) // WIDTH - to_y) < \
                        abs((q >> 3) % WIDTH - to_x) + abs((q >> 3) // WIDTH - to_y):
                    q = r
            if q == p:
                continue
        else:
            if not usable[tile] or not usable[p >> 3] or tile == p >> 3:
                continue
            how = RUN if layer[cell] == WRITE else kind_at(at, rules.kind, p)
            if how == RUN:
                if numpy.random.random() > 0.1:  # they take long
                    continue
                a = b = p >> 3
                while joined_right(at, rules.joined, a - 1):
                    a -= 1
                while joined_right(at, rules.joined, b):
                    b += 1
                tiles = b - a + 1
                to = tile - ((p >> 3) - a)
                if to // WIDTH != tile // WIDTH or (to + tiles - 1) // WIDTH != tile // WIDTH or abs(to - a) < tiles or \
                        joined_right(at, rules.joined, to - 1) or joined_right(at, rules.joined, to + tiles - 1):
                    continue
                fits = True
                for k in range(tiles):
                    fits &= usable[a + k] and usable[to + k]
                if not fits:
                    continue
                p, q, count, highest = a * 8, to * 8, 8 * tiles, WRITE
            else:
                if how == PAIR:
                    p, q, count = p & ~1, tile * 8 + 2 * numpy.random.randint(4), 2
                else:
                    q = tile * 8 + numpy.random.randint(8)
                there = kind_at(at, rules.kind, q)
                if there == RUN or (how == PLAIN and there == PAIR) or holds_ram(at, rules.is_ram, p) or holds_ram(at, rules.is_ram, q):
                    continue
                if how == PLAIN and numpy.random.random() < 0.7:
                    f, g = at[FLOP, p], at[FLOP, q]
                    if (f < 0 or not rules.tied[f]) and (g < 0 or not rules.tied[g]):
                        lowest = highest = layer[cell]
        swap(board, p, q, count, lowest, highest)
        if count < 8 and highest == FLOP and not (is_legal(at, rules, p) and is_legal(at, rules, q)):
            swap(board, p, q, count, lowest, highest)
            continue
        wires, more = 0, 0.0
        for k in range(count):
            for l in range(lowest, highest + 1):
                for side in (p, q):
                    moved = at[l, side + k]
                    if moved < 0:
                        continue
                    for e in range(of_first[moved], of_first[moved + 1]):
                        w = of_cell[e]
                        if seen[w] != step:
                            seen[w] = step
                            changed[wires] = w
                            costs[wires] = cost_of(w, graph, board, prices)
                            more += costs[wires] - prices.cost[w]
                            wires += 1
        if more <= 0 or numpy.random.random() < numpy.exp(-more / heat):
            for k in range(wires):
                prices.cost[changed[k]] = costs[k]
        else:
            swap(board, p, q, count, lowest, highest)


@compiled
def all_costs(graph, board, prices):
    for w in range(prices.cost.size):
        prices.cost[w] = cost_of(w, graph, board, prices)


class Placement:
    """A placement that can be refined."""

    def __init__(self, cells):
        self.placed = placed = Cells(cells)
        self.graph, ports = wires_between(placed)
        self.put(placed.place)
        self.ram_bels = self.ram_places()
        joined = self.bind(ports)
        is_ram = numpy.array([cells[name]["parameters"].get("MODE") in ("DPRAM", "RAMW_BLOCK") for name in placed.names])
        self.rules = Rules(placed.layer, placed.kind, placed.tied, placed.enable, placed.reset, is_ram, joined,
                           self.usable_tiles(), numpy.array(sorted(self.ram_bels), numpy.int32))
        moves = (placed.layer == RAM) | ((placed.layer >= 0) & self.rules.usable[placed.place >> 3])
        self.movable = numpy.flatnonzero(moves).astype(numpy.int32)

    def put(self, place):
        """Puts the cells at some places."""
        at = numpy.full((4, WIDTH * HEIGHT * 8), -1, numpy.int32)
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
                    raise ValueError(f"{names[left]} and {names[right]} are no neighbours")
                joined[left] = True
        for first in range(0, self.board.at.shape[1], 2):  # a LUT shares the kind of its slice
            both = [cell for cell in self.board.at[COMB, first:first + 2] if cell >= 0]
            kind[both] = max(kind[both], default=PLAIN)
        return joined

    def ram_places(self):
        """Returns the names of the places for block RAMs, also of empty ones: all rows have the same."""
        cells = numpy.flatnonzero(self.placed.layer == RAM)
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

    def analyse(self, period):
        """Returns the longest path in nanoseconds; `paths` are those through each connection."""
        count = self.graph.sink.size
        self.paths = Paths(numpy.zeros(count), numpy.zeros(count), numpy.ones(count, numpy.int32), numpy.zeros(count))
        return analyse(self.graph, self.board, period, self.paths)

    def wire_length(self):
        """Returns the sum of the half perimeters of all wires, in tiles."""
        graph, total = self.graph, 0
        for along in (self.board.x, self.board.y):
            ends, first, driver = along[graph.sink], graph.first[:-1], along[graph.driver]
            total += (numpy.maximum(numpy.maximum.reduceat(ends, first), driver) -
                      numpy.minimum(numpy.minimum.reduceat(ends, first), driver)).sum()
        return int(total)

    def prices(self, period):
        """Returns what wires cost after the last analysis."""
        graph, paths, x, y = self.graph, self.paths, self.board.x, self.board.y
        driver = graph.driver[graph.wire]
        distance = numpy.abs(x[graph.sink] - x[driver]) + numpy.abs(y[graph.sink] - y[driver])
        slack = (period - paths.length) / TILE
        reach = numpy.where(graph.inside, numpy.inf, distance + slack / numpy.where(slack > 0, paths.shares, 1))
        prices = Prices(reach, 4 * numpy.maximum(paths.late, 0.5), numpy.zeros(graph.driver.size))
        all_costs(graph, self.board, prices)
        return prices

    def refine(self, period, seed, rounds, tries=20000, heats=(1.5, 0.03)):
        """Anneals for paths of at most `period` nanoseconds, and keeps the best placement of the second half."""
        best = (numpy.inf, None)
        for number in range(rounds + 1):
            self.analyse(period)
            done = number / rounds
            excess = numpy.maximum(self.paths.length[self.graph.ends_path] - period, 0)
            score = excess.sum() + 40 * excess.max() + self.wire_length() / 1000
            if done > 0.5 and score < best[0]:
                best = (score, self.board.place.copy())
            if number == rounds:
                break
            critical = numpy.flatnonzero((self.paths.length > 0.95 * period) & ~self.graph.inside).astype(numpy.int32)
            anneal(seed * 1000003 + number, tries, heats[0] * (heats[1] / heats[0]) ** done, int(20 - 17 * done), self.movable,
                   critical, self.graph, self.board, self.rules, self.prices(period))
        self.put(best[1])

    def write(self):
        """Writes the places to the cells."""
        for cell, name in enumerate(self.placed.names):
            self.placed.cells[name]["attributes"]["NEXTPNR_BEL"] = self.placed.bel(cell, int(self.board.place[cell]), self.ram_bels)


def refine(source, target, period, seed=1, rounds=4000, tries=20000):
    """Reads a placement from one file and writes the refined one to another; returns the longest path, in nanoseconds, and
    the wire length, in tiles, before and after."""
    with open(source, encoding="utf-8") as file:
        netlist = json.load(file)
    placement = Placement(netlist["modules"]["top"]["cells"])
    before = placement.analyse(period), placement.wire_length()
    placement.refine(period, seed, rounds, tries)
    after = placement.analyse(period), placement.wire_length()
    placement.write()
    with open(target, "w", encoding="utf-8") as file:
        json.dump(netlist, file)
    return before, after
