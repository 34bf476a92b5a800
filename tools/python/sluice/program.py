"""Compiled programs, and the functions that call the command: compile, check, plan, profile, memory."""
from __future__ import annotations

import json
import os
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy.typing as npt

from . import _runtime
from .display import Table, pairs_html, timeline_svg
from .engine import Array, Engine, Given, Job, Port, held_inputs, signature_of
from .errors import Error, Problem, ProgramError, argument, printable, problems_of
from .keywords import in_python, keywords_of
from .tool import Extents, Keywords, Model, StrPath, Workspace, names_keywords, read_arguments, without_files


class Latency(NamedTuple):
    """Cycles of an inference: on an idle machine (spaced), right after another inference (contiguous), and between
    outputs with inputs queued (period)."""
    spaced: int
    contiguous: int
    period: int


@dataclass(frozen=True)
class Check:
    """Whether a model compiles, and if not, why. True if the model compiles."""
    ok: bool
    problems: Tuple[Problem, ...]
    notes: Tuple[str, ...]
    rewrites: Tuple[Dict[str, Any], ...]
    fixes: Tuple[Dict[str, Any], ...]  # flags and keywords with which the model compiles, the fewest cycles first
    text: str = field(repr=False)  # as the command prints it

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return "".join(problem._repr_html_() for problem in self.problems) or "<p>compiles</p>"


@dataclass(frozen=True)
class Plan:
    """What each core computes when, and where the cycles go."""
    text: str
    facts: Dict[str, Any] = field(repr=False)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        from html import escape
        return f"<pre>{escape(self.text)}</pre>"


@dataclass(frozen=True)
class Profile:
    """What every unit did in each cycle of an inference. docs/profiling.md explains the columns."""
    engine: str
    cycles: int
    clock_mhz: int
    clock_source: str  # source of clock_mhz; "nominal" if it is assumed
    layers: Table = field(repr=False)
    cores: Table = field(repr=False)
    units: Table = field(repr=False)
    instructions: Table = field(repr=False)
    events: List[Dict[str, Any]] = field(repr=False)  # for ui.perfetto.dev
    text: str = field(repr=False)  # as the command prints it

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return timeline_svg(self.events, self.cycles) + self.layers._repr_html_()


class Program:
    """A program file. It runs on an engine of its own, opened at first use; `open` opens more engines.

    >>> program = example_program()
    >>> program.run(x=np.ones((1, 8)))["y"].shape
    (1, 8)
    """

    def __init__(self, data: bytes, *, engine: str = "vm", model: Optional[str] = None, hold: Sequence[str] = (),
                 report: Optional[Dict[str, Any]] = None, plan: Optional[Tuple[Model, Keywords]] = None) -> None:
        self._data, self._report, self._plan = data, report or {}, plan
        self._program = _runtime.Program(data)
        self._engine_name = engine
        self._engine: Optional[Engine] = None
        self._opening = threading.Lock()
        machine, models = self._program.machine(), self._program.models()
        self.target: str = machine["target"]
        self.clock_mhz: int = machine["clock_mhz"]
        self.clock_source: str = machine["clock_source"]
        names = [one["name"] for one in models]
        if model is None and len(models) > 1:
            raise argument("E0602", f"the file has several models; choose one with model=: {', '.join(names)}")
        if model is not None and model not in names:
            raise argument("E0602", f"the file has no model '{model}', allowed: {', '.join(names)}")
        self._model = 0 if model is None else names.index(model)
        info = models[self._model]
        self.name: str = info["name"]
        self.macs: int = info["macs"]
        self.parameters: int = info["parameters"]
        self.inputs = tuple(Port(*port) for port in info["inputs"])
        self.outputs = tuple(Port(*port) for port in info["outputs"])
        self._hold = held_inputs(hold, self.inputs)
        self.__signature__ = signature_of(self.inputs, self._hold)

    def __repr__(self) -> str:
        ports = [", ".join(f"{p.name}{list(p.shape)}" for p in side) for side in (self.inputs, self.outputs)]
        return printable(f"<sluice.Program '{self.name}' for {self.target}: {ports[0]} -> {ports[1]}>")

    def _repr_html_(self) -> str:
        facts: Dict[str, Any] = {"target": self.target, "parameters": self.parameters, "bytes": len(self._data)}
        for kind, ports in (("input", self.inputs), ("output", self.outputs)):
            facts.update({f"{kind} {port.name}": f"{list(port.shape)}, data dimension {port.data_dim}" for port in ports})
        if self.latency:
            facts.update({f"{name}, cycles": value for name, value in self.latency._asdict().items()})
        return pairs_html(self.name, facts)

    def __bytes__(self) -> bytes:
        return self._data

    @classmethod
    def load(cls, path: Union[str, "os.PathLike[str]"], *, engine: str = "vm", model: Optional[str] = None,
             hold: Sequence[str] = ()) -> Program:
        """Reads a program file. `model` selects a model, if the file has several. `hold` are inputs that the engine keeps,
        so that later inferences may leave them out."""
        return cls(Path(path).read_bytes(), engine=engine, model=model, hold=hold)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the program file."""
        Path(path).write_bytes(self._data)

    @property
    def latency(self) -> Optional[Latency]:
        """The cycles that the compiler measured. None for a program that was loaded from a file."""
        found = self._report.get("latency")
        return Latency(found["spaced"], found["contiguous"], found["period"]) if found else None

    @property
    def notes(self) -> Tuple[str, ...]:
        """Notes of the compiler: accepted input that may not be what you meant."""
        return tuple(map(in_python, self._report.get("notes", ())))

    def open(self, engine: str = "vm", *, pacing: str = "queued", stall_limit: int = 10000,
             hold: Optional[Sequence[str]] = None) -> Engine:
        """Opens another engine, "vm" or "rtl", with this program. `pacing` says when an inference starts: "queued",
        "contiguous" or "spaced". `hold` are inputs that the engine keeps, those of the program if not given."""
        return Engine(self._program, engine, self.inputs, self.outputs, self._model, pacing, stall_limit,
                      self._hold if hold is None else hold)

    @property
    def engine(self) -> Engine:
        """The engine that the methods of this program use."""
        with self._opening:
            if self._engine is None:
                self._engine = self.open(self._engine_name)
            return self._engine

    def run(self, *inputs: Given, out: Optional[Mapping[str, Array]] = None,
            **named: npt.ArrayLike) -> Dict[str, Array]:
        """Runs one inference and returns its outputs by name. Give inputs in the order of the model, by name, or as one
        mapping."""
        return self.engine.run(*inputs, out=out, **named)

    __call__ = run

    def submit(self, *inputs: Given, out: Optional[Mapping[str, Array]] = None, **named: npt.ArrayLike) -> Job:
        """Starts an inference and returns at once; see Engine.submit."""
        return self.engine.submit(*inputs, out=out, **named)

    async def run_async(self, *inputs: Given, out: Optional[Mapping[str, Array]] = None,
                        **named: npt.ArrayLike) -> Dict[str, Array]:
        """Runs one inference without blocking the event loop."""
        return await self.engine.run_async(*inputs, out=out, **named)

    def steps(self, *inputs: Given, **named: npt.ArrayLike) -> Dict[str, Array]:
        """Runs one inference per step. Inputs and outputs have the steps as a new first axis."""
        return self.engine.steps(*inputs, **named)

    def submit_reset(self) -> Job:
        """Puts a reset into the queue; see Engine.submit_reset."""
        return self.engine.submit_reset()

    def set_seed(self, seed: int, inference: int = 0) -> None:
        """Sets the seed of the random numbers that every inference draws; see Engine.set_seed."""
        self.engine.set_seed(seed, inference)

    def reset(self) -> None:
        """Restarts the program with its initial state."""
        self.engine.reset()

    def save_state(self) -> bytes:
        """Returns the state that the last inference left."""
        return self.engine.save_state()

    def restore_state(self, state: bytes) -> None:
        """Continues from a saved state of this program file."""
        self.engine.restore_state(state)

    def memory(self) -> Table:
        """Returns how much of every memory of every core is used."""
        with Workspace() as workspace:
            return Table(workspace.json(["inspect", "-", "--memory"], self._data)[0]["memory"])

    def profile(self, engine: str = "vm", *, spacing: str = "spaced") -> Profile:
        """Runs an inference and returns what every unit did in each cycle."""
        with Workspace() as workspace:
            found, out, _ = workspace.json(["profile", "-", "--engine", engine, "--spacing", spacing, "--trace", "trace.json",
                                       "--model", self.name], self._data)
            events = json.loads((workspace.path / "trace.json").read_text())["traceEvents"]
        tables = {name: Table(found[name]) for name in ("layers", "cores", "units", "instructions")}
        return Profile(found["engine"], found["cycles"], found["clock_mhz"], found["clock_source"], events=events,
                       text=without_files(out).rstrip("\n"), **tables)

    def plan(self) -> Plan:
        """Explains how the program was planned. Works for programs that this package compiled."""
        if self._plan is None:
            raise argument("E0601", "a loaded program has no plan, call sluice.plan(model)")
        return _plan(*self._plan)


def _plan(model: Model, options: Keywords) -> Plan:
    with Workspace() as workspace:
        word, stdin = workspace.model(model)
        arguments = ["explain", "--plan", word, "--verbose", *workspace.flags(options)]
        facts, text, _ = workspace.json(arguments, stdin)
        return Plan(text, facts)


class Parts(NamedTuple):
    """A program, and the rest of its model as ONNX files; empty if there are no such nodes."""
    program: Program
    before: bytes
    behind: bytes
    inputs: Tuple[str, ...]  # of the whole model
    outputs: Tuple[str, ...]


def compile_parts(arguments: Keywords, rest: bool = False) -> Parts:
    """Compiles with the arguments of `compile`. Without `rest`, the program is the whole."""
    model, options = read_arguments(arguments)
    with Workspace() as workspace:
        word, stdin = workspace.model(model)
        more = ["--rest", "rest.onnx"] if rest else []
        report, *_ = workspace.json(["compile", word, "-o", "program.sluice", *more, *workspace.flags(options)], stdin)
        data = (workspace.path / "program.sluice").read_bytes()
        found = report.get("rest", {})
        before, behind = ((workspace.path / found[where]).read_bytes() if found.get(where) else b""
                          for where in ("before", "behind"))
    planned = {key: value for key, value in options.items() if key not in ("check", "calibrate", "require")}
    program = Program(data, engine=arguments["engine"], hold=arguments["hold"], report=report, plan=(model, planned))
    names = ([port.name for port in ports] for ports in (program.inputs, program.outputs))
    inputs, outputs = (tuple(found.get(kind, known)) for kind, known in zip(("inputs", "outputs"), names))
    return Parts(program, before, behind, inputs, outputs)


@names_keywords
def compile(model: Model, example_inputs: Any = None, *, # pylint: disable=redefined-builtin,unused-argument
            target: StrPath = "c6b32", inputs: Optional[Sequence[str]] = None,
            outputs: Optional[Sequence[str]] = None, input_shape: Optional[Mapping[str, Extents]] = None,
            bind: Optional[Mapping[str, npt.ArrayLike]] = None, state: Optional[Mapping[str, str]] = None,
            stream: Optional[Mapping[str, Union[int, Tuple[int, int]]]] = None, stream_delay: int = 0,
            data_dim: Optional[Mapping[str, int]] = None, core_partition: Optional[Mapping[str, Extents]] = None,
            allow_dynamic_weights: bool = False, rewrite_layout: bool = False, fix: bool = False,
            fixed_random: bool = False, io_only: bool = False, without_rewrite: Union[str, Sequence[str]] = (),
            external_data: Optional[StrPath] = None, name: Optional[str] = None, effort: str = "default",
            fit_seconds: int = 1, check: Union[int, str] = "auto",
            calibrate: Union[StrPath, Mapping[str, npt.ArrayLike], None] = None,
            require: Union[str, Sequence[str]] = (), engine: str = "vm", hold: Sequence[str] = ()) -> Program:
    """Compiles a model: a path, the bytes of an ONNX file, an onnx.ModelProto, or a torch.nn.Module with example inputs.
    The options are those of `sluice compile`. `engine` is the engine that the methods of the program use, and `hold` are
    inputs that it keeps, so that later inferences may leave them out.

    >>> program = compile(example_model(), target="c2b8")
    >>> program
    <sluice.Program 'example' for c2b8: x[1, 8] -> y[1, 8]>
    """
    return compile_parts(locals()).program


@names_keywords
def check(model: Model, example_inputs: Any = None, *, # pylint: disable=unused-argument
          target: StrPath = "c6b32", inputs: Optional[Sequence[str]] = None,
          outputs: Optional[Sequence[str]] = None, input_shape: Optional[Mapping[str, Extents]] = None,
          bind: Optional[Mapping[str, npt.ArrayLike]] = None, state: Optional[Mapping[str, str]] = None,
          stream: Optional[Mapping[str, Union[int, Tuple[int, int]]]] = None, stream_delay: int = 0,
          data_dim: Optional[Mapping[str, int]] = None, core_partition: Optional[Mapping[str, Extents]] = None,
          allow_dynamic_weights: bool = False, rewrite_layout: bool = False, fix: bool = False,
          fixed_random: bool = False, io_only: bool = False, without_rewrite: Union[str, Sequence[str]] = (),
          external_data: Optional[StrPath] = None, name: Optional[str] = None, effort: str = "default",
          fit_seconds: int = 1) -> Check:
    """Checks whether the model compiles. If not, the result holds all problems and their fixes.

    >>> check(example_model(), target="c2b8").ok
    True
    """
    model, options = read_arguments(locals())
    with Workspace() as workspace:
        word, stdin = workspace.model(model)
        found, out, said = workspace.json(["check", word, *workspace.flags(options)], stdin, check=False)
    fixes = tuple({**one, "keywords": keywords_of(one["flags"])} for one in found.get("fixes", ()))
    return Check(found["ok"], problems_of(found["errors"]), tuple(map(in_python, found.get("notes", ()))),
                 tuple(found.get("rewrites", ())), fixes, (said + in_python(out)).rstrip("\n"))


@names_keywords
def plan(model: Model, example_inputs: Any = None, *, # pylint: disable=unused-argument
         target: StrPath = "c6b32", inputs: Optional[Sequence[str]] = None,
         outputs: Optional[Sequence[str]] = None, input_shape: Optional[Mapping[str, Extents]] = None,
         bind: Optional[Mapping[str, npt.ArrayLike]] = None, state: Optional[Mapping[str, str]] = None,
         stream: Optional[Mapping[str, Union[int, Tuple[int, int]]]] = None, stream_delay: int = 0,
         data_dim: Optional[Mapping[str, int]] = None, core_partition: Optional[Mapping[str, Extents]] = None,
         allow_dynamic_weights: bool = False, rewrite_layout: bool = False, fix: bool = False,
         fixed_random: bool = False, io_only: bool = False, without_rewrite: Union[str, Sequence[str]] = (),
         external_data: Optional[StrPath] = None, name: Optional[str] = None, effort: str = "default",
         fit_seconds: int = 1) -> Plan:
    """Explains how the model is planned: what each core computes when, and where the cycles go."""
    return _plan(*read_arguments(locals()))


def targets() -> Table:
    """Returns the targets that models can be compiled for.

    >>> [target["name"] for target in targets()]
    ['c2b8', 'c3b64', 'c6b32', 'c6b32-deep', 'ecp5-85f']
    """
    with Workspace() as workspace:
        return Table(workspace.json(["targets"])[0]["targets"])


def ops() -> Table:
    """Returns the supported operators and what they require."""
    with Workspace() as workspace:
        return Table(workspace.json(["ops"])[0]["operators"])


def explain(code: str) -> str:
    """Returns the page of an error code.

    >>> print(explain("E0302").splitlines()[0])
    # E0302: a product with weights contracts an axis that is not the data dimension
    """
    with Workspace() as workspace:
        ended, text, said = workspace.call(["explain", code])
    if ended != 0:
        raise Error(said.strip(), [Problem("E0601", said.strip(), kind="argument")])
    return text


__all__ = ["Check", "Latency", "Plan", "Profile", "Program", "ProgramError", "check", "compile", "explain", "ops",
           "plan", "targets"]
