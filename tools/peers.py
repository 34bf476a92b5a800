#!/usr/bin/env python3
"""Compares Sluice with onnxruntime, IREE and TVM on the networks of docs/gallery.md: the time to compile, the error, and the latency.

usage: peers.py SLUICE [--runs N] [--seconds S] [--write] [--anyway] [NETWORK...]

The interpreter needs onnxruntime, onnx and NumPy; without IREE or TVM their rows say so. This makes an environment with all:

    tools/venv.sh build/venv-peers onnxruntime==1.23.2 onnx==1.19.1 numpy==2.4.6 iree-base-compiler==3.13.0 \\
      iree-base-runtime==3.13.0 apache-tvm==0.27.0.post1
    build/venv-peers/bin/python tools/peers.py build/release/bin/sluice --write

The peers use one thread, fp32 and their own optimisation without tuning. Each compiles and runs in a process of its own, one sample at
a time, until there are N runs or S seconds have passed. The error is the largest difference from onnxruntime as a share of the range.
--write puts the table and the date into docs/performance.md. It is rejected while other programs use the processors, because the
latencies would be theirs; --anyway writes the load with the table.
"""
import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
from gallery import NAMES, ROOT, Network, measured # noqa: E402 pylint: disable=wrong-import-position

PAGE = ROOT / "docs/performance.md"
TABLE = re.compile(r"(<!-- peers: tools/peers.py -->\n).*?(<!-- end -->)", re.DOTALL)
PACKAGES = {"onnxruntime": "onnxruntime", "IREE": "iree-base-compiler", "TVM": "apache-tvm"}
HANG = 900 # seconds for one network of one tool
BUSY = 0.5 # load that other programs may cause
FASTEST = 0.001 # errors in percent below this are those of another order of the sums


# A peer is compiled by a function (model, inputs, folder) that returns a function without arguments: one run, which returns the
# outputs as arrays. It imports its packages, which may be absent.
def with_onnxruntime(model, inputs, _):
    import onnxruntime # pylint: disable=import-outside-toplevel
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, inputs)


def with_iree(model, inputs, folder):
    # pylint: disable=import-outside-toplevel
    import iree.compiler
    import iree.runtime
    import onnx
    from iree.compiler.tools.import_onnx import __main__ as importer
    onnx.save(model, str(folder / "m.onnx"))
    importer.main(importer.parse_arguments([str(folder / "m.onnx"), "-o", str(folder / "m.mlir")]))
    code = iree.compiler.compile_file(str(folder / "m.mlir"), input_type="onnx", target_backends=["llvm-cpu"],
                                      extra_args=["--iree-llvmcpu-target-cpu=host"])
    config = iree.runtime.Config("local-sync") # no threads
    context = iree.runtime.SystemContext(config=config)
    module = iree.runtime.VmModule.copy_buffer(context.instance, code)
    context.add_vm_module(module)
    call = context.modules[module.name][model.graph.name]
    arguments = [iree.runtime.asdevicearray(config.device, inputs[one.name]) for one in model.graph.input]
    return lambda: [np.asarray(call(*arguments).to_host())]


def with_tvm(model, inputs, _):
    os.environ["TVM_NUM_THREADS"] = "1"
    # pylint: disable=import-outside-toplevel
    import tvm
    from tvm import relax
    from tvm.relax.frontend.onnx import from_onnx
    machine = relax.VirtualMachine(tvm.compile(from_onnx(model), target=tvm.target.Target("llvm")), tvm.cpu())
    call = machine["main"]
    arguments = [tvm.runtime.tensor(inputs[one.name]) for one in model.graph.input]
    return lambda: [call(*arguments).numpy()]


PEERS = {"onnxruntime": with_onnxruntime, "IREE": with_iree, "TVM": with_tvm}


def inputs_of(network, model):
    """One sample, or one sequence."""
    samples = network.samples(model)
    return {name: np.ascontiguousarray(values if network.stream else values[0]) for name, values in samples.items()}


def one_peer(peer, name, runs, seconds):
    """The figures of one peer and one network, as JSON: in a process of its own, which may crash."""
    network = Network(name)
    model = network.build()
    inputs = inputs_of(network, model)
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        call = PEERS[peer](model, inputs, Path(folder))
        compiled = time.perf_counter() - begin
        wanted, found = with_onnxruntime(model, inputs, None)(), call()
        error = max(float(np.abs(a - b).max() / (np.ptp(b) if b.size > 1 else np.abs(b).max())) for a, b in zip(found, wanted))
        for _ in range(min(runs, 100)):
            call()
        times, end = [], time.perf_counter() + seconds
        while len(times) < runs and time.perf_counter() < end:
            begin = time.perf_counter_ns()
            call()
            times.append((time.perf_counter_ns() - begin) / 1000)
    return {"compile_s": compiled, "error_percent": 100 * error, "runs": len(times), "median_us": float(np.percentile(times, 50)),
            "p99_us": float(np.percentile(times, 99))}


def ask(peer, name, options):
    """The figures of a peer, or why there are none."""
    try:
        importlib.metadata.version(PACKAGES[peer])
    except importlib.metadata.PackageNotFoundError:
        return {"why": f"absent: {PACKAGES[peer]} is not installed"}
    words = [sys.executable, "-B", __file__, options.sluice, name, "--one", peer, "--runs", str(options.runs), "--seconds",
             str(options.seconds)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=HANG, check=False)
    except subprocess.TimeoutExpired:
        return {"why": f"no answer within {HANG} s"}
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    said = [line for line in done.stderr.splitlines() if re.match(r"[\w.]*(Error|Exception|NotImplemented)\b", line)] or [
        f"ended with {done.returncode}"]
    return {"why": said[-1].split(": ", 1)[-1][:120].replace("|", " ").replace("<", "&lt;")}


def rows_of(name, options):
    """The lines of a network: one for Sluice, one for each peer."""
    network = Network(name)
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        ours = measured(str(Path(options.sluice).resolve()), network, "vm", Path(folder))
        print(f"{name}: measured in {time.perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)
    steps = network.steps or 1
    yield (f"| {network.title} | Sluice | {ours['seconds']:.1f} | {ours['error']:.2f} | {ours['cycles'] / 300:.2f} | "
           f"{ours['cycles'] / 300:.2f} | {ours['cycles']:,} cycles at 300 MHz, nominal |")
    for peer in PEERS:
        found = ask(peer, name, options)
        if "why" in found:
            yield f"| | {peer} | | | | | {found['why']} |"
            continue
        error = "reference" if peer == "onnxruntime" else "below 0.001" if found["error_percent"] < FASTEST else f"{found['error_percent']:.3f}"
        notes = [f"{found['runs']:,} runs"] if found["runs"] < options.runs else []
        notes += [f"a sequence, divided by its {steps} steps"] if steps > 1 else []
        yield (f"| | {peer} | {found['compile_s']:.1f} | {error} | {found['median_us'] / steps:,.1f} | {found['p99_us'] / steps:,.1f} | "
               f"{'; '.join(notes)} |").replace("|  |", "| |")


def processor():
    try:
        return re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text()).group(1)
    except (OSError, AttributeError):
        return platform.machine()


def table(options, load):
    versions = []
    for peer, package in PACKAGES.items():
        try:
            versions.append(f"{peer} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"without {peer}")
    text = (f"Measured on {datetime.date.today()} with one thread on {processor()}; {', '.join(versions)}; "
            f"{options.runs:,} runs{f'; other programs used the processors (load {load:.1f}), so take a latency only for its order' if load > BUSY else ''}.\n\n"
            "| network | tool | compile, s | error, % | median, us | 99th percentile, us | |\n|---|---|---:|---:|---:|---:|---|\n")
    for name in options.names or NAMES:
        for line in rows_of(name, options):
            print(line, flush=True)
            text += line + "\n"
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sluice")
    parser.add_argument("names", nargs="*", metavar="NETWORK")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--anyway", action="store_true")
    parser.add_argument("--one", choices=PEERS, help=argparse.SUPPRESS)
    options = parser.parse_intermixed_args()
    for name in set(options.names) - set(NAMES):
        parser.error(f"unknown network '{name}', allowed: {', '.join(NAMES)}")
    if options.runs < 1 or options.seconds <= 0:
        parser.error("--runs and --seconds must be positive")
    if options.one:
        print(json.dumps(one_peer(options.one, options.names[0], options.runs, options.seconds)))
        return 0
    load = os.getloadavg()[0]
    if options.write and load > BUSY and not options.anyway:
        sys.exit(f"error: other programs use the processors (load {load:.1f}), allowed: up to {BUSY}; wait, or write with --anyway")
    text = table(options, load)
    if options.write:
        page = PAGE.read_text()
        if not TABLE.search(page):
            sys.exit(f"error: {PAGE} has no mark for the table")
        PAGE.write_text(TABLE.sub(lambda match: match.group(1) + text + match.group(2), page))
    return 0


if __name__ == "__main__":
    sys.exit(main())
