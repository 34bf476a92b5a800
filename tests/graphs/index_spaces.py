#!/usr/bin/env python3
"""Index spaces of random operations against the rows of their plans: maps, reductions, pooling, products with groups, convolutions with
strides, pads and dilations, and views. `explain --index-space` computes the rows that a block reads and writes, its products and weight
blocks, what one more step of a loop adds, and the elements that neighbours share. This script counts the same in the rows that the
planner gets (`--emit rows`): each row of the result, followed back to the rows of the inputs.

usage: index_spaces.py SLUICE [--seeds FIRST:END] [--target NAME] [--keep FOLDER]
"""
import json
import re
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from seeds import SeedSearch, search_of

LANES = {"c2b8": 8, "c6b32": 32}


class Operation:
    """A random model of one operation; its inputs are x and perhaps z."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.inputs, self.constants, self.nodes = {}, [], []
        self.kind = str(self.random.choice(["map", "reduce", "pool", "product", "groups", "conv", "conv", "grouped", "depthwise", "view"]))
        getattr(self, self.kind)()

    def extents(self, rank, most=12):
        return [int(n) for n in self.random.integers(1, most + 1, rank)]

    def pick(self, *values):
        return values[int(self.random.integers(len(values)))]

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def weights(self, *shape):
        """Different numbers, so that equal blocks are the same block."""
        return self.constant((self.random.permutation(np.arange(1, 1 + int(np.prod(shape)))) / 64).astype(np.float32).reshape(shape))

    def add(self, op, inputs, output="y", **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], name=op.lower(), **attributes))

    def map(self):
        shape = self.extents(int(self.random.integers(1, 4)), 20)
        self.inputs["x"] = shape
        if self.random.random() < 0.5:
            self.inputs["z"] = [n if self.random.random() < 0.6 else 1 for n in shape]
        self.add(self.pick("Add", "Mul", "Max"), ["x", "z" if "z" in self.inputs else self.weights(*shape)])

    def reduce(self):
        shape = self.extents(int(self.random.integers(2, 4)), 20)
        axes = sorted(int(a) for a in self.random.permutation(len(shape))[:int(self.random.integers(1, len(shape)))])
        self.inputs["x"] = shape
        self.add(self.pick("ReduceMax", "ReduceMin"), ["x"], axes=axes, keepdims=int(self.random.integers(2)))

    def window(self, positions):
        """Attributes of a window with strides, pads and dilations that fits."""
        while True:
            kernel = [int(k) for k in self.random.integers(1, 5, len(positions))]
            strides = [int(s) for s in self.random.integers(1, 4, len(positions))]
            dilations = [int(d) for d in self.random.integers(1, 3, len(positions))]
            reach = [d * (k - 1) for k, d in zip(kernel, dilations)]
            low, high = ([int(self.random.integers(0, r + 1)) for r in reach] for _ in range(2))
            if all(r < n for r, n in zip(reach, positions)):
                return {"kernel_shape": kernel, "strides": strides, "dilations": dilations, "pads": low + high}

    def positions(self):
        return self.extents(int(self.random.integers(1, 3)), 14)

    def pool(self):
        positions = self.positions()
        self.inputs["x"] = [1, self.pick(1, 3, 8, 20), *positions]
        window = self.window(positions)
        window["pads"] = [min(p, k - 1) for p, k in zip(window["pads"], window["kernel_shape"] * 2)]
        self.add("MaxPool", ["x"], **window)

    def product(self):
        rows, summed, columns = self.extents(3, 40)
        batch = self.extents(int(self.random.integers(0, 3)), 3)
        self.inputs["x"] = [*batch, rows, summed]
        self.add("MatMul", ["x", self.weights(*self.pick([], batch), summed, columns)])

    def groups(self):
        """A block-diagonal matrix."""
        count, summed, columns = int(self.random.integers(2, 6)), self.pick(3, 8, 16, 20), self.pick(4, 8, 12, 16)
        matrix = np.zeros((count * summed, count * columns), np.float32)
        values = self.random.permutation(np.arange(1, 1 + count * summed * columns)).reshape(count, summed, columns) / 64
        for i in range(count):
            matrix[i * summed:(i + 1) * summed, i * columns:(i + 1) * columns] = values[i]
        self.inputs["x"] = [int(self.random.integers(1, 8)), count * summed]
        self.add("MatMul", ["x", self.constant(matrix)])

    def conv(self, groups=1, channels=None, features=None):
        positions = self.positions()
        channels = channels or self.pick(1, 2, 3, 8, 17)
        features = features or self.pick(1, 4, 8, 20)
        window = self.window(positions)
        self.inputs["x"] = [1, channels, *positions]
        self.add("Conv", ["x", self.weights(features, channels // groups, *window["kernel_shape"])], group=groups, **window)

    def grouped(self):
        groups = self.pick(2, 3, 4)
        self.conv(groups, groups * self.pick(2, 4, 8), groups * self.pick(2, 4, 8))

    def depthwise(self):
        channels = self.pick(8, 12, 24, 64)
        self.conv(channels, channels, channels * self.pick(1, 1, 2))

    def view(self):
        shape = self.extents(int(self.random.integers(2, 4)), 20)
        self.inputs["x"] = shape
        kind, axis = self.pick("slice", "transpose", "pad", "flip"), int(self.random.integers(len(shape)))
        ints = lambda *values: self.constant(np.asarray(values, np.int64))
        if kind == "slice":
            start = int(self.random.integers(shape[axis]))
            self.add("Slice", ["x", ints(start), ints(shape[axis]), ints(axis), ints(int(self.random.integers(1, 4)))])
        elif kind == "flip":
            self.add("Slice", ["x", ints(-1), ints(-2**31), ints(axis), ints(-1)])
        elif kind == "transpose":
            self.add("Transpose", ["x"], perm=[int(a) for a in self.random.permutation(len(shape))])
        else:
            pads = [int(p) for p in self.random.integers(0, 3, 2 * len(shape))]
            self.add("Pad", ["x", ints(*pads), self.constant(np.float32(2))])

    def model(self):
        info = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        graph = helper.make_graph(self.nodes, "operation", [info(*one) for one in self.inputs.items()], [info("y", None)], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


class Plan:
    """The rows of a program without loops: for each row of the output y, its terms and the input rows that it depends on."""

    def __init__(self, text):
        self.blocks, self.made, self.output = {}, {}, {}
        for line in text.splitlines():
            line = line.strip()
            if match := re.match(r"rows\.block @(\w+) dense<(.*?)> :", line):
                self.blocks[match[1]] = match[2]
            elif match := re.match(r"%(\w+)(?::(\d+))? = rows\.read @(\w+)_0", line):
                for k in range(int(match[2] or 1)):
                    self.made[f"%{match[1]}#{k}" if match[2] else f"%{match[1]}"] = ({(match[3], k)}, [])
            elif match := re.match(r"(%\w+) = rows\.constant", line):
                self.made[match[1]] = (set(), [])
            elif match := re.match(r"(%\w+) = rows\.(linear|vector) (.*)", line):
                operands = re.findall(r"%\w+(?:#\d+)?", match[3])
                reads = set().union(*(self.made[one][0] for one in operands))
                terms = [term for one in operands for term in self.made[one][1]]
                if match[2] == "linear":
                    rows, by = match[3].split(" by [")
                    rows = re.findall(r"%\w+(?:#\d+)?", rows)
                    terms += [(row, block) for row, block in zip(rows, re.findall(r"@(\w+)", by.split("]")[0]), strict=True)]
                self.made[match[1]] = (reads, terms)
            elif match := re.match(r"rows\.write (.*) output @y from \[(.*)\]", line):
                for row, name in zip(match[2].split(", "), match[1].split(", "), strict=True):
                    self.output[int(row)] = self.made[name]
        self.sources = {name: next(iter(reads)) for name, (reads, terms) in self.made.items() if len(reads) == 1 and not terms}

    @staticmethod
    def of(text):
        """The last program that names every row; None if there is none."""
        plans = [one for one in re.split(r"(?=rows\.program )", text) if one.count("rows.body ") == 1 and "rows.body 1 " in one
                 and "rows.loop" not in one]
        return Plan(plans[-1]) if plans else None

    def weight(self, block):
        """By output lane and input lane, whether a weight of a block is not zero."""
        return np.array(json.loads(self.blocks[block]) if self.blocks[block].startswith("[") else float(self.blocks[block])) != 0


def rows_of(tensor, block, lanes):
    """The numbers of the rows of a tensor that the points of a block of loops read or write; the data dimension runs fastest."""
    shape, dim = tensor["shape"], tensor["data_dim"]
    numbers = [0]
    for axis in sorted(range(len(shape)), key=lambda axis: (axis == dim, axis)):
        indices = {tensor["offset"][axis]}
        for step, start, count in zip(tensor["matrix"][axis], block["start"], block["shape"]):
            if step:
                indices = {index + step * i for index in indices for i in range(start, start + count)}
        indices = {index + i for index in indices for i in range(tensor["region"][axis])}
        width = lanes if axis == dim else 1
        rows = {index // width for index in indices if 0 <= index < shape[axis]}
        numbers = [number * -(-shape[axis] // width) + row for number in numbers for row in rows]
    return set(numbers)


class Comparison:
    """An operation as it is explained, against a plan."""

    def __init__(self, plan, operation, lanes):
        self.plan, self.operation, self.lanes = plan, operation, lanes
        self.found = []
        self.figures = 0
        self.result = operation["results"][0]
        self.activations = [one for one in operation["operands"] if one["data_dim"] is not None]

    def expect(self, what, explained, counted):
        self.figures += 1
        if explained != counted:
            self.found.append(f"{what}: {explained} explained, {counted} in the plan")

    def terms(self, block):
        """The terms and the rows that the rows of the result in a block need, by row of the result. Of a part of a reduced loop, only
        those that the operand has there."""
        inside = {one["name"]: rows_of(one, block, self.lanes) for one in self.activations}
        found = {}
        for row in rows_of(self.result, block, self.lanes):
            reads, terms = self.plan.output[row]
            found[row] = ({one for one in reads if one[1] in inside.get(one[0], ())},
                          [(self.plan.sources[source], weights) for source, weights in terms
                           if source in self.plan.sources and self.plan.sources[source][1] in inside[self.plan.sources[source][0]]])
        return found

    def cost(self, block):
        found = self.terms(block)
        rows = set().union(*(reads for reads, _ in found.values()))
        unit = self.operation["unit"]
        if unit == "products":
            rows = {source for _, terms in found.values() for source, _ in terms}
            beats = sum(len(terms) for _, terms in found.values())
        elif self.operation["operation"] == "reduce":
            beats = sum(len(reads) for reads, _ in found.values())
        else:
            beats = len(found) if unit else 0
        blocks = {weights for _, terms in found.values() for _, weights in terms} if unit == "products" else ()
        return {"rows_read": len(rows), "rows_written": len(found), "beats": beats, "weight_blocks": len(blocks),
                "working_rows": len(rows) + len(found)}

    def elements(self, block):
        """The elements of the operand of a product that the plan multiplies by weights that are not zero."""
        found = set()
        for _, terms in self.terms(block).values():
            for source, weights in terms:
                found |= {(source, lane) for lane in np.flatnonzero(self.plan.weight(weights).any(axis=0))}
        return found

    def run(self):
        loops = self.operation["loops"]
        whole = {"start": [0] * len(loops), "shape": [one["extent"] for one in loops]}
        self.expect("all", self.operation["cost"], self.cost(whole))
        row = {"start": self.operation["block"]["start"], "shape": self.operation["block"]["shape"]}
        self.expect("a block", self.operation["block"]["cost"], self.cost(row))
        for index, loop in enumerate(loops):
            if loop["next_step"] is None:
                continue
            # A step of a reduced loop is a set of rows where it alone moves the operand along an axis, or the axis is not divided
            # into rows.
            mixed = any(one["matrix"][one["data_dim"]][index] and sum(map(bool, one["matrix"][one["data_dim"]])) > 1
                        for one in self.activations)
            if loop["kind"] == "reduced" and mixed:
                continue
            extent, step = loop["extent"], loop["step"]
            one = {"start": list(row["start"]), "shape": list(row["shape"])}
            one["start"][index], one["shape"][index] = ((extent - 1) // step - 1) // 2 * step, step
            two = {"start": one["start"], "shape": list(one["shape"])}
            two["shape"][index] = min(2 * step, extent - one["start"][index])
            here, both = self.cost(one), self.cost(two)
            self.expect(f"one more step of loop {index}", loop["next_step"], {key: both[key] - here[key] for key in here})
            if self.operation["unit"] == "products" and loop["kind"] != "reduced":
                after = {"start": list(one["start"]), "shape": list(one["shape"])}
                after["start"][index] += step
                after["shape"][index] = two["shape"][index] - step
                first, second = self.elements(one), self.elements(after)
                number = next(i for i, operand in enumerate(self.operation["operands"]) if operand["data_dim"] is not None)
                self.expect(f"shared along loop {index}", loop["shared"][number], {"elements": len(first & second), "of": len(first)})
        return self.found


class Search(SeedSearch):
    def run(self, folder, *words):
        # Parts of inputs are inputs of their own; here each operand is one.
        return subprocess.run([self.sluice, *map(str, words), "--target", self.target, "--without-rewrite", "select-inputs"], cwd=folder,
                              capture_output=True, text=True, timeout=300, check=False)

    def one(self, seed, folder):
        operation = Operation(seed)
        onnx.save(operation.model(), folder / "m.onnx")
        rows = self.run(folder, "compile", "m.onnx", "--emit", "rows", "-o", "-")
        explained = self.run(folder, "explain", "--index-space", "m.onnx", "--json")
        if rows.returncode or explained.returncode:
            code = (rows.stderr + explained.stderr).split("error[")[-1][:5]
            self.counts[f"rejected, {code}"] += 1
            if {rows.returncode, explained.returncode} - {0, 3, 4}:
                self.failures.append(f"seed {seed} ({operation.kind}): ends with {rows.returncode} and {explained.returncode}")
            return
        plan = Plan.of(rows.stdout)
        operations = json.loads(explained.stdout)["operations"]
        last = operations[-1] if operations else None
        if not plan or not last or not all(one["data_dim"] is None or one["name"] in operation.inputs for one in last["operands"]):
            self.counts[f"left out, not one operation that reads inputs: {operation.kind}"] += 1
            return
        comparison = Comparison(plan, last, LANES[self.target])
        found = comparison.run()
        self.counts[f"compared, {operation.kind}"] += 1
        self.counts["figures compared"] += comparison.figures
        if found:
            self.counts["operations that differ"] += 1
            self.failures.append(f"seed {seed} ({operation.kind}, {last['operation']}): " + "; ".join(found))
            self.keep_model(seed, folder)


def main():
    search = search_of(__doc__, Search, "0:500")
    print("\n".join(search.failures) or "index spaces and plans agree")
    return 1 if search.failures else 0


if __name__ == "__main__":
    sys.exit(main())
