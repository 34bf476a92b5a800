"""Sluice from Python: compile ONNX models for the accelerator and run them on its engines.

>>> program = compile(example_model(), target="c2b8")
>>> y = program.run(x=np.zeros((1, 8)))["y"]
"""
import sys

if sys.version_info < (3, 9): # before any import that an older interpreter cannot read
    raise ImportError("sluice needs Python 3.9 or newer, %s is Python %d.%d" % ((sys.executable,) + sys.version_info[:2]))
try:
    import numpy as _numpy
except ImportError:
    raise ImportError("sluice needs NumPy 1.24 or newer; type: %s -m pip install numpy" % sys.executable) from None

from ._version import version as __version__
from .comparison import Comparison, compare
from .difference import Difference, diff
from .display import Table
from .engine import Cycles, Engine, Job, Port
from .errors import ArgumentError, ChainStep, CompileError, Error, Fix, KeywordError, Node, Problem, ProgramError, RunError
from .pipeline import Pipeline
from .program import Check, Latency, Plan, Profile, Program, check, compile, explain, ops, plan, targets
from .reduction import Reduction, reduce

__all__ = ["ArgumentError", "ChainStep", "Check", "Comparison", "CompileError", "Cycles", "Difference", "Engine", "Error",
           "Fix", "Job", "KeywordError", "Latency", "Node", "Pipeline", "Plan", "Port", "Problem", "Profile", "Program",
           "ProgramError", "Reduction", "RunError", "Table", "__version__", "check", "compare", "compile", "diff", "explain",
           "ops", "plan", "reduce", "targets"]
