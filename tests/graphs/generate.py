"""Random graphs of one to twelve ONNX nodes. Graph N follows from N alone.

A graph is grown node by node. The generator draws a class of operators, an operator of it, operands from all values so
far (the newest more often), attributes and constants; it evaluates the node and drops it where onnxruntime rejects it,
where it is too large, or where rounding to bf16 alone would move it by too much. operators.py has the operators.
"""
import numpy as np
from onnx import TensorProto, helper

from graph import Graph, reads
from oracle import Evaluator, Track, Unsupported, is_float, magnitude, scale_of, to_bf16

MOST = 400  # elements of a value
STEADY = 0.008  # of the range: what rounding to the nearest bf16 number may move
OPSETS = (11, 13, 17, 18, 20, 21, 22, 23)
INTEGERS = {"Cast", "CastLike", "QuantizeLinear", "DynamicQuantizeLinear", "DynamicQuantizeMatMul", "DynamicQuantizeLSTM"}
EXPLAINED = 8  # every so many graphs, the compiler explains its plan, too
SPECIAL = np.float32([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-40, -1e-40, 3.4e38, -3.4e38, 1e38, 3e-38, 1e5])


class Skip(Exception):
    """The node cannot be added."""


class Builder:
    def __init__(self, seed, kind):
        self.random = np.random.default_rng([seed, 11])
        self.kind = kind
        self.graph = Graph(self.one_of(OPSETS))
        self.opset = self.graph.opset
        evaluator = Evaluator(self.opset)
        self.graph.evaluator = evaluator
        self.exact, self.coarse = Track(evaluator), Track(evaluator, rounds=True)
        self.most = MOST * 4 if self.chance(0.12) else MOST  # elements of a value
        self.pool = []  # names of values, the newest last
        self.count = 0
        self.classes = {}  # name of a value: class of the operator that made it

    # Random choices.
    def integer(self, low, high):
        """low to high, both included."""
        return int(self.random.integers(low, high + 1))

    def chance(self, probability):
        return self.random.random() < probability

    def one_of(self, choices):
        choices = list(choices)
        if not choices:
            raise Skip("nothing to choose from")
        return choices[self.integer(0, len(choices) - 1)]

    def number(self, low, high):
        return float(np.float32(low + (high - low) * self.random.random()))

    def normal(self, shape, scale=1.0):
        return (self.random.standard_normal(shape) * scale).astype(np.float32)

    def axes_of(self, count):
        """Some of the axes 0 to count - 1, ascending; at least one."""
        return sorted(int(a) for a in self.random.permutation(count)[:self.integer(1, count)])

    # Values.
    def value(self, name):
        return self.exact.env[name]

    def shape(self, name):
        return self.value(name).shape

    def input(self, value):
        name = f"x{len(self.graph.inferences[0])}"
        self.graph.inferences[0][name] = value
        self.exact.set_input(name, value)
        self.coarse.set_input(name, value)
        self.pool.append(name)
        return name

    def constant(self, value):
        name = f"c{len(self.graph.constants)}"
        value = np.asarray(value)
        self.graph.constants[name] = value
        self.exact.set_constant(name, value)
        self.coarse.set_constant(name, value)
        return name

    def ints(self, *values):
        return self.constant(np.asarray(values, np.int64))

    def weights(self, shape, scale=1.0):
        return self.constant(self.normal(shape, scale))

    def floats(self, least=0, most=9):
        """Float values of a rank within limits, the newest last."""
        names = [n for n in self.pool if is_float(self.value(n)) and self.value(n).dtype == np.float32 and
                 least <= self.value(n).ndim <= most]
        if not names:
            raise Skip("no such value")
        return names

    def x(self, least=0, most=9):
        """A float value: the newest, or now and then an older one."""
        names = self.floats(least, most) if any(
            is_float(self.value(n)) and least <= self.value(n).ndim <= most for n in self.pool) else []
        newest = self.floats()[-1]
        if names and (names[-1] == newest or self.chance(0.5)):
            return names[-1] if self.chance(0.7) else self.one_of(names)
        return self.with_rank(newest, least, most)

    def with_rank(self, name, least, most):
        """The value with axes merged, split or added until its rank is within limits."""
        shape = list(self.shape(name))
        if least <= len(shape) <= most:
            return name
        while len(shape) > most:
            at = self.integer(0, len(shape) - 2)
            shape[at:at + 2] = [shape[at] * shape[at + 1]]
        while len(shape) < least:
            at = self.integer(0, len(shape) - 1) if shape else 0
            factors = [f for f in range(2, shape[at]) if shape[at] % f == 0] if shape else []
            if factors and self.chance(0.7):
                factor = self.one_of(factors)
                shape[at:at + 1] = [factor, shape[at] // factor]
            else:
                shape.insert(self.integer(0, len(shape)), 1)
        return self.emit("Reshape", [name, self.ints(*shape)])

    def partner(self, name, same=False):
        """Another float value that broadcasts with this one."""
        def fits(other):
            if same:
                return self.shape(other) == self.shape(name)
            try:
                return np.prod(np.broadcast_shapes(self.shape(name), self.shape(other)), initial=1) <= self.most
            except ValueError:
                return False
        return self.one_of([n for n in self.floats() if n != name and fits(n)])

    def companion(self, shape, scale=1.0, positive=False):
        """A constant that broadcasts to a shape: of all elements, of some axes or a scalar."""
        kept = [e if self.chance(0.7) else 1 for e in shape]
        kept = kept[self.integer(0, len(kept)):] if self.chance(0.5) else kept
        if self.chance(0.15):
            kept = []
        if self.chance(0.15):
            value = np.full(kept, self.one_of((0.0, 1.0, -1.0, 2.0, 0.5, 3.0)), np.float32)
            return self.constant(np.abs(value) + 1 if positive else value)
        value = self.normal(kept, scale)
        return self.constant(np.abs(value) + np.float32(0.5) if positive else value)

    def other(self, name, positive=False):
        """A second operand: another value, the same value or a constant."""
        draw = self.random.random()
        if draw < 0.4 and not positive:
            try:
                return self.partner(name)
            except Skip:
                pass
        if draw > 0.93:
            return name
        return self.companion(self.shape(name), positive=positive)

    def shuffled(self, names):
        return [names[i] for i in self.random.permutation(len(names))]

    # Nodes.
    def emit(self, op, operands, outputs=1, domain="", keep=True, **attributes):
        """Adds a node; its first output, or all. Skip if it is not to be had."""
        name = f"t{self.count}"
        names = [name] if outputs == 1 else [f"{name}_{i}" for i in range(outputs)] if isinstance(outputs, int) else \
            [f"{name}_{i}" if wanted else "" for i, wanted in enumerate(outputs)]
        node = helper.make_node(op, operands, names, name=f"n{self.count}", domain=domain,
                                **{k: v for k, v in attributes.items() if v is not None})
        return self.add(node, keep)

    def add(self, node, keep=True):
        names = [n for n in node.output if n]
        if node.op_type in INTEGERS and any(
                is_float(self.value(k)) and not (np.abs(self.value(k)) < 1e6).all() for k in node.input if k):
            raise Skip("NaN as an integer")
        try:
            with np.errstate(all="ignore"):
                self.exact.add(node)
                self.coarse.add(node)
        except Unsupported as error:
            self.forget(names)
            raise Skip(str(error)) from None
        if not all(self.is_wanted(n) for n in names):
            self.forget(names)
            raise Skip("too large, or not steady")
        self.count += 1
        self.graph.nodes.append(node)
        if keep:
            self.pool += names
        return names[0] if len(node.output) == 1 else list(node.output)

    def forget(self, names):
        for name in names:
            self.exact.env.pop(name, None)
            self.coarse.env.pop(name, None)

    def is_wanted(self, name):
        value, coarse = self.exact.env[name], self.coarse.env[name]
        if isinstance(value, list):
            return 0 < len(value) <= 12
        if value is None or value.size == 0 or value.size > self.most or value.ndim > 6:
            return False
        if np.shape(coarse) != value.shape:
            return False
        if self.kind in ("special", "deep"):
            return True
        if not is_float(value):
            return np.mean(value != coarse) <= 0.1
        if not np.isfinite(value).all() and not self.chance(0.2):
            return False
        with np.errstate(all="ignore"):
            finite = np.isfinite(value) & np.isfinite(coarse)
            moved = np.abs(np.where(finite, coarse.astype(np.float64) - value, 0.0))
            far = np.mean(moved > STEADY * scale_of(value.astype(np.float64))) > 0.1
        return magnitude(value) <= 1e3 and not far

    def finish(self, more=0.25):
        """Chooses the outputs: all values that nothing reads, and some that are read."""
        read = {k for node in self.graph.nodes for k in node.input}
        made = [n for node in self.graph.nodes for n in node.output if n and not isinstance(self.value(n), list)]
        inputs = set(self.graph.inferences[0])
        self.graph.outputs = [n for n in made if n not in read or (self.chance(more / 3))]
        if not any(n in read for n in self.graph.outputs) and self.chance(more):
            between = [n for n in made if n in read]
            if between:
                self.graph.outputs.append(self.one_of(between))
        self.graph.outputs = [n for n in self.graph.outputs if n not in inputs][-6:]
        self.graph.prune()


def draw_shape(builder):
    while True:
        rank = builder.one_of((1, 2, 2, 2, 3, 3, 4))
        shape = [builder.one_of((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 17)) for _ in range(rank)]
        if builder.chance(0.3):
            shape[0] = 1
        if builder.most > MOST and builder.chance(0.7):
            shape[builder.integer(0, rank - 1)] = builder.integer(18, 64)
        if np.prod(shape) <= builder.most / 2:
            return shape


def draw_input(builder):
    value = builder.normal(draw_shape(builder))
    draw = builder.random.random()
    if draw < 0.05:
        value = value + np.float32(builder.one_of((8, 32, 64, 100)))
    elif draw < 0.1:
        value = np.maximum(value, 0)
    elif draw < 0.14:
        value = np.round(value * 2)
    if builder.kind == "special":
        flat = value.reshape(-1)
        for _ in range(builder.integer(1, 3)):
            flat[builder.integer(0, flat.size - 1)] = builder.one_of(SPECIAL)
    elif builder.chance(0.85):  # what the machine takes as it is: comparisons of inputs are exact
        value = to_bf16(value)
    return builder.input(value)


def draw_integer_input(builder):
    """An input of integers or bools, and what makes floats of it."""
    kind = builder.one_of(("uint8", "int8", "bool", "int32", "int64", "ids"))
    shape = draw_shape(builder)
    if kind == "ids":
        # Rows of a table that may be higher than bf16 has integers; some ids count from its end.
        shape = shape[:2] if np.prod(shape[:2]) <= 24 else [builder.integer(1, 12)]
        table = [builder.one_of((3, 40, 256, 300, 1000)), builder.integer(1, 12)]
        ids = builder.input(builder.random.integers(-table[0], table[0], shape).astype(builder.one_of((np.int32, np.int64))))
        if builder.chance(0.3):
            builder.emit("Cast", [builder.emit("Equal", [ids, builder.constant(
                builder.value(ids).flat[0])], keep=False)], to=TensorProto.FLOAT)
        if len(shape) == 2 and builder.chance(0.3):
            ids = builder.emit("Transpose", [ids], keep=False)
        builder.emit("Gather", [builder.weights(table), ids], axis=0)
        return
    low, high = {"uint8": (0, 255), "int8": (-128, 127), "bool": (0, 1)}.get(kind, builder.one_of(((-5, 5), (-256, 256))))
    x = builder.input(builder.random.integers(low, high + 1, shape).astype(kind))
    if kind in ("uint8", "int8") and builder.opset >= 13 and builder.chance(0.6):
        zero = builder.constant(np.array(builder.integer(low, high), kind))
        builder.emit("DequantizeLinear", [x, builder.constant(np.float32(builder.number(0.001, 0.1))), zero])
    elif kind == "bool" and builder.chance(0.5):
        builder.emit("Where", [x, builder.companion(shape), builder.companion(shape)])
    elif kind != "bool" and builder.chance(0.4):
        limit = builder.constant(np.array(builder.integer(low, high), kind))
        builder.emit("Cast", [builder.emit("Less", [x, limit])], to=TensorProto.FLOAT)
    else:
        builder.emit("Cast", [x], to=TensorProto.FLOAT)


def ordinary(builder, operators, has_integers=False, first=()):
    """`first`: names of the classes of the first nodes; the others are random."""
    for _ in range(2 if builder.kind == "state" else builder.one_of((1, 1, 1, 2))):
        draw_input(builder)
    if has_integers:
        draw_integer_input(builder)
    if builder.chance(0.3):  # few classes, such as views alone
        some = builder.random.permutation(len(operators))[:builder.integer(1, 4)]
        operators = {name: operators[name] for i, name in enumerate(operators) if i in some}
    wanted, tries = builder.one_of((1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 10, 12)), 0
    added, first = 0, list(first)
    wanted = max(wanted, len(first))
    while added < wanted and tries < 60 and len(builder.graph.nodes) < 14:
        tries += 1
        name, choices = first[0] if first else builder.one_of(operators.items())
        nodes, pool = len(builder.graph.nodes), len(builder.pool)
        try:
            builder.one_of(choices)(builder)
            added += 1
            first = first[1:]
            for node in builder.graph.nodes[nodes:]:
                builder.classes.update({o: name for o in node.output})
        except (Skip, ValueError, OverflowError, IndexError):
            first = first if tries < 30 else []
            # Helper nodes in front of the one that failed go, too.
            del builder.graph.nodes[nodes:]
            del builder.pool[pool:]
    builder.finish()


def draw_flags(builder):
    flags = []
    if not builder.chance(0.05):
        flags.append(("--allow-dynamic-weights",))
    if not builder.chance(0.05):
        flags.append(("--rewrite-layout",))
    effort = builder.one_of(("default", "default", "fast", "high"))
    if effort != "default":
        flags.append(("--effort", effort))
    for name, value in builder.graph.inferences[0].items():
        if builder.chance(0.4) and value.ndim and is_float(value):
            flags.append(("--data-dim", f"{name}={builder.integer(0, value.ndim - 1)}"))
    if builder.chance(0.1):
        flags.append(("--only-loops",))
    return flags


def drawn_first(operators, seed, whole):
    """Whether a graph has an input of integers, and the classes of its first nodes with their functions."""
    draws = np.random.default_rng([seed, 23])  # drawn apart: the other graphs stay as they are
    has_integers = whole or draws.random() < 0.15
    if whole and draws.random() < 0.7:
        return has_integers and draws.random() < 0.7, [("quantise", operators["quantise"])]
    if draws.random() < 0.15:  # a pair of classes, so that rare pairs are tried, too
        names = list(operators)
        return has_integers, [(name, operators[name]) for name in draws.choice(names, 2)]
    return has_integers, []


def generate(seed, whole=False):
    """The graph of a seed, and the class of the operator behind each value; None if nothing could be drawn.

    `whole`: every graph has an input of integers, a quantised part or both.
    """
    # pylint: disable=import-outside-toplevel,unused-import
    import operators
    import ml_operators  # noqa: F401
    import quantised_operators  # noqa: F401
    kinds = np.random.default_rng([seed, 5])
    kind = "ordinary" if whole else kinds.choice(["ordinary", "special", "state", "stream", "deep"], p=[0.82, 0.06, 0.06, 0.058, 0.002])
    builder = Builder(seed, kind)
    if kind in ("stream", "deep"):
        try:
            (operators.causal if kind == "stream" else operators.deep)(builder)
        except Skip:
            return None
    else:
        integers, first = drawn_first(operators.CLASSES, seed, whole) if kind == "ordinary" else (False, [])
        try:
            ordinary(builder, operators.CLASSES, integers, first)
        except (Skip, ValueError):
            return None
    graph = builder.graph
    if not graph.nodes or not any(name in dependent(graph) for name in graph.outputs):
        return None
    graph.flags = draw_flags(builder)
    if seed % EXPLAINED == 0:
        graph.flags.append(("--explain",))
    if kind == "stream":
        graph.flags = [f for f in graph.flags if f[0] not in ("--data-dim", "--only-loops")]
        graph.flags += [("--stream", f"{k}={axis}") for k, axis in graph.stream.items()]
    elif kind == "state":
        add_state(builder)
    elif builder.chance(0.3):
        again(builder, builder.integer(2, 3))
    graph.kind = kind
    graph.classes = builder.classes
    return graph


def dependent(graph):
    """Names of values that follow from inputs, and not from their shapes alone."""
    names = set(graph.inferences[0])
    for node in graph.nodes:
        if names & reads(node) and node.op_type not in ("Shape", "Size", "EyeLike", "SequenceLength"):
            names |= set(node.output)
    return names


def again(builder, count):
    """Further inferences with other inputs."""
    first = builder.graph.inferences[0]
    for _ in range(count - 1):
        more = {}
        for name, value in first.items():
            more[name] = builder.random.permutation(value.reshape(-1)).reshape(value.shape)
        builder.graph.inferences.append(more)


def add_state(builder):
    """One input becomes what an output of its shape was in the inference before."""
    graph = builder.graph
    for name, value in graph.inferences[0].items() if len(graph.inferences[0]) > 1 else ():
        fits = [n for node in graph.nodes for n in node.output if n and is_float(builder.value(n)) and
                builder.shape(n) == value.shape and magnitude(builder.value(n)) <= 8]
        if fits:
            try:
                last = builder.emit("Tanh", [fits[-1]])
            except Skip:
                continue
            graph.states[name] = last
            if last not in graph.outputs:
                graph.outputs.append(last)
            graph.flags.append(("--state", f"{name}={last}"))
            break
    again(builder, builder.integer(3, 4))
    for one in graph.inferences:
        for name in graph.states:
            one[name] = np.zeros_like(one[name])
