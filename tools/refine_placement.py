"""Refines a placement that nextpnr-ecp5 wrote as JSON: moves cells such that late paths become shorter.

nextpnr's placer weighs a wire by the slack of its longest path alone, so a LUT that enables hundreds of registers moves
towards them and away from its own inputs. This program anneals the placement with a cost that knows both sides:

* every wire costs the half perimeter of its ends, and more where wires crowd;
* every connection has a reach, the distance at which its longest path is as long as wanted, where the connections of a
  path share its slack. Each tile beyond the reach costs as much as there are late paths through the connection.

A move swaps what lies at two places: a LUT, a register or both; a slice; a run of whole tiles in a row, for carry chains,
wide multiplexers and LUT RAM; two block RAMs; two multipliers. The rules of the part stay satisfied: the registers of a
slice share their enable, those of a tile their reset, a register stays at the LUT that drives its input directly. Pins and
the rows that are kept free do not move.
"""
import json
from typing import Any, NamedTuple

import numpy

from placed_netlist import COMB, FLOP, HEIGHT, MULTIPLIER, PAIR, PLAIN, RAM, RUN, WIDTH, WRITE, PlacedNetlist

try:
    import numba
    compiled = numba.njit(nogil=True)
except ImportError:  # a hundred times as slow, but good enough for tests
    def compiled(function):
        return function

# Delays in nanoseconds at speed grade 6. A wire of a routed machine takes this on average, and so much more for each tile.
WIRE, TILE = 0.55, 0.08
# A connection is as late as its longest path divided by the wanted one, to a power that grows over time: at first all paths
# that are nearly late count about the same, in the end the latest ones count most.
LATENESS = (4, 18)
MOST_LATE = 30.0
# Of the annealing: the heat and how far a cell may go, in tiles, at the beginning and in the end.
HEAT = (3, 0.03)
RADIUS = (20, 3)
# Where a tile holds more wire than CROWDED, in tiles of length, the router must lead other wires around it. There wire costs
# more: where a tile holds twice as much, a tile of wire costs CROWDED_PRICE more.
CROWDED = 50.0
CROWDED_PRICE = 4.0


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
    crowd: Any  # what a tile of wire costs more, as sums over all tiles above and left of a corner between tiles
    cost: Any   # of a wire


@compiled
def analyse(graph, board, period, exponent, paths):
    """Computes the longest path through each connection, and how late it is with this exponent; returns the longest of all,
    in nanoseconds."""
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
            late[c] = min((length[c] / period) ** exponent, MOST_LATE)
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
def box_of(w, graph, board):
    """Returns the rectangle around the ends of a wire."""
    d = graph.driver[w]
    left = right = board.x[d]
    low = high = board.y[d]
    for c in range(graph.first[w], graph.first[w + 1]):
        s = graph.sink[c]
        left, right = min(left, board.x[s]), max(right, board.x[s])
        low, high = min(low, board.y[s]), max(high, board.y[s])
    return left, right, low, high


@compiled
def changes_by_tile(graph, board):
    """Returns how the length of wire in a tile differs from that in the tile before, along both axes: a wire lies evenly in
    the rectangle around its ends, so it changes the result at four tiles only."""
    edges = numpy.zeros((HEIGHT + 1, WIDTH + 1))
    for w in range(graph.driver.size):
        left, right, low, high = box_of(w, graph, board)
        share = (right - left + high - low) / ((right - left + 1) * (high - low + 1))
        edges[low, left] += share
        edges[low, right + 1] -= share
        edges[high + 1, left] -= share
        edges[high + 1, right + 1] += share
    return edges


@compiled
def cost_of(w, graph, board, prices):
    """Returns the cost of a wire, in tiles."""
    x, y, sink = board.x, board.y, graph.sink
    d = graph.driver[w]
    # The loop repeats box_of(): with a pass of its own for the rectangle, the annealing took half as long again.
    left = right = x[d]
    low = high = y[d]
    beyond = 0.0
    for c in range(graph.first[w], graph.first[w + 1]):
        s = sink[c]
        left, right = min(left, x[s]), max(right, x[s])
        low, high = min(low, y[s]), max(high, y[s])
        beyond += prices.price[c] * max(0.0, abs(x[s] - x[d]) + abs(y[s] - y[d]) - prices.reach[c])
    crowd = prices.crowd
    more = crowd[high + 1, right + 1] - crowd[low, right + 1] - crowd[high + 1, left] + crowd[low, left]
    return (right - left + high - low) * (1 + more / ((right - left + 1) * (high - low + 1))) + beyond


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
def choose(critical, movable, radius, graph, board):
    """Returns a cell and the tile where it shall go: near the other end of one of its connections, or anywhere around."""
    x, y, wire, driver, sink = board.x, board.y, graph.wire, graph.driver, graph.sink
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
        if numpy.random.random() < 0.5 and graph.of_first[cell + 1] > graph.of_first[cell]:
            w = graph.of_cell[graph.of_first[cell] + numpy.random.randint(graph.of_first[cell + 1] - graph.of_first[cell])]
            first = graph.first[w]
            other = driver[w] if driver[w] != cell else sink[first + numpy.random.randint(graph.first[w + 1] - first)]
            to_x, to_y, near = x[other], y[other], 3
    return cell, to_x + numpy.random.randint(-near, near + 1), to_y + numpy.random.randint(-near, near + 1)


@compiled
def nearest(places, to_x, to_y):
    """Draws a few of the places at random; returns the nearest of them."""
    q = places[numpy.random.randint(places.size)]
    for _ in range(15):
        r = places[numpy.random.randint(places.size)]
        if abs((r >> 3) % WIDTH - to_x) + abs((r >> 3) // WIDTH - to_y) < \
                abs((q >> 3) % WIDTH - to_x) + abs((q >> 3) // WIDTH - to_y):
            q = r
    return q


@compiled
def run_of_tiles(at, rules, p, tile):
    """Returns the places of a run of whole tiles, where it shall go, and how many places it has: 0 if it cannot go there."""
    a = b = p >> 3
    while joined_right(at, rules.joined, a - 1):
        a -= 1
    while joined_right(at, rules.joined, b):
        b += 1
    tiles = b - a + 1
    to = tile - ((p >> 3) - a)
    if to // WIDTH != tile // WIDTH or (to + tiles - 1) // WIDTH != tile // WIDTH or abs(to - a) < tiles or \
            joined_right(at, rules.joined, to - 1) or joined_right(at, rules.joined, to + tiles - 1):
        return 0, 0, 0
    for k in range(tiles):
        if not rules.usable[a + k] or not rules.usable[to + k]:
            return 0, 0, 0
    return a * 8, to * 8, 8 * tiles


@compiled
def swap_for(cell, to_x, to_y, board, rules):
    """Returns the swap that brings a cell to a tile: two places, how many from each on (0 if there is none), the lowest and
    the highest layer."""
    at, layer, none = board.at, rules.layer, (0, 0, 0, 0, 0)
    if layer[cell] < 0 or to_x < 1 or to_y < 0 or to_x >= WIDTH - 1 or to_y >= HEIGHT:
        return none
    p, tile = board.place[cell], to_y * WIDTH + to_x
    if layer[cell] >= RAM:
        if numpy.random.random() > 0.3:
            return none
        q = nearest(rules.multipliers if layer[cell] == MULTIPLIER else rules.rams, to_x, to_y)
        return none if q == p else (p, q, 1, layer[cell], layer[cell])
    if not rules.usable[tile] or not rules.usable[p >> 3] or tile == p >> 3:
        return none
    how = RUN if layer[cell] == WRITE else kind_at(at, rules.kind, p)
    if how == RUN:
        if numpy.random.random() > 0.1:  # they take long
            return none
        p, q, count = run_of_tiles(at, rules, p, tile)
        return p, q, count, COMB, WRITE
    count, lowest, highest = 1, COMB, FLOP
    if how == PAIR:
        p, q, count = p & ~1, tile * 8 + 2 * numpy.random.randint(4), 2
    else:
        q = tile * 8 + numpy.random.randint(8)
    there = kind_at(at, rules.kind, q)
    if there == RUN or (how == PLAIN and there == PAIR) or holds_ram(at, rules.is_ram, p) or holds_ram(at, rules.is_ram, q):
        return none
    if how == PLAIN and numpy.random.random() < 0.7:
        f, g = at[FLOP, p], at[FLOP, q]
        if (f < 0 or not rules.tied[f]) and (g < 0 or not rules.tied[g]):
            lowest = highest = layer[cell]
    return p, q, count, lowest, highest


@compiled
def anneal(seed, tries, heat, radius, movable, critical, graph, board, rules, prices):
    """Tries moves, and keeps one that costs more with the probability exp(-cost / heat)."""
    at, of_first, of_cell = board.at, graph.of_first, graph.of_cell
    numpy.random.seed(seed)
    seen = numpy.zeros(graph.driver.size, numpy.int64)
    changed, costs = numpy.empty(graph.driver.size, numpy.int32), numpy.empty(graph.driver.size)
    for step in range(1, tries + 1):
        cell, to_x, to_y = choose(critical, movable, radius, graph, board)
        p, q, count, lowest, highest = swap_for(cell, to_x, to_y, board, rules)
        if count == 0:
            continue
        swap(board, p, q, count, lowest, highest)
        if count < 8 and highest == FLOP and not (is_legal(at, rules, p) and is_legal(at, rules, q)):
            swap(board, p, q, count, lowest, highest)
            continue
        wires, more = 0, 0.0
        for k in range(count):
            for l in range(lowest, highest + 1):
                for moved in (at[l, p + k], at[l, q + k]):
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


class Placement(PlacedNetlist):
    """A placement that can be refined."""

    def analyse(self, period, exponent=LATENESS[0]):
        """Returns the longest path in nanoseconds; `paths` are those through each connection."""
        count = self.graph.sink.size
        self.paths = Paths(numpy.zeros(count), numpy.zeros(count), numpy.ones(count, numpy.int32), numpy.zeros(count))
        return analyse(self.graph, self.board, period, exponent, self.paths)

    def wire_length(self):
        """Returns the sum of the half perimeters of all wires, in tiles."""
        graph, total = self.graph, 0
        for along in (self.board.x, self.board.y):
            ends, first, driver = along[graph.sink], graph.first[:-1], along[graph.driver]
            total += (numpy.maximum(numpy.maximum.reduceat(ends, first), driver) -
                      numpy.minimum(numpy.minimum.reduceat(ends, first), driver)).sum()
        return int(total)

    def wires_by_tile(self):
        """Returns the length of wire in each tile, in tiles."""
        return sums(changes_by_tile(self.graph, self.board))[:HEIGHT, :WIDTH]

    def prices(self, period):
        """Returns what wires cost after the last analysis."""
        graph, paths, x, y = self.graph, self.paths, self.board.x, self.board.y
        driver = graph.driver[graph.wire]
        distance = numpy.abs(x[graph.sink] - x[driver]) + numpy.abs(y[graph.sink] - y[driver])
        slack = (period - paths.length) / TILE
        reach = numpy.where(graph.inside, numpy.inf, distance + slack / numpy.where(slack > 0, paths.shares, 1))
        crowd = numpy.zeros((HEIGHT + 1, WIDTH + 1))
        crowd[1:, 1:] = sums(CROWDED_PRICE * numpy.maximum(self.wires_by_tile() / CROWDED - 1, 0))
        prices = Prices(reach.astype(numpy.float32), (4 * numpy.maximum(paths.late, 0.5)).astype(numpy.float32), crowd,
                        numpy.zeros(graph.driver.size))
        all_costs(graph, self.board, prices)
        return prices

    def refine(self, period, seed, rounds, tries):
        """Anneals for paths of at most `period` nanoseconds, and keeps the best placement of the second half."""
        best = (numpy.inf, None)
        for number in range(rounds + 1):
            done = number / rounds
            self.analyse(period, between(LATENESS, done))
            excess = numpy.maximum(self.paths.length[self.graph.ends_path] - period, 0)
            score = excess.sum() + 40 * excess.max() + self.wire_length() / 1000
            if done > 0.5 and score < best[0]:
                best = (score, self.board.place.copy())
            if number == rounds:
                break
            critical = numpy.flatnonzero((self.paths.length > 0.95 * period) & ~self.graph.inside).astype(numpy.int32)
            anneal(seed * 1000003 + number, tries, HEAT[0] * (HEAT[1] / HEAT[0]) ** done, int(between(RADIUS, done)),
                   self.movable, critical, self.graph, self.board, self.rules, self.prices(period))
        self.put(best[1])


def sums(numbers):
    """Returns for each tile the sum over all tiles above and left of it, and itself."""
    return numbers.cumsum(0).cumsum(1)


def between(ends, share):
    return ends[0] + (ends[1] - ends[0]) * share


def refine(source, target, period, seed=1, rounds=4000, tries=60000):
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
