"""Writes a case of an exporter: a model, and inputs and outputs in ONNX's layout."""
import pathlib
import sys
import traceback

import numpy as np
from onnx import numpy_helper


def save(folder, inputs, outputs):
    data = pathlib.Path(folder) / "test_data_set_0"
    data.mkdir(parents=True, exist_ok=True)
    for kind, values in (("input", inputs), ("output", outputs)):
        for i, value in enumerate(values):
            (data / f"{kind}_{i}.pb").write_bytes(numpy_helper.from_array(np.asarray(value)).SerializeToString())


def write_all(networks, folder):
    """Calls write(folder) of every (title, write); what an exporter rejects is in refused.txt."""
    for i, (title, write) in enumerate(networks):
        case = pathlib.Path(folder) / f"{i:03}"
        case.mkdir(parents=True, exist_ok=True)
        (case / "title.txt").write_text(title)
        try:
            write(case)
        except Exception as refusal:  # pylint: disable=broad-except
            traceback.print_exc(file=sys.stderr)
            (case / "refused.txt").write_text(f"{type(refusal).__name__}: {str(refusal).strip().splitlines()[0] if str(refusal).strip() else ''}"[:200])
