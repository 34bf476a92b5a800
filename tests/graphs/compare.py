"""What a program gives, against onnxruntime.

The bound of an element is the one of the compiler's own check (compiler/check), which evaluates the imported graph with
emulated rounding. The values that the check compares with are compared with onnxruntime, too, far more closely.
"""
import numpy as np

from oracle import JUMPS, MOST_BF16, Reference, attribute, scale_of

INDICES = {"ArgMax": 0, "ArgMin": 0, "TopK": 1}  # output that has indices
CHECK = "E0498"  # the check of the compiler has found a difference
FLOAT32 = 2.0**-16  # of the range: how far a chain of float32 operations may be off
BFLOAT16 = 2.0**-8  # of a number: how far rounding moves it at most
VANISHES = 2.0**-126
SATURATES = 2.0**-24  # a sigmoid of onnxruntime is 0 or 1 beyond


class Verdict:
    """`faults`: texts, of what is wrong; empty: nothing. `codes`: of a model that is rejected."""

    def __init__(self):
        self.faults, self.codes, self.kind = [], [], ""
        self.elements = self.unchecked = 0
        self.bounds = []  # of all elements, relative to the range of their output
        self.error = 0.0  # of the worst element, relative to its bound
        self.report = {}

    def bound(self, share):
        """So large a share of the elements has no larger bound."""
        return min(float(np.quantile(self.bounds, share, method="lower")) if self.bounds else 0.0, 1e9)

    def fault(self, kind, text):
        self.kind = self.kind or kind
        self.faults.append(text)


def is_internal(code):
    return code in ("E0498", "E0499") or code.startswith("E09")


def judge(graph, driver, reference=None):
    """Compiles and runs a graph. One that has no form of loops alone, or not with the data dimensions that were drawn, is
    compiled without these flags."""
    reference = reference or Reference(graph)
    wanted = list(dict.fromkeys(graph.outputs + [n.input[0] for n in graph.nodes if n.op_type in INDICES]))
    verdict = Verdict()
    if reference.others:  # activations that become weights have to be finite
        graph.flags = [f for f in graph.flags if f[0] != "--allow-dynamic-weights"]
    report = driver.run(graph, reference.exact[0], wanted)
    for flag in ("--only-loops", "--data-dim"):
        codes = report.get("codes", [])
        # Where there are no loops, the pass fails without a message.
        internal = any(map(is_internal, codes)) and (flag != "--only-loops" or CHECK in codes)
        if codes and not internal and any(f[0] == flag for f in graph.flags):
            graph.flags = [f for f in graph.flags if f[0] != flag]
            report = driver.run(graph, reference.exact[0], wanted)
    verdict.report = report
    codes = sorted(set(report.get("codes", [])))
    if report.get("crash"):
        verdict.fault("crash", report["crash"])
    elif codes and codes != [CHECK]:
        if any(map(is_internal, codes)):
            for code, message in zip(report["codes"], report["messages"]):
                verdict.fault(codes[0], f"{code}: {message}"[:300])
        verdict.codes = codes
    elif report.get("problem"):
        verdict.fault("engines", report["problem"])
    else:
        compare(graph, reference, report, verdict)
        if verdict.faults:  # perhaps of the reference, which computes in float32
            reference.add_noise()
            verdict = Verdict()
            verdict.report = report
            compare(graph, reference, report, verdict)
        if codes:
            verdict.fault("check", f"{report['messages'][0]}; {'; '.join(report.get('notes', []))}")
    if verdict.faults:
        verdict.codes = []
    return verdict


def compare(graph, reference, report, verdict):
    for name in graph.outputs:
        # A constant that the program does not compute is not there.
        if name not in report["outputs"]:
            continue
        output, (imported, bounds) = report["outputs"][name], report["tensors"][name]
        found = output["values"]
        if graph.stream:
            found = sequence(found, output, reference.exact[0][name])
        for k, one in enumerate(found[:len(reference.exact)]):
            check(graph, reference, name, k, one, imported[k], bounds[k], report["tensors"], verdict)


def sequence(found, output, exact):
    """The positions of a streamed output that have come; the newest value of one without an axis."""
    if "axis" not in output:
        return found[-1:]
    whole = np.concatenate(list(found), output["axis"])
    whole = np.take(whole, range(output["skipped"], whole.shape[output["axis"]]), output["axis"])
    return np.take(whole, range(min(whole.shape[output["axis"]], exact.shape[output["axis"]])), output["axis"])[None]


def check(graph, reference, name, k, one, imported, bound, tensors, verdict):
    exact, unknown = np.asarray(reference.exact[k][name]), reference.unknown(name, k)
    if one.shape != exact.shape and graph.stream and one.ndim == exact.ndim:
        come = tuple(slice(0, e) for e in one.shape)
        exact, unknown, imported, bound = exact[come], unknown[come], imported[come], bound[come]
    if one.shape != exact.shape or imported.shape != exact.shape:
        verdict.fault("shape", f"{name}: {one.shape} for {exact.shape}")
        return
    exact = exact.astype(np.float64)
    maker = next(n for n in graph.nodes if name in n.output)
    place = INDICES.get(maker.op_type)
    scale = scale_of(exact)
    if place is not None and maker.output[place] == name:
        unknown = unknown | unknown_indices(maker, reference, k, exact, tensors)
        wrong = wrong_indices(maker, reference, k, one, exact, tensors) & ~unknown
        bound = np.where(unknown, np.inf, 0.0)
    else:
        if maker.op_type == "TopK":
            bound = np.minimum(bound, bound_of_sorted(maker, k, tensors))
        unknown = unknown | (~np.isfinite(exact) & np.isfinite(imported) & (np.abs(imported) > 3e38))
        bound = np.where(unknown, np.inf, bound + FLOAT32 * scale + VANISHES)
        wrong = ~(is_within(one, exact, bound) | is_within(one, imported, bound))
        with np.errstate(all="ignore"):
            parts = np.abs(one - exact) / bound
        finite = parts[np.isfinite(parts)]
        verdict.error = max(verdict.error, float(finite.max()) if finite.size else 0.0)
        compare_imported(graph, name, k, imported, exact, bound, unknown, verdict)
    verdict.elements += exact.size
    verdict.unchecked += int(np.isinf(bound).sum())
    if scale:
        verdict.bounds += (bound / scale).ravel().tolist()
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        verdict.fault("wrong", f"{name}{list(at)} of inference {k}: {one[at]:.6g} for {exact[at]:.6g}, "
                      f"{bound[at]:.3g} is allowed; {int(wrong.sum())} of {wrong.size} wrong")


def beyond(value):
    """Numbers beyond bf16 are infinite."""
    return np.where(np.abs(value) > MOST_BF16 * (1 + 2.0**-9), np.copysign(np.inf, value), value)


def is_within(found, exact, bound):
    """Sums may make NaN of an infinity."""
    nearest = beyond(exact)
    with np.errstate(all="ignore"):
        near = np.abs(found - nearest) <= bound
    return near | (found == nearest) | (found == exact) | (np.isnan(found) & ~np.isfinite(nearest)) | np.isinf(bound)


def compare_imported(graph, name, k, imported, exact, bound, unknown, verdict):
    """The imported graph, in double precision, differs by float32 rounding alone."""
    jumps = any(node.op_type in JUMPS for node in graph.nodes)
    # An operator with a jump may be on its other side.
    allowed = np.where(np.isinf(bound) & ~unknown & jumps, np.inf,
                       bound * (1 if jumps else 2.0**-6) + FLOAT32 * scale_of(exact) + SATURATES)
    # Where float32 overflows, the order of a sum says whether it is infinite, and with which sign.
    unknown = unknown | (~np.isfinite(exact) & ~np.isfinite(beyond(imported)))
    allowed = np.where(unknown, np.inf, allowed)
    wrong = ~is_within(imported, exact, allowed)
    wrong |= (np.isnan(imported) != np.isnan(exact)) & ~np.isinf(allowed) & np.isfinite(exact)
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        verdict.fault("import", f"{name}{list(at)} of inference {k}: the imported graph has {imported[at]:.6g} for "
                      f"{exact[at]:.6g}; {int(wrong.sum())} of {wrong.size} differ")


def selected_from(maker, k, tensors):
    """The values and bounds of the operand of an operator that gives indices; None where they are not kept."""
    found = tensors.get(maker.input[0])
    return found and (found[0][k], found[1][k])


def axis_of(maker, rank):
    return attribute(maker, "axis", 0 if maker.op_type.startswith("Arg") else -1) % max(rank, 1)


def bound_of_sorted(maker, k, tensors):
    """A sorted element moves no farther than the element of its slice that moves most, and is rounded to bf16, even where
    the operand is an output that the host computes."""
    operand = selected_from(maker, k, tensors)
    if operand is None:
        return np.inf
    bounds = operand[1] + BFLOAT16 * np.abs(operand[0])
    return bounds.max(axis_of(maker, bounds.ndim), keepdims=True)


def unknown_indices(maker, reference, k, exact, tensors):
    """An element that is not known may be the one that is selected."""
    operand, x = selected_from(maker, k, tensors), np.asarray(reference.exact[k][maker.input[0]])
    if operand is None or operand[0].shape != x.shape:
        return np.ones(exact.shape, bool)
    axis = axis_of(maker, x.ndim)
    none = (~(np.isfinite(operand[1]) & np.isfinite(x)) | reference.unknown(maker.input[0], k)).any(axis, keepdims=True)
    if not attribute(maker, "keepdims", 1) and maker.op_type != "TopK":
        none = np.squeeze(none, axis)
    return np.broadcast_to(none, exact.shape)


def wrong_indices(maker, reference, k, one, exact, tensors):
    """An index is right where the value that it selects is within the bound."""
    operand, x = selected_from(maker, k, tensors), np.asarray(reference.exact[k][maker.input[0]])
    if operand is None or operand[0].shape != x.shape:
        return np.zeros(exact.shape, bool)
    bound, axis = operand[1] + FLOAT32 * scale_of(x.astype(np.float64)), axis_of(maker, x.ndim)
    keep = attribute(maker, "keepdims", 1) or maker.op_type == "TopK"
    found, wanted = (v if keep else np.expand_dims(v, axis) for v in (one, exact))
    valid = (found >= 0) & (found < x.shape[axis]) & (found == np.floor(found))
    index, wanted = np.where(valid, found, 0).astype(np.int64), wanted.astype(np.int64)
    with np.errstate(all="ignore"):
        apart = np.abs(np.take_along_axis(x, index, axis).astype(np.float64) - np.take_along_axis(x, wanted, axis))
        allowed = np.take_along_axis(bound, index, axis) + np.take_along_axis(bound, wanted, axis)
        wrong = ~(valid & ((apart <= allowed) | (index == wanted)))
    return wrong if keep else np.squeeze(wrong, axis)
