#!/usr/bin/env python3
"""Writes cases of operators as the backend tests of ONNX lay them out.

usage: make_cases.py FOLDER

What those tests leave out: constant operands on both sides and of every rank,
extents that do not divide the lanes, selections along and off the data
dimension, several outputs, old versions of operators, operators newer than the
package. Expected values are numpy's, in double. One file of cases/ is a family
of operators.
"""
import pathlib
import shutil
import sys

from cases import (activations, arithmetic, attention, comparisons, dynamic, exports, functions, integers, linear, ml, placing,
                   positions, quantised_layers, random_fields, reductions, sampling, selecting, selections, shared_values,
                   unread_lanes, window_exports, windows)
from cases.common import Cases

# Random values are drawn in this order.
FAMILIES = (
    linear.linear, activations.activations, activations.softmax, arithmetic.arithmetic,
    selections.selections, functions.functions, reductions.reductions, reductions.normalisations,
    comparisons.comparisons, selections.views, linear.einsum, dynamic.dynamic_weights,
    reductions.factors, dynamic.rewrites, exports.exports,
    dynamic.free, positions.positions, positions.folds, windows.window_cases,
    window_exports.window_exports, windows.long_signals, selecting.choices, selecting.quantised,
    selecting.quantised_windows, selecting.powers, selecting.pooled_indices, linear.many_operands, attention.attention, attention.rotary,
    attention.microsoft, random_fields.fields, exports.statistics,
    sampling.transforms, sampling.grids, sampling.regions, sampling.small_matrices, sampling.rests,
    sampling.clipped_regions, sampling.statistics_of_the_batch, sampling.sequences, dynamic.computed_convolutions,
    selecting.computed_powers, attention.packed_heads,
    arithmetic.seldom, placing.blocks, placing.borders, placing.products, placing.affine_grids, placing.caches,
    placing.deformations, placing.region_maxima, placing.bits,
    integers.counts, integers.ranges, integers.selections,
    shared_values.products, unread_lanes.beyond, unread_lanes.slices, unread_lanes.constants, unread_lanes.offsets,
    unread_lanes.typical, ml.ml, quantised_layers.layers, quantised_layers.networks)


def main():
    folder = pathlib.Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    cases = Cases(folder)
    for family in FAMILIES:
        family(cases)
    print(f"{cases.count} cases")


if __name__ == "__main__":
    main()
