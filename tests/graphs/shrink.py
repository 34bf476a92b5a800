"""Makes a graph with a fault smaller while the fault stays."""
import time

import numpy as np

from compare import judge
from oracle import Reference, Unsupported, is_float


def same_fault(graph, driver, kind):
    """The verdict if the graph has a fault of the same kind, else None."""
    try:
        if not graph.nodes or not graph.outputs:
            return None
        reference = Reference(graph)
        verdict = judge(graph, driver, reference)
    except (Unsupported, ValueError, KeyError, StopIteration):
        return None
    return (verdict, reference) if verdict.kind == kind else None


def candidates(graph, exact):
    """Smaller graphs, the smallest first."""
    if len(graph.outputs) > 1:
        for name in graph.outputs:
            if name not in graph.states.values():
                yield with_outputs(graph, [name, *graph.states.values()])
    if len(graph.inferences) > 1:
        other = graph.copy()
        half = max(1, len(graph.inferences) // 2)
        other.inferences = other.inferences[:half]
        yield other
        other = graph.copy()
        other.inferences = other.inferences[-half:]
        yield other
    for i in range(len(graph.nodes)):
        yield from without(graph, i, exact)
    for i, flag in enumerate(graph.flags):
        if flag[0] not in ("--stream", "--state"):
            other = graph.copy()
            del other.flags[i]
            yield other


def with_outputs(graph, names):
    other = graph.copy()
    other.outputs = list(dict.fromkeys(names))
    other.prune()
    other.flags = [f for f in other.flags if f[0] != "--data-dim" or f[1].split("=")[0] in other.inferences[0]]
    return other


def without(graph, i, exact):
    """The graph without a node: its outputs become inputs or constants, or one of its operands."""
    node = graph.nodes[i]
    made = [n for n in node.output if n]
    if any(isinstance(exact[0][n], list) for n in made):
        return
    rest = [n for n in graph.outputs if n not in made]
    for source in node.input:
        value = exact[0].get(source)
        if isinstance(value, np.ndarray) and len(made) == 1 and value.shape == exact[0][made[0]].shape and \
                value.dtype == exact[0][made[0]].dtype:
            other = graph.copy()
            del other.nodes[i]
            for later in other.nodes:
                for at, name in enumerate(later.input):
                    if name == made[0]:
                        later.input[at] = source
            if rest:
                yield with_outputs(other, rest)
    if not rest or graph.stream or graph.states:
        return
    used = {name for later in graph.nodes for name in later.input}
    as_input = graph.copy()
    del as_input.nodes[i]
    for name in made:
        if name not in used:
            continue
        if is_float(exact[0][name]) and exact[0][name].dtype == np.float32:
            for k, one in enumerate(as_input.inferences):
                one[name] = exact[k][name]
        else:
            renamed = f"c_{name}"
            as_input.constants[renamed] = exact[0][name]
            for later in as_input.nodes:
                for at, read in enumerate(later.input):
                    if read == name:
                        later.input[at] = renamed
    yield with_outputs(as_input, rest)


def shrink(graph, driver, verdict, seconds=25):
    """A smaller graph with a fault of the same kind, its verdict and reference."""
    end = time.monotonic() + seconds
    best, reference = (graph, verdict), Reference(graph)
    improved = True
    while improved and time.monotonic() < end:
        improved = False
        for other in candidates(best[0], reference.exact):
            if time.monotonic() > end:
                break
            found = same_fault(other, driver, verdict.kind)
            if found:
                best, reference, improved = (other, found[0]), found[1], True
                break
    return best[0], best[1], reference
