"""What a graph computes, node by node.

A node is evaluated by onnxruntime; by NumPy (numpy_kernels.py) or by the reference evaluator of the ONNX package where
onnxruntime has no kernel.
"""
import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import numpy_kernels
from graph import ML, MICROSOFT, reads, type_info

onnxruntime.set_default_logger_severity(4)
FLOATS = (np.float32, np.float64, np.float16)
MOST_BF16 = 3.3895313892515355e38
# What sums elements: one that is not finite makes the sums of its row NaN.
SUMS = {"MatMul", "Gemm", "Einsum", "Conv", "ConvTranspose", "ReduceSum", "ReduceMean", "ReduceL1", "ReduceL2",
        "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp", "CumSum", "AveragePool", "GlobalAveragePool", "LpPool",
        "GlobalLpPool", "FusedMatMul", "FusedGemm", "FusedConv", "LSTM", "GRU", "RNN", "LRN", "DFT", "STFT", "Resize",
        "LpNormalization", "Softmax", "LogSoftmax", "LayerNormalization", "RMSNormalization", "InstanceNormalization",
        "GroupNormalization", "GroupNorm", "MeanVarianceNormalization", "SimplifiedLayerNormalization",
        "SkipLayerNormalization", "SkipSimplifiedLayerNormalization", "NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss",
        "Attention", "MultiHeadAttention", "Col2Im", "DeformConv", "RoiAlign", "GridSample", "Det", "AffineGrid", "ConvInteger",
        "MatMulInteger", "QLinearConv", "QLinearMatMul", "RotaryEmbedding", "LinearRegressor", "LinearClassifier", "Normalizer",
        "QGemm", "QLinearSoftmax", "QLinearAveragePool", "QLinearGlobalAveragePool", "DynamicQuantizeMatMul", "DynamicQuantizeLSTM",
        "MatMulIntegerToFloat", "QAttention"}
# What moves elements from lane to lane, by sums with zeros.
VIEWS = {"Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze", "Expand", "Tile", "Concat", "Slice", "Split", "Pad", "Gather",
         "GatherND", "GatherElements", "Trilu", "Compress", "CenterCropPad", "ReverseSequence", "DepthToSpace", "SpaceToDepth",
         "SequenceAt", "ConcatFromSequence", "MaxUnpool", "Scatter", "ScatterElements", "ScatterND", "Im2Col", "SplitToSequence",
         "ArrayFeatureExtractor", "FeatureVectorizer"}
PRODUCTS = {"MatMul", "Gemm", "Einsum", "FusedMatMul", "FusedGemm", "Conv", "Attention", "MultiHeadAttention"}
# What becomes of NaN is not defined, or onnxruntime does not say it.
UNDEFINED = {"Cast", "CastLike", "QuantizeLinear", "DynamicQuantizeLinear", "TopK", "Hardmax", "ArgMax", "ArgMin", "MaxPool",
             "GlobalMaxPool", "ReduceMax", "ReduceMin", "MaxRoiPool", "RoiAlign", "Clip", "Max", "Min", "Sign", "Softmax",
             "LogSoftmax", "ReduceLogSumExp", "ThresholdedRelu", "Elu", "Celu", "Selu", "LeakyRelu", "HardSigmoid", "Relu",
             "HardSwish", "Mod", "Resize", "GridSample", "Scatter", "SequenceMap", "PRelu", "Shrink", "Pow", "ScatterElements", "ScatterND", "Normalizer", "LSTM", "GRU", "RNN", "Softplus",
             "DynamicQuantizeMatMul", "DynamicQuantizeLSTM"}
# A small change of an operand may change the result by much, or onnxruntime rounds the result.
JUMPS = {"Floor", "Ceil", "Round", "Sign", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Hardmax", "ArgMax",
         "ArgMin", "TopK", "Cast", "CastLike", "QuantizeLinear", "DynamicQuantizeLinear", "Mod", "ThresholdedRelu", "Shrink",
         "MaxPool", "MaxUnpool", "Reciprocal", "Div", "Binarizer", "Imputer", "LinearClassifier", "ArrayFeatureExtractor",
         "QLinearConv", "QLinearMatMul", "QGemm", "QLinearAdd", "QLinearMul", "QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax",
         "QLinearConcat", "QLinearAveragePool", "QLinearGlobalAveragePool", "DynamicQuantizeMatMul", "DynamicQuantizeLSTM"}
JUMP = 2.0**-12  # of the range: noise of float32 moves nothing as far, but across a jump


class Unsupported(Exception):
    """No evaluator has the node, or it takes no such operands."""


def is_float(value):
    return isinstance(value, np.ndarray) and value.dtype.type in FLOATS


class Evaluator:
    """Evaluates single nodes; sessions are kept by node and types."""

    def __init__(self, opset):
        self.opset = opset
        self.sessions = {}

    def model(self, node, env, names, fixed):
        given = {name: env[name] for name in names}
        constants = [numpy_helper.from_array(np.asarray(v), k) for k, v in given.items() if k in fixed]
        inputs = [type_info(k, v) for k, v in given.items() if k not in fixed]
        outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
        graph = helper.make_graph([node], "node", inputs, outputs, constants)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid(MICROSOFT, 1), helper.make_opsetid(ML, 1)]
        model = helper.make_model(graph, opset_imports=opsets)
        model.ir_version = 8 if self.opset < 19 else 10
        return model

    def session(self, node, env, names, fixed):
        key = (node.SerializeToString(), tuple(sorted((k, type_key(env[k])) for k in names if k not in fixed)),
               tuple(sorted((k, env[k].tobytes(), env[k].shape, env[k].dtype.str) for k in fixed)))
        if key not in self.sessions:
            options = onnxruntime.SessionOptions()
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            options.log_severity_level = 4
            try:
                self.sessions[key] = onnxruntime.InferenceSession(
                    self.model(node, env, names, fixed).SerializeToString(), options, providers=["CPUExecutionProvider"])
            except Exception as error:  # pylint: disable=broad-except
                self.sessions[key] = error
        return self.sessions[key]

    def run(self, node, env):
        """The outputs of a node by name, from the values of its operands."""
        kernel = numpy_kernels.KERNELS.get((node.domain, node.op_type))
        if node.op_type in ("LSTM", "GRU", "RNN") and (attribute(node, "activations") or attribute(node, "clip")):
            kernel = numpy_kernels.recurrence
        if node.op_type == "DynamicQuantizeLinear" and not np.any(env[node.input[0]]):
            kernel = numpy_kernels.dynamic_quantize_zeros
        if kernel:
            found = kernel(node, [env[k] if k else None for k in node.input])
            return {name: value for name, value in zip(node.output, found) if name}
        node, env, back = plain_names(node, env)
        found = self.run_plain(node, env)
        return {back[k]: v for k, v in found.items()}

    def run_plain(self, node, env):
        names = sorted(reads(node))
        # Of three axes, onnxruntime counts too little padding where a window ends in it.
        if node.op_type == "AveragePool" and attribute(node, "count_include_pad") and len(attribute(node, "kernel_shape")) == 3:
            return self.by_reference(node, env, names, [name for name in node.output if name])
        # Integers say shapes and places, which kernels may want to know beforehand.
        whole = {k for k in names if isinstance(env[k], np.ndarray) and env[k].dtype.kind in "iub" and k[0] == "c"}
        session = None
        for fixed in (whole, {k for k in names if k[0] == "c" and isinstance(env[k], np.ndarray)}):
            session = self.session(node, env, names, fixed)
            if not isinstance(session, Exception):
                break
        wanted = [name for name in node.output if name]
        if not isinstance(session, Exception):
            try:
                return dict(zip(wanted, map(as_value, session.run(None, {k: env[k] for k in names if k not in fixed}))))
            except Exception as error:  # pylint: disable=broad-except
                raise Unsupported(f"{node.op_type}: {error}") from None
        if "NOT_IMPLEMENTED" not in str(type(session)) and "NotImplemented" not in type(session).__name__ and \
                "opset" not in str(session) and "No Op registered" not in str(session) and \
                "not a registered" not in str(session):
            raise Unsupported(f"{node.op_type}: {session}")
        return self.by_reference(node, env, names, wanted)

    def by_reference(self, node, env, names, wanted):
        try:
            with np.errstate(all="ignore"):
                found = ReferenceEvaluator(self.model(node, env, names, set())).run(None, {k: env[k] for k in names})
            return dict(zip(wanted, map(as_value, found)))
        except Exception as error:  # pylint: disable=broad-except
            raise Unsupported(f"{node.op_type}: {error}") from None


def plain_names(node, env):
    """The node with names that say the place of operands, so that nodes that are alike share a session; the values by
    these names, and the names of the outputs before. A name of a constant begins with c."""
    if any(a.type == onnx.AttributeProto.GRAPH for a in node.attribute):
        return node, env, {name: name for name in node.output}
    new = {}
    for name in node.input:
        if name:
            new.setdefault(name, ("c" if name[0] == "c" else "i") + str(len(new)))
    plain = onnx.NodeProto()
    plain.CopyFrom(node)
    plain.name = ""
    plain.input[:] = [new.get(name, "") for name in node.input]
    plain.output[:] = [f"o{i}" if name else "" for i, name in enumerate(node.output)]
    return plain, {new[k]: env[k] for k in new}, dict(zip(plain.output, node.output))


def as_value(value):
    return list(value) if isinstance(value, (list, tuple)) else value if value is None else np.asarray(value)


def type_key(value):
    if isinstance(value, list):
        return ("list", len(value), value[0].dtype.str if value else "")
    return (value.dtype.str, value.shape)


def to_bf16(value):
    """Float values as the nearest bf16 numbers; subnormal ones are zero."""
    exact = np.asarray(value, np.float32)
    bits = exact.reshape(-1).view(np.uint32)
    out = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    out = np.where((bits & 0x7F800000) == 0, bits & np.uint32(0x80000000), out)
    out = np.where(np.isfinite(exact.reshape(-1)), out, bits).astype(np.uint32)
    return out.view(np.float32).reshape(exact.shape)


class Track:
    """The values of a graph. `rounds`: each is the nearest bf16 number. `poison`: an operator that sums, or moves elements
    to other lanes, gives NaN alone where an element is not finite, for the layout says which elements lie in one row. What
    is no float and follows from such an element is `poison`, 0 or 1, or a random one of them for each operator. `moves`:
    the layout may move elements in front of any operator.
    `instead`: a generator of random numbers, by which NaN is replaced where an operator need not pass it on. `noise`: such a
    generator and a sign, for numbers as small as float32's rounding, which are added to results."""

    def __init__(self, evaluator, rounds=False, poison=None, instead=None, moves=False, noise=None):
        self.evaluator, self.rounds, self.poison, self.instead, self.moves = evaluator, rounds, poison, instead, moves
        self.noise = noise
        self.env = {}

    def stored(self, value):
        if isinstance(value, list):
            return [self.stored(one) for one in value]
        if not self.rounds or not is_float(value):
            return value
        with np.errstate(all="ignore"):
            return to_bf16(value).astype(value.dtype)

    def set_input(self, name, value):
        self.env[name] = self.stored(value)

    def set_constant(self, name, value):
        """Constants beyond bf16 are its largest number."""
        found = self.stored(value)
        if self.noise is not None and is_float(value):
            found = self.shaken(np.asarray(value), np.where(value == np.rint(value), 0, np.abs(value)))
        if self.rounds and is_float(value):
            with np.errstate(all="ignore"):
                found = np.where(np.isfinite(value) & ~np.isfinite(found), np.sign(value) * MOST_BF16, found).astype(value.dtype)
        self.env[name] = found

    def add(self, node, env=None):
        env = self.env if env is None else env
        scale = max((magnitude(env[k]) for k in reads(node) if is_float(env[k])), default=0.0)
        for name, value in self.outputs_of(node, env).items():
            if name:
                value = np.asarray(value) if isinstance(value, np.generic) else value
                if self.noise is not None and is_float(value) and node.op_type not in VIEWS:
                    value = self.shaken(value, np.abs(value) + scale)
                env[name] = self.stored(value)

    def shaken(self, value, by):
        """`value` with noise of float32 in proportion to `by`."""
        with np.errstate(all="ignore"):
            generator, sign = self.noise
            noise = sign * generator.choice((-1.0, 1.0), value.shape) * np.where(np.isfinite(by), by, 0)
            return np.asarray((value.astype(np.float64) + 2.0**-20 * noise).astype(value.dtype))

    def outputs_of(self, node, env):
        if self.instead is None and self.poison is None:
            return self.evaluator.run(node, env)
        floats = [one for k in reads(node) for one in (env[k] if isinstance(env[k], list) else [env[k]]) if is_float(one)]
        if node.op_type in ("If", "Loop", "Scan"):
            found = INNER[node.op_type](self, node, env)
            finite = all(np.isfinite(v).all() for v in floats)
            return found if finite or self.poison is None else self.poisoned(found)
        if self.poison is not None:
            found = self.evaluator.run(node, env)
            moved = self.moves and not all(np.isfinite(v).all() for v in floats)
            return self.poisoned(found) if moved or is_poisoned(node, floats, found) else found
        # An activation that becomes a weight has to be finite.
        free = node.op_type in PRODUCTS
        if not (free or node.op_type in UNDEFINED) or all(np.isfinite(v).all() for v in floats):
            return self.evaluator.run(node, env)
        finite = free or node.op_type in ("Cast", "CastLike", "DynamicQuantizeLinear", "Resize", "GridSample")
        found = self.evaluator.run(node, {**env, **{k: self.replaced(env[k], finite) for k in node.input if k}})
        if node.op_type in ("ArgMax", "ArgMin"):
            # Of a slice with NaN, any index may be given.
            value, axis = env[node.input[0]], attribute(node, "axis", 0)
            nan = np.isnan(value).any(axis, keepdims=bool(attribute(node, "keepdims", 1)))
            found = {k: np.where(nan, self.instead.integers(0, 2) * (value.shape[axis] - 1), v) for k, v in found.items()}
        return found

    def poisoned(self, found):
        other = self.poison if isinstance(self.poison, int) else int(self.poison.integers(0, 2))
        return {k: nothing(v, other) for k, v in found.items()}

    def replaced(self, value, finite):
        if not is_float(value):
            return value
        known = np.isfinite(value) if finite else ~np.isnan(value)
        return np.where(known, value, self.instead.integers(-100, 100, value.shape)).astype(value.dtype)

    def inner(self, graph, env, values):
        """The outputs of a graph in an attribute."""
        env = dict(env)
        for one in graph.initializer:
            env[one.name] = numpy_helper.to_array(one)
        env.update(zip((i.name for i in graph.input), values))
        for node in graph.node:
            self.add(node, env)
        return [env[o.name] for o in graph.output]


def attribute(node, name, default=None):
    found = next((a for a in node.attribute if a.name == name), None)
    return default if found is None else helper.get_attribute_value(found)


def run_if(track, node, env):
    branch = attribute(node, "then_branch" if np.all(env[node.input[0]]) else "else_branch")
    return dict(zip(node.output, track.inner(branch, env, [])))


def run_loop(track, node, env):
    body = attribute(node, "body")
    trips = int(env[node.input[0]]) if node.input[0] else 1 << 30
    goes_on = bool(np.all(env[node.input[1]])) if len(node.input) > 1 and node.input[1] else True
    carried = [env[k] for k in node.input[2:]]
    collected = [[] for _ in range(len(body.output) - 1 - len(carried))]
    trip = 0
    while trip < trips and goes_on:
        found = track.inner(body, env, [np.array(trip, np.int64), np.array(True), *carried])
        goes_on, carried = bool(found[0]), found[1:1 + len(carried)]
        for into, one in zip(collected, found[1 + len(carried):]):
            into.append(one)
        trip += 1
    if trip == 0 and collected:
        raise Unsupported("Loop without a trip")
    return dict(zip(node.output, [*carried, *map(np.stack, collected)]))


def run_scan(track, node, env):
    body, count = attribute(node, "body"), attribute(node, "num_scan_inputs")
    values = [env[k] for k in node.input]
    states, scanned = values[:len(values) - count], values[len(values) - count:]
    outs = len(body.output) - len(states)
    in_axes, out_axes = attribute(node, "scan_input_axes", [0] * count), attribute(node, "scan_output_axes", [0] * outs)
    in_turn = attribute(node, "scan_input_directions", [0] * count)
    out_turn = attribute(node, "scan_output_directions", [0] * outs)
    steps = scanned[0].shape[in_axes[0]]
    collected = [[] for _ in range(outs)]
    for t in range(steps):
        parts = [np.take(v, steps - 1 - t if turn else t, axis) for v, axis, turn in zip(scanned, in_axes, in_turn)]
        found = track.inner(body, env, [*states, *parts])
        states = found[:len(states)]
        for into, one in zip(collected, found[len(states):]):
            into.append(one)
    ends = [np.stack(c[::-1] if turn else c, axis) for c, axis, turn in zip(collected, out_axes, out_turn)]
    return dict(zip(node.output, [*states, *ends]))


INNER = {"If": run_if, "Loop": run_loop, "Scan": run_scan}


def is_poisoned(node, floats, found):
    """Whether elements that are not finite may reach others."""
    if node.op_type in VIEWS:
        values = [one for v in found.values() for one in (v if isinstance(v, list) else [v])]
        return not all(np.isfinite(v).all() for v in values if is_float(v))
    if any(isinstance(v, np.ndarray) and not is_float(v) for v in found.values()):
        return not all(np.isfinite(v).all() for v in floats)
    shapes = {v.shape for v in found.values() if isinstance(v, np.ndarray)}
    spreads = [v for v in floats if v.size > 1 and v.shape not in shapes]
    return not all(np.isfinite(v).all() for v in (floats if node.op_type in SUMS | UNDEFINED else spreads))


def nothing(value, other):
    """NaN in the place of all floats, and another number in the place of all others."""
    if isinstance(value, list):
        return [nothing(one, other) for one in value]
    return np.full_like(value, np.nan if is_float(value) else other)


def evaluate(graph, evaluator, **how):
    """The values of every name, for each inference."""
    found, state = [], {}
    for one in graph.inferences:
        track = Track(evaluator, **how)
        for name, value in graph.constants.items():
            track.set_constant(name, value)
        for name, value in one.items():
            track.set_input(name, state.get(name, value))
        for node in graph.nodes:
            track.add(node)
        found.append(track.env)
        state = {i: track.env[o] for i, o in graph.states.items()}
    return found


class Reference:
    """The values of a graph, by inference and name."""

    def __init__(self, graph):
        self.graph = graph
        evaluator = graph.evaluator or Evaluator(graph.opset)
        self.exact = evaluate(graph, evaluator)
        coarse = evaluate(graph, evaluator, rounds=True)
        special = any(is_float(v) and not np.isfinite(v).all() for env in self.exact + coarse for v in env.values())
        moves = any(flag[0] == "--rewrite-layout" for flag in graph.flags)
        poisons = [0, 1, *(np.random.default_rng(seed) for seed in range(4))] if special else []
        self.poisoned = [evaluate(graph, evaluator, rounds=True, poison=which, moves=moves) for which in poisons]
        self.others = [evaluate(graph, evaluator, instead=np.random.default_rng(seed)) for seed in range(4)] if special else []
        self.noisy = []

    def add_noise(self):
        """Counts elements as unknown that rounding in float32 moves across a jump. All noise comes with both signs: one of
        them moves a sum of exactly 0 to the other side of a comparison with 0."""
        evaluator = self.graph.evaluator or Evaluator(self.graph.opset)
        self.noisy = [evaluate(self.graph, evaluator, noise=(np.random.default_rng(seed), sign))
                      for seed in range(4) for sign in (1, -1)]

    def unknown(self, name, k):
        """Which elements of a value depend on what an operator makes of NaN and infinities."""
        exact = np.asarray(self.exact[k][name])
        unknown = np.zeros(exact.shape, bool)
        for other in self.poisoned + self.others:
            one = np.asarray(other[k][name])
            if one.shape != exact.shape:
                return ~unknown
            if is_float(exact):
                if any(other is one for one in self.poisoned):  # it is rounded, too
                    near = np.abs(one.astype(np.float64) - exact) <= 0.02 * scale_of(exact.astype(np.float64))
                    one = np.where(near, exact, one)
                unknown |= ~((one == exact) | (np.isnan(one) & np.isnan(exact)))
            else:
                unknown |= one != exact
        for other in self.noisy:
            one = np.asarray(other[k][name])
            if one.shape != exact.shape:
                return ~unknown
            if is_float(exact):
                with np.errstate(all="ignore"):
                    unknown |= np.abs(one.astype(np.float64) - exact) > JUMP * scale_of(exact.astype(np.float64))
            else:
                unknown |= one != exact
        return unknown


def scale_of(value):
    """The range, or the largest magnitude where that is far larger, as in compiler/check/bound.cpp."""
    finite = value[np.isfinite(value)]
    if not finite.size:
        return 0.0
    low, high = float(finite.min()), float(finite.max())
    largest = max(abs(low), abs(high))
    return largest if high - low < 0.2 * largest else high - low


def magnitude(value):
    finite = np.abs(value[np.isfinite(value)])
    return float(finite.max()) if finite.size else 0.0
