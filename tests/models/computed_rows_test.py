#!/usr/bin/env python3
"""Whether the rows that a machine computes hold the elements that the program file says.

usage: computed_rows_test.py SLUICE WATCH_ROWS MODELS_DIR WORK_DIR ENGINE

Each program runs one inference, or a few with a state between them, and every tensor row is watched
in every cycle. What a row of a named tensor must hold (in the last inference) is computed node by node with PyTorch and laid out here, by the description
of docs/addressing.md: nothing is shared with the compiler or the runtime. Inputs and weights are
random, so that a row that is called by a wrong name does not pass for it.
"""
import pathlib
import subprocess
import sys

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch.nn import functional

# Of a tensor's range, or of its magnitude where that is larger: weights and values are bf16.
TOLERANCE = 0.05
LANES = {"c2b8": 8, "c6b32": 32}


class Model:
    """A graph under construction; nodes are named after what they make."""

    def __init__(self, name, **inputs):
        self.name, self.random = name, np.random.default_rng(len(name))
        self.inputs, self.nodes, self.constants = inputs, [], []

    def weight(self, *shape, scale=None):
        values = self.random.standard_normal(shape) * (scale or 1 / np.sqrt(shape[0]))
        return self.constant(values.astype(np.float32))

    def constant(self, values):
        name = f"w{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def add(self, kind, inputs, outputs, **attributes):
        outputs = [outputs] if isinstance(outputs, str) else outputs
        self.nodes.append(helper.make_node(kind, inputs, outputs, name=f"make_{outputs[0]}", **attributes))
        return outputs[0]

    def proto(self, *outputs):
        values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in self.inputs.items()]
        graph = helper.make_graph(self.nodes, self.name, values,
                                  [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
                                  self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        return onnx.shape_inference.infer_shapes(model, strict_mode=True)


def dense():
    m = Model("dense", x=[3, 20])
    h = m.add("MatMul", ["x", m.weight(20, 40)], "h")
    r = m.add("Relu", [m.add("Add", [h, m.weight(40)], "hb")], "r")
    t = m.add("Transpose", [r], "t", perm=[1, 0])
    back = m.add("Transpose", [t], "back", perm=[1, 0])
    s = m.add("Tanh", [m.add("MatMul", [back, m.weight(40, 12)], "g")], "s")
    total = m.add("Add", [s, m.add("MatMul", [back, m.weight(40, 12)], "u")], "v")
    m.add("MatMul", [m.add("Sigmoid", [total], "z"), m.weight(12, 10)], "y")
    return m.proto("y"), {"r", "z", "y"}


def attention():
    m = Model("attention", x=[6, 16])
    q, k, v = (m.add("MatMul", ["x", m.weight(16, 16)], name) for name in "qkv")
    scores = m.add("MatMul", [q, m.add("Transpose", [k], "kt", perm=[1, 0])], "scores")
    p = m.add("Softmax", [m.add("Mul", [scores, m.constant(np.float32(0.25))], "scaled")], "p", axis=-1)
    o = m.add("MatMul", [p, v], "o")
    a = m.add("Add", [m.add("MatMul", [o, m.weight(16, 16)], "proj"), "x"], "a")
    n = m.add("LayerNormalization", [a, m.weight(16), m.weight(16)], "n", axis=-1)
    m.add("Relu", [m.add("MatMul", [n, m.weight(16, 24)], "f")], "y")
    return m.proto("y"), {"q", "o", "y"}  # keys and values may be written as weights alone


def heads():
    """Two heads of four features have room in a row of eight lanes."""
    m = Model("heads", x=[6, 16])
    apart = m.constant(np.array([6, 4, 4], np.int64))
    parts = []
    for name, order in ("q", [1, 0, 2]), ("k", [1, 2, 0]), ("v", [1, 0, 2]):
        whole = m.add("MatMul", ["x", m.weight(16, 16)], name)
        parts.append(m.add("Transpose", [m.add("Reshape", [whole, apart], f"{name}r")], f"{name}t", perm=order))
    p = m.add("Softmax", [m.add("MatMul", parts[:2], "s")], "p", axis=-1)
    o = m.add("Transpose", [m.add("MatMul", [p, parts[2]], "o")], "ot", perm=[1, 0, 2])
    a = m.add("Reshape", [o, m.constant(np.array([6, 16], np.int64))], "a")
    m.add("MatMul", [a, m.weight(16, 12)], "y")
    return m.proto("y"), {"q", "s", "a", "y"}


def convolution():
    m = Model("convolution", x=[1, 8, 14, 14])
    a = m.add("Conv", ["x", m.weight(8, 8, 3, 3, scale=0.1), m.weight(8)], "a", pads=[1, 1, 1, 1])
    r = m.add("Relu", [a], "ra")
    p = m.add("MaxPool", [r], "p", kernel_shape=[2, 2], strides=[2, 2])
    b = m.add("Conv", [p, m.weight(12, 8, 3, 3, scale=0.1)], "b", strides=[2, 2])
    m.add("Tanh", [b], "y")
    return m.proto("y"), {"p", "y"}


def pixels():
    """The places of a picture, which are one axis in its rows."""
    m = Model("pixels", x=[5, 6, 7])
    e = m.add("Exp", ["x"], "e")
    d = m.add("Sub", [e, m.add("ReduceMean", [e], "s", axes=[0], keepdims=1)], "d")
    t = m.add("Tanh", [m.add("Reshape", [d, m.constant(np.array([5, 42], np.int64))], "r")], "t")
    m.add("MatMul", [t, m.weight(42, 9)], "y")
    return m.proto("y"), {"e", "s", "t", "y"}


def positions():
    """A loop over the positions of a sequence."""
    m = Model("positions", x=[128, 16])
    h = m.add("Relu", [m.add("MatMul", ["x", m.weight(16, 24)], "g")], "h")
    e = m.add("Exp", [m.add("MatMul", [h, m.weight(24, 24)], "l")], "e")
    s = m.add("ReduceMean", [e], "s", axes=[0], keepdims=0)
    m.add("Tanh", [m.add("MatMul", [s, m.weight(24, 9)], "c")], "y")
    m.add("Sigmoid", [m.add("MatMul", [e, m.weight(24, 8)], "d")], "z")
    return m.proto("y", "z"), {"h", "e", "y", "z"}


def lstm():
    steps, inputs, hidden = 7, 10, 12
    m = Model("lstm", x=[steps, 1, inputs])
    m.add("LSTM", ["x", m.weight(1, 4 * hidden, inputs, scale=0.3), m.weight(1, 4 * hidden, hidden, scale=0.3),
                   m.weight(1, 8 * hidden, scale=0.3)], ["Y", "Y_h", "Y_c"], hidden_size=hidden)
    s = m.add("Squeeze", ["Y", m.constant(np.array([1], np.int64))], "s")
    m.add("MatMul", [s, m.weight(hidden, 5)], "y")
    return m.proto("y", "Y_c"), {"s", "Y_c", "y"}


def keeps():
    """What an inference leaves for the next one."""
    m = Model("keeps", x=[1, 16], h_in=[1, 24])
    g = m.add("Add", [m.add("MatMul", ["x", m.weight(16, 24)], "from_x"), m.add("MatMul", ["h_in", m.weight(24, 24)], "from_h")],
              "g")
    m.add("Tanh", [g], "h_out")
    m.add("Sigmoid", [m.add("MatMul", ["h_out", m.weight(24, 9)], "s")], "y")
    return m.proto("h_out", "y"), {"h_out", "y"}


def around():
    """Windows that read ahead of a sequence along axis 2, a step at a time: what is between them is masked where it is
    not one of its positions."""
    m = Model("around", x=[1, 4, 16, 1])
    a = m.add("Conv", ["x", m.weight(8, 4, 3, 1, scale=0.3), m.weight(8)], "a", pads=[1, 0, 1, 0])
    r = m.add("Relu", [a], "r")
    m.add("Conv", [r, m.weight(2, 8, 5, 1, scale=0.3)], "y", pads=[2, 0, 2, 0])
    return m.proto("y"), {"r", "y"}


def pooled(x, kernel_shape, strides):
    return functional.max_pool2d(x, kernel_shape, strides)


def convolved(x, w, b=None, pads=(0, 0, 0, 0), strides=(1, 1), group=1, **_):
    return functional.conv2d(functional.pad(x, (pads[1], pads[3], pads[0], pads[2])), w, b, strides, groups=group)


def recurrent(x, w, r, b, hidden_size):
    """An LSTM, by the equations of the operator's page: gates i, o, f, c."""
    hidden, cell, all_hidden = torch.zeros(x.shape[1], hidden_size), torch.zeros(x.shape[1], hidden_size), []
    bias = b[0, :4 * hidden_size] + b[0, 4 * hidden_size:]
    for step in x:
        i, o, f, c = torch.split(step @ w[0].T + hidden @ r[0].T + bias, hidden_size, dim=1)
        cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(c)
        hidden = torch.sigmoid(o) * torch.tanh(cell)
        all_hidden.append(hidden)
    return torch.stack(all_hidden)[:, None], hidden[None], cell[None]


OPERATORS = {
    "Add": torch.add, "Mul": torch.mul, "Sub": torch.sub, "MatMul": torch.matmul, "Relu": torch.relu,
    "Tanh": torch.tanh, "Sigmoid": torch.sigmoid, "Exp": torch.exp, "Conv": convolved, "MaxPool": pooled,
    "LSTM": recurrent, "Elu": lambda x, alpha=1.0: functional.elu(x, alpha),
    "Transpose": lambda x, perm: x.permute(*perm), "Softmax": lambda x, axis: torch.softmax(x, axis),
    "LayerNormalization": lambda x, w, b, axis: functional.layer_norm(x, x.shape[-1:], w, b),
    "ReduceMean": lambda x, axes, keepdims: x.mean(axes), "Squeeze": lambda x, axes: x.squeeze(int(axes[0])),
    "Reshape": lambda x, shape: x.reshape(tuple(shape)), "Flatten": lambda x, axis=1: x.reshape(int(np.prod(x.shape[:axis])), -1),
    "Split": lambda x, axis: torch.chunk(x, 2, axis),
    "Gemm": lambda a, b, c=0, transB=0, **_: a @ (b.T if transB else b) + c,
}


def reference(model, inputs):
    """Every tensor of the model, by its name."""
    values = {tensor.name: torch.from_numpy(numpy_helper.to_array(tensor).copy()) for tensor in model.graph.initializer}
    values.update((name, torch.from_numpy(np.asarray(value))) for name, value in inputs.items())
    for node in model.graph.node:
        attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
        if node.op_type == "Constant":
            values[node.output[0]] = torch.from_numpy(numpy_helper.to_array(attributes["value"]).copy())
            continue
        made = OPERATORS[node.op_type](*(values[name] for name in node.input), **attributes)
        values.update(zip(node.output, made if isinstance(made, tuple) else (made,)))
    return {name: value.numpy() for name, value in values.items()}


def row_of(array, dim, row, lanes):
    """The elements of a row: those along the data dimension, the other indices in row-major order."""
    along = np.moveaxis(array.reshape(array.shape or (1,)), dim, -1)
    lines = along.reshape(-1, along.shape[-1])
    per_line = -(-along.shape[-1] // lanes)
    first = row % per_line * lanes
    return lines[row // per_line][first:first + lanes]


class Watched:
    """What watch_rows prints."""

    def __init__(self, text):
        self.tensors, self.rows, self.seen = [], {}, {}
        for line in text.splitlines():
            kind, *words = line.split()
            if kind == "tensor":
                place = words.index("as")
                self.tensors.append((words[0], int(words[1]), tuple(int(w) for w in words[2:place]),
                                     tuple(int(w) for w in words[place + 1:])))
            elif kind == "row":
                core, address, by, instruction, tensor, row, partial = map(int, words)
                self.rows.setdefault((core, address), {}).setdefault(by, []).append((instruction, tensor, row, partial))
            else:
                core, address, *lanes = map(int, words)
                bits = np.array(lanes, np.uint32) << 16
                self.seen.setdefault((core, address), []).append(bits.view(np.float32))


def turned(watched):
    """The same with every row called by the name of the one before it."""
    other = Watched("")
    other.tensors, other.seen = watched.tensors, watched.seen
    every = [one for writers in watched.rows.values() for written in writers.values() for one in written if one[1] >= 0]
    names = iter([every[-1], *every])
    other.rows = {place: {by: [next(names) if one[1] >= 0 else one for one in written] for by, written in writers.items()}
                  for place, writers in watched.rows.items()}
    return other


def check(watched, values, lanes):
    """Every named row must have been at its address, those of one writer in its order. Returns the names seen."""
    named, wrong = {}, []
    for place, writers in watched.rows.items():
        seen = watched.seen.get(place, [])
        for by, written in writers.items():
            at = -1
            for instruction, tensor, row, partial in written:
                if tensor < 0 or partial:
                    continue
                name, dim, shape, packed = watched.tensors[tensor]
                whole = values[name]
                if whole.size != np.prod(shape):
                    wrong.append(f"{name} has shape {shape}, not {whole.shape}")
                    continue
                expected = row_of(whole.reshape(packed), dim, row, lanes)
                bound = TOLERANCE * max(np.ptp(whole), np.abs(whole).max())
                near = [i for i, one in enumerate(seen) if np.abs(one[:len(expected)] - expected).max() <= bound]
                # Equal rows behind each other are seen once, and zeros are there from the beginning.
                later = [i for i in near if i >= at]
                if not later and np.abs(expected).max() > bound:
                    wrong.append(f"core {place[0]} row {place[1]}: row {row} of {name}, written by {by}:{instruction}, "
                                 f"was {'too early' if near else 'not'} there")
                    continue
                at = later[0] if later else at
                named.setdefault(name, set()).add(row)
    return named, wrong


def examine(sluice, watch, engine, work, title, path, target, inputs, wanted, values, flags=(),
            loops=False):
    program = work / f"rows-{title}-{target}.sluice"
    subprocess.run([sluice, "compile", str(path), "--target", target, *flags, "-o", str(program)], check=True,
                   stdout=subprocess.DEVNULL)
    files = []
    for i, array in enumerate(inputs):
        files.append(work / f"rows-{title}-{i}.f32")
        files[-1].write_bytes(np.ascontiguousarray(array, np.float32).tobytes())
    run = subprocess.run([watch, str(program), engine, *map(str, files)], stdout=subprocess.PIPE, text=True, check=True)
    watched = Watched(run.stdout)
    named, wrong = check(watched, values, LANES[target])
    every = [one for writers in watched.rows.values() for written in writers.values() for one in written]
    known = sum(tensor >= 0 for _, tensor, _, _ in every)
    for name in sorted(wanted - set(named)):
        wrong.append(f"no row is said to be of {name}")
    for name, rows in named.items():
        dim, shape = next((dim, packed) for tensor, dim, _, packed in watched.tensors if tensor == name)
        all_rows = int(np.prod(shape)) // (shape or (1,))[dim] * -(-(shape or (1,))[dim] // LANES[target])
        if name in wanted and len(rows) != all_rows:
            wrong.append(f"{len(rows)} of {all_rows} rows of {name} have a name")
    listing = subprocess.run([sluice, "inspect", str(program), "--asm"], stdout=subprocess.PIPE, text=True, check=True)
    if loops and " loop " not in listing.stdout:
        wrong.append("the program has no loop")
    if not check(turned(watched), values, LANES[target])[1]:
        wrong.append("wrong names pass for right ones")
    for one in wrong[:20]:
        print(f"{title} on {target}: {one}")
    print(f"{title} on {target}, {engine}: {known} of {len(every)} rows written have names, of {len(named)} tensors"
          f"{'' if not wrong else f'  FAILED, {len(wrong)} wrong'}")
    return not wrong


def made(sluice, watch, engine, work, build, target, flags=(), state=(), loops=False):
    """`state`: names of an input that is kept and the output that it becomes; three inferences."""
    model, wanted = build()
    path = work / f"{model.graph.name}.onnx"
    onnx.save(model, path)
    random = np.random.default_rng(7)
    shapes = {value.name: [d.dim_value for d in value.type.tensor_type.shape.dim] for value in model.graph.input}
    kept = {name: np.zeros(shapes.pop(name), np.float32) for name, _ in state}
    given = {name: [] for name in shapes}
    for _ in range(3 if state else 1):
        for name, shape in shapes.items():
            given[name].append(random.standard_normal(shape).astype(np.float32))
        values = reference(model, {**kept, **{name: arrays[-1] for name, arrays in given.items()}})
        kept = {name: values[becomes] for name, becomes in state}
    flags = [*flags, *(word for pair in state for word in ("--state", "=".join(pair)))]
    return examine(sluice, watch, engine, work, model.graph.name, path, target,
                   [np.stack(arrays) for arrays in given.values()], wanted, values, flags, loops)


def streamed(sluice, watch, engine, work, build, target, late):
    """`late`: by how many steps, of each tensor along axis 2. Inferences up to a step in the midst of the sequence."""
    model, wanted = build()
    path = work / f"{model.graph.name}.onnx"
    onnx.save(model, path)
    whole = np.random.default_rng(7).standard_normal([d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim])
    whole = whole.astype(np.float32)
    steps = 10
    values = {name: value[:, :, steps - 1 - late[name]:steps - late[name]]
              for name, value in reference(model, {"x": whole}).items() if name in late}
    given = np.stack([whole[:, :, step:step + 1] for step in range(steps)])
    return examine(sluice, watch, engine, work, model.graph.name, path, target, [given], wanted, values,
                   ["--stream", "x=2", "--stream-delay", str(max(late.values()))])


def published(sluice, watch, engine, work, models, name, target, wanted):
    folder = models / name
    model = onnx.load(folder / "model.onnx")
    initial = {tensor.name for tensor in model.graph.initializer}
    names = [value.name for value in model.graph.input if value.name not in initial]
    inputs = {}
    for i, one in enumerate(names):
        tensor = onnx.TensorProto()
        tensor.ParseFromString((folder / "test_data_set_0" / f"input_{i}.pb").read_bytes())
        inputs[one] = numpy_helper.to_array(tensor).copy()
    return examine(sluice, watch, engine, work, name, folder / "model.onnx", target, list(inputs.values()), wanted,
                   reference(model, inputs))


def main():
    sluice, watch, models, work, engine = sys.argv[1:6]
    models, work = pathlib.Path(models), pathlib.Path(work)
    work.mkdir(parents=True, exist_ok=True)
    common = (sluice, watch, engine, work)
    good = made(*common, dense, "c2b8")
    good &= made(*common, attention, "c2b8", ["--allow-dynamic-weights"])
    good &= made(*common, heads, "c2b8", ["--allow-dynamic-weights"])
    good &= made(*common, convolution, "c2b8")
    good &= made(*common, pixels, "c2b8")
    good &= made(*common, positions, "c2b8", loops=True)
    good &= made(*common, keeps, "c2b8", state=[("h_in", "h_out")])
    good &= streamed(*common, around, "c2b8", {"x": 0, "a": 1, "r": 1, "y": 3})
    good &= made(*common, lstm, "c2b8")
    if models.is_dir():
        good &= published(*common, models, "acasxu", "c2b8", set())
        good &= published(*common, models, "go1_policy", "c2b8", set())
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
