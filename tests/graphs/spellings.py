#!/usr/bin/env python3
"""Compiles random networks in several random spellings each, without a flag.

A network compiles in all its spellings or in none, computes the same in all, and takes about the same cycles. The script
lists the networks that break this, with the rules by which each spelling differs. Network N and its spellings follow from N
alone. ctest runs a few of them (ops_spellings).
"""
import argparse
import collections
import json
import pathlib
import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")
NEAR = 1.05  # of the fewest cycles of a network's spellings


def networks(seed, count):
    """The graph of a seed and its other spellings, each with the rules behind it; nothing if there are none."""
    # pylint: disable=import-outside-toplevel, unused-import
    import spelling_rules  # noqa: F401
    from generate import generate
    from oracle import Reference, Unsupported
    from speller import Speller
    graph = generate(seed)
    if graph is None or graph.kind != "ordinary":
        return []
    graph.flags, graph.inferences = [], graph.inferences[:1]
    try:
        first = Reference(graph)
        found = [(graph, [], first)]
        for k in range(count):
            speller = Speller(graph, first.exact[0], seed * 16 + k)
            other = speller.spell()
            found.append((other, speller.applied, Reference(other)))
    except Unsupported:
        return []
    return found if any(rules for _, rules, _ in found) else []


def is_same(graph, one, other):
    """Whether two references agree, but for the order of sums."""
    for name in graph.outputs:
        a, b = (np.asarray(reference.exact[0][name], np.float64) for reference in (one, other))
        if a.shape != b.shape or not np.allclose(a, b, rtol=1e-3, atol=1e-4 * max(1.0, np.nanmax(np.abs(a), initial=0)), equal_nan=True):
            return False
    return True


def examine(seed, count, driver):
    from compare import judge  # pylint: disable=import-outside-toplevel
    result = {"seed": seed, "spellings": []}
    found = networks(seed, count)
    for graph, rules, reference in found:
        if not is_same(found[0][0], found[0][2], reference):
            continue  # rounding of its own decides between elements
        verdict = judge(graph, driver, reference)
        result["spellings"].append({"rules": sorted(set(rules)), "codes": verdict.codes, "faults": verdict.faults[:1],
                                    "cycles": verdict.report.get("cycles", 0), "operators": graph.operators()})
    return result


def kind_of(result):
    spellings = result["spellings"]
    if len(spellings) < 2:
        return "none"
    if any(one["faults"] for one in spellings):
        return "fault"
    rejected = [bool(one["codes"]) for one in spellings]
    if all(rejected):
        return "rejected"
    if any(rejected):
        return "mixed"
    cycles = [one["cycles"] for one in spellings]
    return "near" if max(cycles) <= NEAR * min(cycles) else "far"


def text_of(result, kind):
    words = [f"seed {result['seed']}: {kind}"]
    for one in result["spellings"]:
        outcome = " ".join(one["codes"]) or (f"{one['cycles']} cycles" if not one["faults"] else one["faults"][0])
        words.append(f"  {outcome}: {' '.join(one['rules']) or 'as drawn'}")
    return "\n".join(words)


def run(options):
    from engines import Driver  # pylint: disable=import-outside-toplevel
    driver, kinds, corpus = Driver(options.driver, options.limit), collections.Counter(), pathlib.Path(options.corpus)
    corpus.mkdir(parents=True, exist_ok=True)
    first, end = map(int, options.seeds.split(":"))
    with open(corpus / "spellings.jsonl", "w", encoding="utf-8") as file:
        for seed in range(first, end):
            if options.networks and sum(kinds[k] for k in ("near", "far", "mixed", "fault")) == options.networks:
                break
            result = examine(seed, options.spellings, driver)
            kind = kind_of(result)
            kinds[kind] += 1
            file.write(json.dumps({**result, "kind": kind}) + "\n")
            file.flush()
            if kind in ("fault", "mixed", "far"):
                print(text_of(result, kind), flush=True)
    driver.close()
    return kinds


def show(options):
    """Writes the models of a network."""
    from graph import save  # pylint: disable=import-outside-toplevel
    seed = int(options.show)
    for k, (graph, rules, reference) in enumerate(networks(seed, options.spellings)):
        folder = pathlib.Path(options.corpus) / f"network-{seed}" / str(k)
        save(graph, reference.exact, folder, f"{' '.join(rules)}\n")
        print(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--driver", default="build/release/tests/graph_driver", help="tests/graphs/graph_driver as built")
    parser.add_argument("--corpus", default="build/spellings", help="folder of results and models (build/spellings)")
    parser.add_argument("--seeds", default="0:1000", help="FIRST:END (0:1000)")
    parser.add_argument("--networks", type=int, default=0, help="stop after so many that compile (0: all seeds)")
    parser.add_argument("--spellings", type=int, default=2, help="other spellings of each (2)")
    parser.add_argument("--limit", type=int, default=60, help="seconds for a graph (60)")
    parser.add_argument("--show", metavar="SEED", help="write the models of this network, and do nothing else")
    options = parser.parse_args()
    if options.show:
        return show(options)
    kinds = run(options)
    compiled = kinds["near"] + kinds["far"]
    print(f"{compiled + kinds['mixed'] + kinds['fault']} networks that compile: {kinds['near']} take the same cycles within "
          f"{NEAR - 1:.0%} in all spellings, {kinds['far']} do not, {kinds['mixed']} compile in some, {kinds['fault']} with a "
          f"fault; {kinds['rejected']} compile in none, {kinds['none']} seeds without other spellings")
    return 1 if kinds["fault"] or kinds["mixed"] or kinds["far"] > (1 - 0.95) * compiled else 0


if __name__ == "__main__":
    sys.exit(main())
