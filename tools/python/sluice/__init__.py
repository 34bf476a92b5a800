"""Sluice from Python: compile ONNX models for the accelerator and run them on its engines.

>>> program = compile(example_model(), target="c2b8")
>>> y = program.run(x=np.zeros((1, 8)))["y"]
"""
from ._runtime import version as __version__
from .display import Table
from .engine import Cycles, Engine, Job, Port
from .errors import ArgumentError, ChainStep, CompileError, Error, Fix, Node, Problem, ProgramError, RunError
from .program import (Check, Latency, Plan, Profile, Program, check, compile, compile_with, explain, ops, plan,
                      targets)
from .tool import Options

__all__ = ["ArgumentError", "ChainStep", "Check", "CompileError", "Cycles", "Engine", "Error", "Fix", "Job", "Latency",
           "Node", "Options", "Plan", "Port", "Problem", "Profile", "Program", "ProgramError", "RunError", "Table",
           "__version__", "check", "compile", "compile_with", "explain", "ops", "plan", "targets"]
