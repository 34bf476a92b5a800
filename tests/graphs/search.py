#!/usr/bin/env python3
"""Compiles random graphs, runs them on both engines and compares the outputs with onnxruntime.

A graph with a fault is made as small as it gets and written to CORPUS/findings: the model, its inputs, flags and reference
outputs. CORPUS/results.jsonl has a line for each seed; a further run with the same folder leaves out the seeds that it has.
ctest runs fixed seeds of this search (ops_random_graphs); the script runs any number.
"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import time
import traceback
import warnings

warnings.simplefilter("ignore")
STABLE = 0.05  # of the range: a bound below is a useful one


def examine(seed, driver, options):
    """The result of one seed as a dictionary; a finding is written."""
    # pylint: disable=import-outside-toplevel
    from compare import judge
    from generate import generate
    from graph import save
    from oracle import Unsupported
    from shrink import shrink
    result = {"seed": seed}
    graph = generate(seed, options.whole)
    if graph is None:
        return {**result, "kind": "none"}
    classes = graph.classes
    pairs = set()
    for node in graph.nodes:
        into = classes.get(node.output[0])
        pairs |= {(classes[k], into) for k in node.input if into and k in classes and classes[k] != ""}
    result |= {"graph": graph.kind, "operators": graph.operators(), "pairs": sorted(map(list, pairs))}
    start = time.monotonic()
    try:
        verdict = judge(graph, driver)
    except Unsupported as error:
        return {**result, "kind": "oracle", "text": str(error)[:200]}
    result |= {"seconds": round(time.monotonic() - start, 3),
               "compile": round(verdict.report.get("compile_seconds", 0), 3), "run": round(verdict.report.get("run_seconds", 0), 3),
               "elements": verdict.elements, "unchecked": verdict.unchecked,
               "error": round(verdict.error, 3), "bound": verdict.bound(0.5), "most": verdict.bound(0.9)}
    if verdict.codes:
        return {**result, "kind": "rejected", "codes": verdict.codes, "text": verdict.report["messages"][0][:200]}
    if not verdict.faults:
        return {**result, "kind": "right"}
    result |= {"kind": "fault", "fault": verdict.kind, "text": verdict.faults[0][:300]}
    if options.shrink:
        graph, verdict, reference = shrink(graph, driver, verdict)
        result |= {"small": graph.operators(), "text": verdict.faults[0][:300]}
        name = f"{verdict.kind}-{seed}"
        try:
            save(graph, reference.exact, pathlib.Path(options.corpus) / "findings" / name,
                 f"Seed {seed}: {' '.join(graph.operators())}\n{verdict.faults[0]}\n")
        except (ValueError, TypeError, KeyError) as error:
            result["unsaved"] = str(error)[:100]
    return result


def worker(options):
    from engines import Driver  # pylint: disable=import-outside-toplevel
    driver = Driver(options.driver, options.limit)
    for line in sys.stdin:
        try:
            result = examine(int(line), driver, options)
        except Exception:  # pylint: disable=broad-except
            result = {"seed": int(line), "kind": "generator", "text": " ".join(traceback.format_exc().split())[-400:]}
        print(json.dumps(result), flush=True)
    driver.close()


def again(options):
    """Checks folders of findings again."""
    from compare import judge  # pylint: disable=import-outside-toplevel
    from engines import Driver  # pylint: disable=import-outside-toplevel
    from graph import load  # pylint: disable=import-outside-toplevel
    driver, wrong = Driver(options.driver, options.limit), 0
    for folder in options.again:
        verdict = judge(load(folder), driver)
        wrong += bool(verdict.faults)
        print(f"{folder}: {verdict.kind or ' '.join(verdict.codes) or 'right'} {' '.join(verdict.faults[:1])[:200]}", flush=True)
    driver.close()
    return 1 if wrong else 0


class Worker:
    def __init__(self, options):
        self.command = [sys.executable, "-B", __file__, "--worker", "--driver", options.driver, "--corpus", options.corpus,
                        "--limit", str(options.limit)] + \
            (["--shrink"] if options.shrink else []) + (["--whole"] if options.whole else [])
        self.process = None

    def give(self, seed):
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,  # pylint: disable=consider-using-with
                                            stderr=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
        self.process.stdin.write(f"{seed}\n")
        self.process.stdin.flush()

    def take(self, seed):
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        self.process.wait()
        self.process = None
        return {"seed": seed, "kind": "oracle", "text": "the evaluator ended"}

    def end(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()


def run(options, seeds, results):
    import selectors  # pylint: disable=import-outside-toplevel
    waiting, busy = list(seeds)[::-1], {}
    workers = [Worker(options) for _ in range(options.jobs)]
    pick = selectors.DefaultSelector()
    end = time.monotonic() + options.seconds if options.seconds else float("inf")
    idle = list(workers)
    with open(pathlib.Path(options.corpus) / "results.jsonl", "a", encoding="utf-8") as file:
        while busy or (waiting and time.monotonic() < end):
            while idle and waiting and time.monotonic() < end:
                one, seed = idle.pop(), waiting.pop()
                one.give(seed)
                busy[one] = seed
                pick.register(one.process.stdout, selectors.EVENT_READ, one)
            for key, _ in pick.select():
                one = key.data
                pick.unregister(key.fileobj)
                result = one.take(busy.pop(one))
                idle.append(one)
                results.append(result)
                file.write(json.dumps(result) + "\n")
                file.flush()
                if result["kind"] in ("fault", "generator", "oracle"):
                    print(f"seed {result['seed']}: {result.get('fault', result['kind'])}: "
                          f"{' '.join(result.get('small', result.get('operators', [])))}: {result['text']}", flush=True)
    for one in workers:
        one.end()


def report(results, verbose):
    kinds = collections.Counter(r["kind"] for r in results)
    compared = [r for r in results if r["kind"] in ("right", "fault") and "bound" in r]
    useful, most = (sum(r[k] <= STABLE for r in compared) for k in ("bound", "most"))
    codes = collections.Counter(c for r in results for c in r.get("codes", ()))
    operators = collections.Counter(o for r in results for o in r.get("operators", ()))
    pairs = collections.Counter(tuple(p) for r in results for p in r.get("pairs", ()))
    drawn = len(results) - kinds["none"]
    elements, unchecked = sum(r.get("elements", 0) for r in results), sum(r.get("unchecked", 0) for r in results)
    print(f"{drawn} graphs: {kinds['right']} right, {kinds['fault']} with a fault, {kinds['rejected']} rejected "
          f"({100 * kinds['rejected'] / max(drawn, 1):.1f} %), {kinds['oracle']} without a reference, "
          f"{kinds['generator']} that could not be drawn")
    print(f"bound below {STABLE:.0%} of the range: {useful} of {len(compared)} ({100 * useful / max(len(compared), 1):.1f} %) for half "
          f"of the elements, {100 * most / max(len(compared), 1):.1f} % for nine of ten; elements not checked: "
          f"{unchecked} of {elements}")
    print("faults: " + ", ".join(f"{k} {n}" for k, n in collections.Counter(r["fault"] for r in results if "fault" in r).most_common()))
    print("rejected: " + ", ".join(f"{c} {n}" for c, n in codes.most_common()))
    names = sorted({n for pair in pairs for n in pair})
    least = [(a, b, pairs[a, b]) for a in names for b in names if pairs[a, b] < 20]
    print(f"{len(operators)} operators; pairs of classes seen fewer than 20 times: {len(least)} of {len(names) ** 2}")
    if verbose:
        print("operators: " + ", ".join(f"{o} {n}" for o, n in operators.most_common()))
        print("pairs: " + ", ".join(f"{a}>{b} {n}" for a, b, n in least))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--driver", default="build/release/tests/graph_driver", help="tests/graphs/graph_driver as built")
    parser.add_argument("--corpus", default="build/graphs", help="folder of results and findings (build/graphs)")
    parser.add_argument("--seeds", default="0:1000", help="FIRST:END, or a file with one seed a line (0:1000)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument("--limit", type=int, default=60, help="seconds of processor time for a graph, four times as many with --effort high (60)")
    parser.add_argument("--seconds", type=float, default=0, help="no new graph after so many (0: all seeds)")
    parser.add_argument("--whole", action="store_true", help="graphs with inputs of integers and quantised parts alone")
    parser.add_argument("--no-shrink", dest="shrink", action="store_false", help="leave graphs with a fault as they are")
    parser.add_argument("--shrink", action="store_true", default=True, help=argparse.SUPPRESS)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--again", nargs="+", metavar="FINDING", help="check these findings again, and nothing else")
    parser.add_argument("--fresh", action="store_true", help="forget the results in the folder")
    parser.add_argument("--verbose", action="store_true", help="print counts of every operator and of rare pairs")
    options = parser.parse_args()
    if options.worker:
        return worker(options)
    if options.again:
        return again(options)
    corpus = pathlib.Path(options.corpus)
    corpus.mkdir(parents=True, exist_ok=True)
    file = corpus / "results.jsonl"
    if options.fresh:
        file.unlink(missing_ok=True)
    if ":" in options.seeds:
        first, end = map(int, options.seeds.split(":"))
        seeds = list(range(first, end))
    else:
        seeds = [int(line) for line in pathlib.Path(options.seeds).read_text(encoding="utf-8").split()]
    known = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []
    results = [r for r in known if r["seed"] in set(seeds)]
    done = {r["seed"] for r in results}
    run(options, [s for s in seeds if s not in done], results)
    report(results, options.verbose)
    return 1 if any(r["kind"] in ("fault", "generator") for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
