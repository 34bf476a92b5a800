"""Writes the ONNX model that a test file holds in ONNX's textual format.

usage: onnx_text.py TEST MODEL. Lines that start with // are not part of it.
"""
import sys

import onnx
import onnx.parser

with open(sys.argv[1]) as file:
    text = "".join(line for line in file if not line.startswith("//"))
onnx.save(onnx.parser.parse_model(text), sys.argv[2])
