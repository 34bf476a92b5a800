"""Compiled programs, and what is asked of the command: compile, check, plan, profile, memory."""
from __future__ import annotations

import json
import os
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Tuple, Union

import numpy.typing as npt

from . import _runtime
from .display import Table, pairs_html, timeline_svg
from .engine import Array, Engine, Inputs, Job, Port
from .errors import Error, Problem, ProgramError, argument, problems_of
from .tool import Model, Options, Workspace


class Latency(NamedTuple):
    """Cycles of an inference: from rest, right behind another, and from one to the next with inputs waiting."""
    spaced: int
    contiguous: int
    period: int


@dataclass(frozen=True)
class Check:
    """Whether a model compiles, and if not, why; true if it does."""
    ok: bool
    problems: Tuple[Problem, ...]
    notes: Tuple[str, ...]
    rewrites: Tuple[Dict[str, Any], ...]
    text: str = field(repr=False)  # as the command says it

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return "".join(problem._repr_html_() for problem in self.problems) or "<p>compiles</p>"


@dataclass(frozen=True)
class Plan:
    """Who computes what when, and where the cycles go."""
    text: str
    facts: Dict[str, Any] = field(repr=False)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        from html import escape
        return f"<pre>{escape(self.text)}</pre>"


@dataclass(frozen=True)
class Profile:
    """What every unit did in the cycles of an inference (docs/profiling.md names the columns)."""
    engine: str
    cycles: int
    clock_mhz: int
    layers: Table = field(repr=False)
    cores: Table = field(repr=False)
    units: Table = field(repr=False)
    instructions: Table = field(repr=False)
    events: List[Dict[str, Any]] = field(repr=False)  # of ui.perfetto.dev

    def _repr_html_(self) -> str:
        return timeline_svg(self.events, self.cycles) + self.layers._repr_html_()


class Program:
    """A program file. It runs on its own engine, opened when it is first needed; `open` gives others.

    >>> program = example_program()
    >>> program.run(x=np.ones((1, 8)))["y"].shape
    (1, 8)
    """

    def __init__(self, data: bytes, *, engine: str = "vm", model: Optional[str] = None,
                 report: Optional[Dict[str, Any]] = None, plan: Optional[Tuple[Model, Options]] = None) -> None:
        self._data, self._report, self._plan = data, report or {}, plan
        self._program = _runtime.Program(data)
        self._engine_name = engine
        self._engine: Optional[Engine] = None
        self._opening = threading.Lock()
        machine, models = self._program.machine(), self._program.models()
        self.target: str = machine["target"]
        self.clock_mhz: int = machine["clock_mhz"]
        names = [one["name"] for one in models]
        if model is None and len(models) > 1:
            raise argument("E0602", f"the file has several models, choose one: {', '.join(names)}")
        if model is not None and model not in names:
            raise argument("E0602", f"the file has no model '{model}', allowed: {', '.join(names)}")
        self._model = 0 if model is None else names.index(model)
        info = models[self._model]
        self.name: str = info["name"]
        self.macs: int = info["macs"]
        self.parameters: int = info["parameters"]
        self.inputs = tuple(Port(*port) for port in info["inputs"])
        self.outputs = tuple(Port(*port) for port in info["outputs"])

    def __repr__(self) -> str:
        ports = [", ".join(f"{p.name}{list(p.shape)}" for p in side) for side in (self.inputs, self.outputs)]
        return f"<sluice.Program '{self.name}' for {self.target}: {ports[0]} -> {ports[1]}>"

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
    def load(cls, path: Union[str, "os.PathLike[str]"], *, engine: str = "vm", model: Optional[str] = None) -> "Program":
        """Reads a program file; `model` says which, of several."""
        return cls(Path(path).read_bytes(), engine=engine, model=model)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the program file."""
        Path(path).write_bytes(self._data)

    @property
    def latency(self) -> Optional[Latency]:
        """What compiling measured; none of a program that was loaded."""
        found = self._report.get("latency")
        return Latency(found["spaced"], found["contiguous"], found["period"]) if found else None

    @property
    def notes(self) -> Tuple[str, ...]:
        """What the compiler accepted that may not be meant."""
        return tuple(self._report.get("notes", ()))

    def open(self, engine: str = "vm", *, pacing: str = "queued", stall_limit: int = 10000) -> Engine:
        """Another engine with this program, "vm" or "rtl". The pacing says when an input is offered: "queued",
        "contiguous" or "spaced"."""
        return Engine(self._program, engine, self.inputs, self.outputs, self._model, pacing, stall_limit)

    @property
    def engine(self) -> Engine:
        """The program's own."""
        with self._opening:
            if self._engine is None:
                self._engine = self.open(self._engine_name)
            return self._engine

    def run(self, inputs: Optional[Inputs] = None, /, *, out: Optional[Mapping[str, Array]] = None,
            **named: npt.ArrayLike) -> Dict[str, Array]:
        """One inference: its outputs by name."""
        return self.engine.run(inputs, out=out, **named)

    def submit(self, inputs: Optional[Inputs] = None, /, *, out: Optional[Mapping[str, Array]] = None,
               **named: npt.ArrayLike) -> Job:
        """Starts an inference and returns at once (Engine.submit)."""
        return self.engine.submit(inputs, out=out, **named)

    async def run_async(self, inputs: Optional[Inputs] = None, /, *, out: Optional[Mapping[str, Array]] = None,
                        **named: npt.ArrayLike) -> Dict[str, Array]:
        """One inference that other tasks run beside of."""
        return await self.engine.run_async(inputs, out=out, **named)

    def steps(self, inputs: Optional[Inputs] = None, /, **named: npt.ArrayLike) -> Dict[str, Array]:
        """Inferences one after the other: inputs and outputs have the steps as a new first axis."""
        return self.engine.steps(inputs, **named)

    def reset(self) -> None:
        """Back to the initial state."""
        self.engine.reset()

    def save_state(self) -> bytes:
        """The state as it is between inferences."""
        return self.engine.save_state()

    def restore_state(self, state: bytes) -> None:
        """Goes on from a state that was saved, of this program file."""
        self.engine.restore_state(state)

    def memory(self) -> Table:
        """What every memory of every core holds."""
        with Workspace() as workspace:
            return Table(workspace.json(["inspect", "-", "--memory"], self._data)[0]["memory"])

    def profile(self, engine: str = "vm", *, spacing: str = "spaced") -> Profile:
        """What every unit does in each cycle of an inference."""
        with Workspace() as workspace:
            found, _ = workspace.json(["profile", "-", "--engine", engine, "--spacing", spacing, "--trace", "trace.json",
                                       "--model", self.name], self._data)
            events = json.loads((workspace.path / "trace.json").read_text())["traceEvents"]
        tables = {name: Table(found[name]) for name in ("layers", "cores", "units", "instructions")}
        return Profile(found["engine"], found["cycles"], found["clock_mhz"], events=events, **tables)

    def plan(self) -> Plan:
        """Why the program is as it is; of a program that was compiled here, from the same model."""
        if self._plan is None:
            raise argument("E0601", "a loaded program does not say how it was planned; sluice.plan(model) does")
        return _plan(*self._plan)


def _plan(model: Model, options: Options) -> Plan:
    with Workspace() as workspace:
        word, stdin = workspace.model(model)
        arguments = ["explain", "--plan", word, *workspace.flags(options)]
        facts, _ = workspace.json(arguments, stdin)
        return Plan(workspace.call(arguments, stdin)[1], facts)


def compile(model: Model, *, engine: str = "vm", **options: Any) -> Program:  # pylint: disable=redefined-builtin
    """Compiles a model: a path, the bytes of an ONNX file, or an onnx.ModelProto. Options are those of
    sluice.Options; `engine` is where the program's own methods run it.

    >>> program = compile(example_model(), target="c2b8")
    >>> program
    <sluice.Program 'example' for c2b8: x[1, 8] -> y[1, 8]>
    """
    return compile_with(model, Options(**options), engine)


def compile_with(model: Model, options: Options, engine: str = "vm") -> Program:
    """The same, with options that are kept together."""
    with Workspace() as workspace:
        word, stdin = workspace.model(model)
        report, _ = workspace.json(["compile", word, "-o", "program.sluice", *workspace.flags(options)], stdin)
        data = (workspace.path / "program.sluice").read_bytes()
    return Program(data, engine=engine, report=report, plan=(model, options))


def check(model: Model, **options: Any) -> Check:
    """Whether the model compiles; if not, all its problems with what can be done.

    >>> check(example_model(), target="c2b8").ok
    True
    """
    with Workspace() as workspace:
        word, stdin = workspace.model(model)
        found, said = workspace.json(["check", word, *workspace.flags(Options(**options))], stdin, check=False)
    return Check(found["ok"], problems_of(found["errors"]), tuple(found.get("notes", ())),
                 tuple(found.get("rewrites", ())), said)


def plan(model: Model, **options: Any) -> Plan:
    """How the model would be planned: who computes what when, and where the cycles go."""
    return _plan(model, Options(**options))


def targets() -> Table:
    """The machines a model can be compiled for.

    >>> [target["name"] for target in targets()]
    ['c2b8', 'c3b64', 'c6b32', 'c6b32-deep']
    """
    with Workspace() as workspace:
        return Table(workspace.json(["targets"])[0]["targets"])


def ops() -> Table:
    """The supported operators and what they require."""
    with Workspace() as workspace:
        return Table(workspace.json(["ops"])[0]["operators"])


def explain(code: str) -> str:
    """The long text of an error code.

    >>> print(explain("E0302").splitlines()[0])
    # E0302: a product with weights contracts an axis that is not the data dimension
    """
    with Workspace() as workspace:
        ended, text, said = workspace.call(["explain", code])
    if ended != 0:
        raise Error(said.strip(), [Problem("E0601", said.strip())])
    return text


__all__ = ["Check", "Latency", "Plan", "Profile", "Program", "ProgramError", "check", "compile", "compile_with", "explain",
           "ops", "plan", "targets"]
