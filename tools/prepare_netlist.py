"""Prepares a flat netlist that yosys wrote as JSON for nextpnr-ecp5, which does none of this by itself.

* Constants: nextpnr drives a constant 0 at a carry cell from one LUT, with a wire across the part. The function of the
  cell is changed such that the input may be 1, which needs no wire.
* Copies: a register or a LUT with many sinks is placed in their middle, far from its own inputs. Copies of it drive a
  part of the sinks each.
* Rows: RAMs and multipliers stand in rows of the part and have many more pins than sites have. The rows of sites beside
  them stay empty, for the wires to these pins.
"""
import copy
import json
import math
from collections import defaultdict

# How many sinks a driver may have: inputs of logic, and controls of registers and RAMs. The two registers of a slice share
# their controls, so one wire reaches more of them.
MOST_LOGIC, MOST_CONTROLS = 24, 64
CONTROLS = {"CE", "LSR", "CEA", "CEB", "OCEA", "OCEB", "RSTA", "RSTB", "WRE", "WAD", "RAD"}
COPIED = {"LUT4", "TRELLIS_FF"}
SITES_OF_TILE = [f"SLICE{slice_}.K{lut}" for slice_ in "ABCD" for lut in "01"]


def fold_constants(cells):
    """Replaces each constant 0 at an input of a carry cell by a 1 that its function ignores; returns how many.

    A carry cell holds two functions of its inputs A to D. The carry takes the part of the function where C and D are 0,
    which stays as it is.
    """
    folded = 0
    for cell in cells.values():
        if cell["type"] != "CCU2C":
            continue
        for half in "01":
            function = int(cell["parameters"]["INIT" + half], 2)
            for place, name in enumerate("ABCD"):
                if cell["connections"].get(name + half) == ["0"]:
                    function = sum((function >> (index & ~(1 << place)) & 1) << index for index in range(16))
                    cell["connections"][name + half] = ["1"]
                    folded += 1
            cell["parameters"]["INIT" + half] = f"{function:016b}"
    return folded


def parts(sinks, most):
    """Divides sinks into equal parts of at most `most`. The names of cells begin with their module, so the sinks of a part
    are often neighbours."""
    count = math.ceil(len(sinks) / most)
    order = sorted(sinks)
    return [order[part * len(order) // count:(part + 1) * len(order) // count] for part in range(count)]


def wires_of(cells):
    """Returns the sinks of each wire and its driver, both as (cell, port, index)."""
    sinks, driver = defaultdict(list), {}
    for name, cell in cells.items():
        for port, bits in cell["connections"].items():
            for index, bit in enumerate(bits):
                if isinstance(bit, str):
                    continue
                if cell["port_directions"][port] == "output":
                    driver[bit] = (name, port, index)
                else:
                    sinks[bit].append((name, port, index))
    return sinks, driver


def copy_drivers(module):
    """Copies LUTs and registers with many sinks; returns how many copies were made."""
    cells = module["cells"]
    free = 1 + max(bit for cell in cells.values() for bits in cell["connections"].values() for bit in bits
                   if not isinstance(bit, str))
    pins = {bit for port in module["ports"].values() for bit in port["bits"]}
    copies, before = 0, -1
    while copies != before:  # a copy is one more sink of its inputs
        before = copies
        sinks, drivers = wires_of(cells)
        for bit, ends in sinks.items():
            if len(ends) <= MOST_LOGIC or bit in pins or bit not in drivers:
                continue
            name, port, index = drivers[bit]
            if cells[name]["type"] not in COPIED:
                continue
            controls = [end for end in ends if end[1] in CONTROLS]
            logic = [end for end in ends if end[1] not in CONTROLS]
            for part in (parts(logic, MOST_LOGIC) + parts(controls, MOST_CONTROLS))[1:]:
                twin = copy.deepcopy(cells[name])
                twin["connections"][port] = [free]
                for sink, sink_port, sink_index in part:
                    cells[sink]["connections"][sink_port][sink_index] = free
                cells[f"{name}$copy{copies}"] = twin
                free, copies = free + 1, copies + 1
    return copies


def keep_free(cells, rows, columns):
    """Fills the sites of some rows, between the first and the last column of the part, with LUTs that drive nothing;
    returns how many."""
    places = [f"X{x}/Y{y}/{site}" for y in rows for x in range(columns[0], columns[1] + 1) for site in SITES_OF_TILE]
    for place in places:
        cells["free " + place] = {
            "hide_name": 1, "type": "LUT4", "parameters": {"INIT": "0" * 16}, "attributes": {"BEL": place, "keep": "1"},
            "port_directions": {"A": "input", "B": "input", "C": "input", "D": "input", "Z": "output"},
            "connections": {"A": ["0"], "B": ["0"], "C": ["0"], "D": ["0"], "Z": []}}
    return len(places)


# With these, nextpnr's second router comes to an end on a whole machine:
# * From round to round it prices a wire that is in use higher; as fast as it does by default, wires give way to each other
#   without end.
# * A wire continues from its own branches within the margin, whatever their delay, so a wide margin means detours.
# * Its estimate of the way that is left is twice as long as most routes. At less weight it finds shorter routes, and sooner.
# * Wires of paths that are too long for the wanted clock are routed anew in every round.
# A string of the digits 0 and 1 alone ends in a space, or it is a number of bits.
ROUTER = {"router": "router2", "router2/bbMargin/x": "4", "router2/bbMargin/y": "4", "router2/currCongWeightMult": "0.5",
          "router2/estimateWeight": "0.6", "router/tmg_ripup": "1 "}


def set_router(path, mhz):
    """Sets the parameters of the second router in a placed netlist, and the clock that it tries to reach; there they have
    precedence over options of the command."""
    with open(path, encoding="utf-8") as file:
        netlist = json.load(file)
    netlist["modules"]["top"]["settings"] |= ROUTER | {"target_freq": f"{mhz * 1e6:f}"}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(netlist, file)


def prepare(source, target, top, rows, columns):
    """Reads a netlist from one file and writes it, prepared, to another; returns how many sites are kept free."""
    with open(source, encoding="utf-8") as file:
        netlist = json.load(file)
    module = netlist["modules"][top]
    fold_constants(module["cells"])
    copy_drivers(module)
    free = keep_free(module["cells"], rows, columns)
    with open(target, "w", encoding="utf-8") as file:
        json.dump(netlist, file)
    return free
