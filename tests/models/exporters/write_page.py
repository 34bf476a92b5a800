#!/usr/bin/env python3
"""Compiles exported networks for c6b32, runs them on both engines and writes a page with the verdicts.

usage: write_page.py SLUICE CASES PAGE

CASES has a folder of each exporter, with the exporter and its version in exporter.txt, and a folder of each network
(stored.py writes it). Ends with 1 if a program gives wrong values.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from engines import Rejected, compiled, measured, spread  # noqa: E402 pylint: disable=wrong-import-position

TARGET, TOLERANCE = "c6b32", 0.05
HEAD = """# Networks from today's exporters

This page lists networks of PyTorch, Keras, JAX and scikit-learn, and what Sluice makes of their exports. To check your own
model, export it and type `sluice check model.onnx`. `tests/models/exporters/run.sh` writes this page; do not edit it.

Every network is compiled for `c6b32` with `--apply-fixes` and runs on both engines. Bits and cycles must be equal. The
expected values are those of the framework itself.

| column | meaning |
|---|---|
| flag | the flag that the network needs to compile; `--apply-fixes` finds it |
| cycles | of one inference |
| error | the largest error of an output, as a share of its range, or of its magnitude where it is nearly constant; at most 5 %, as some outputs are a single small number |
"""
NOTES = {"scikit-learn": """
Convert classifiers with `options={'zipmap': False}`; the outputs are then the label and the probabilities:

<!-- not run: needs scikit-learn -->
```python
from skl2onnx import to_onnx
onnx = to_onnx(model, X[:1].astype("float32"), options={"zipmap": False}, target_opset=22)
open("model.onnx", "wb").write(onnx.SerializeToString())
```

Give the number of samples when compiling (`--input-shape X=1,6`). Labels must be integers that bf16 has, such as 0 to 256.
"""}


def verdict(sluice, case):
    """The cells of a network behind its title, and whether its values are right."""
    refused = case / "refused.txt"
    if refused.exists():
        return ["", "", f"not exported: {refused.read_text()[:100].strip()}"], True
    try:
        flags, cycles = compiled(sluice, case / "model.onnx", case / "model.sluice", TARGET)
    except Rejected as refusal:
        return ["", "", str(refusal)], not refusal.is_internal
    try:
        good, _, _, worst = measured(sluice, case / "model.sluice", case / "test_data_set_0", TOLERANCE, scale=spread)
    except Rejected as refusal:
        return ["", "", str(refusal)], False
    return [f"`{flags}`" if flags else "", str(cycles), f"{100 * worst:.2f} %"], good


def main():
    sluice, cases, page = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    text, count, runs, wrong = "", 0, 0, []
    for exporter in filter(lambda one: (cases / one).is_dir(), ("torch", "keras", "jax", "sklearn")):
        title = (cases / exporter / "exporter.txt").read_text().splitlines()[0].strip()
        text += f"\n## {title}\n{next((note for name, note in NOTES.items() if title.startswith(name)), '')}\n"
        text += "| network | flag | cycles | error |\n|---|---|---:|---|\n"
        for case in sorted(path.parent for path in (cases / exporter).glob("*/title.txt")):
            name = (case / "title.txt").read_text()
            cells, good = verdict(sluice, case)
            print(f"{title}: {name}: {', '.join(filter(None, cells))}{'' if good else '  WRONG'}", flush=True)
            text += f"| {' | '.join([name, *cells]).replace('|  |', '| |').replace('|  |', '| |')} |\n"
            count, runs = count + 1, runs + bool(cells[1])
            wrong += [] if good else [name]
    page.write_text(f"{HEAD}\n{runs} of {count} networks run.\n{text}")
    print(f"{runs} of {count} networks run")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
