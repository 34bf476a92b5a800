#!/usr/bin/env python3
"""Writes random recurrences as the backend tests of ONNX lay them out.

usage: make_random_recurrence_cases.py FOLDER FIRST COUNT

Case N follows from N alone. A model is one LSTM, GRU or RNN, or two in a row, with any of
the attributes and optional inputs; states are inputs, constants or left out. Expected values
are numpy's, in double (cases/recurrences.py).
"""
import numpy as np
from onnx import helper

from cases.recurrences import ACTIVATIONS, DEFAULTS, GATES, recurrence
from make_random_cases import RandomModel, Tensor, main, rounded


LANES = 8
MOST_ROWS = 84  # of gates in all steps: what the small target has room for


class RandomRecurrence(RandomModel):
    flags = ()
    opset = 14

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.constants, self.inputs, self.tensors = [], {}, {}, []
        self.layout = self.integer(0, 3) == 0
        steps = self.integer(1, 20)
        batch = self.one_of((1, 1, 1, 1, 2, 3) if steps <= 7 else (1,))
        layers = 2 if self.integer(0, 4) == 0 and steps * batch <= 10 else 1
        self.rows = MOST_ROWS // (steps * batch * layers)  # of all gates, that fit
        self.functions = self.set_of_functions() if self.integer(0, 1) else None
        self.clip = self.one_of((None, None, None, 0.5, 1.0, 2.5))
        shape = [batch, steps] if self.layout else [steps, batch]
        x = self.input(shape + [self.integer(1, 24)])
        self.steps, self.batch = steps, batch
        last = self.recur(x)
        if layers == 2:  # a second layer, of what all directions give
            axes = [0, 1, 3] if self.layout else [0, 2, 3]
            if last.shape[({0, 1, 2, 3} - set(axes)).pop()] == 1:
                merged = self.reshaped(last, [last.shape[a] for a in axes])
                self.recur(merged)

    def reshaped(self, x, shape):
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node("Reshape", [x.name, self.constant(np.int64(shape))], [name]))
        self.tensors.append(Tensor(name, x.value.reshape(shape), x.coarse.reshape(shape)))
        return self.tensors[-1]

    def state(self, shape):
        """An input, a constant or none."""
        kind = self.integer(0, 2)
        return None if kind == 0 else self.weights(shape, 0.5) if kind == 1 else self.input(shape)

    def set_of_functions(self):
        """Names with their alpha and beta, no more than there are tables for."""
        out = {}
        for name in sorted({self.one_of(ACTIVATIONS) for _ in range(2)}):
            # A step above 0 would turn what rounding moves into what is right or wrong.
            least = 0.0 if name == "ThresholdedRelu" else 0.5
            scale = [least * float(np.float32(1 + 2 * self.random.random())) for _ in range(2)]
            out[name] = [None if number is None else float(np.float32(number * by))
                         for number, by in zip(ACTIVATIONS[name][1:], scale)]
        return out

    def activations(self, op, count):
        names = [self.one_of(self.functions) for _ in DEFAULTS[op] * count]
        given = {"activations": names}
        for i, attribute in enumerate(("activation_alpha", "activation_beta")):
            numbers = [self.functions[name][i] for name in names if self.functions[name][i] is not None]
            # Those at the end may be left to their defaults.
            if not {"Affine", "ScaledTanh", "ThresholdedRelu"} & set(names) and self.integer(0, 3) == 0:
                numbers = numbers[:self.integer(0, len(numbers))]
            given.update({attribute: numbers} if numbers else {})
        return given

    def recur(self, x):
        op = self.one_of([op for op in GATES if GATES[op] <= self.rows])
        both = ("bidirectional",) if 2 * GATES[op] <= self.rows else ()
        direction = self.one_of(("forward", "forward", "reverse") + both)
        count, gates = 2 if direction == "bidirectional" else 1, GATES[op]
        most = min(40, self.rows // (count * gates) * LANES)
        hidden = 1 if self.integer(0, 29) == 0 else self.integer(2, most)
        given = {"hidden_size": hidden, "direction": direction}
        if self.functions:
            given.update(self.activations(op, count))
        if self.clip:
            given["clip"] = self.clip
        if self.layout:
            given["layout"] = 1
        if op == "GRU":
            given["linear_before_reset"] = self.integer(0, 1)
        if op == "LSTM" and self.integer(0, 3) == 0:
            given["input_forget"] = 1
        states = [self.batch, count, hidden] if self.layout else [count, self.batch, hidden]
        operands = {"x": x, "w": self.weights((count, gates * hidden, x.shape[2]), x.shape[2] ** -0.5),
                    "r": self.weights((count, gates * hidden, hidden), 0.7 * hidden ** -0.5)}
        lengths = None
        if self.integer(0, 2):
            operands["b"] = self.weights((count, 2 * gates * hidden), 0.3)
        if self.integer(0, 3) == 0:
            lengths = [self.integer(0, self.steps) for _ in range(self.batch)]
        operands["h0"] = self.state(states)
        if op == "LSTM":
            operands["c0"] = self.state(states)
            if self.integer(0, 2) == 0:
                operands["p"] = self.weights((count, 3 * hidden), 0.3)
        return self.add(op, {k: v for k, v in operands.items() if v is not None}, lengths, given)

    def add(self, op, operands, lengths, given):
        order = ["x", "w", "r", "b", "lengths", "h0", "c0", "p"]
        names = {k: v.name for k, v in operands.items()}
        if lengths is not None:
            names["lengths"] = self.constant(np.int32(lengths))
        number = len(self.nodes)
        outputs = [f"y{number}", f"h{number}"] + ([f"cell{number}"] if op == "LSTM" else [])
        wanted = [name if i == 0 or self.integer(0, 2) else "" for i, name in enumerate(outputs)]
        inputs = [names.get(k, "") for k in order]
        while not inputs[-1]:
            inputs.pop()
        self.nodes.append(helper.make_node(op, inputs, wanted, name=f"n{number}", **given))
        options = {k: v for k, v in given.items() if k != "hidden_size"}
        with np.errstate(all="ignore"):  # what overflows is not steady, and not written
            values = recurrence(op, **{k: v.value for k, v in operands.items()}, lengths=lengths, **options)
            coarse = recurrence(op, **{k: v.coarse for k, v in operands.items()}, lengths=lengths,
                                store=rounded, **options)
        for name, value, rough in zip(wanted, values, coarse):
            if name:
                self.tensors.append(Tensor(name, value, rounded(rough)))
        return next(t for t in self.tensors if t.name == outputs[0])

    def outputs(self):
        produced = {name for node in self.nodes for name in node.output}
        return [t for t in super().outputs() if t.name in produced]

    def write(self, folder):
        return all(np.isfinite(t.value).all() for t in self.tensors) and super().write(folder)


if __name__ == "__main__":
    main(RandomRecurrence)
