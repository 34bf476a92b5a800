"""Runs programs on an engine: NumPy arrays in, NumPy arrays out."""
from __future__ import annotations

import asyncio
import inspect
from keyword import iskeyword
from types import TracebackType
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Type, Union

import numpy as np
import numpy.typing as npt

from . import _runtime
from .errors import ArgumentError, KeywordError, argument

Array = npt.NDArray[Any]
Inputs = Mapping[str, npt.ArrayLike]
Given = Union[npt.ArrayLike, Inputs]

_PACING = {"queued": 0, "contiguous": 1, "spaced": 2}
_AS_THEY_ARE = tuple(map(np.dtype, (np.float32, np.float64, np.float16, np.bool_, np.int8, np.uint8, np.int16, np.uint16,
                                    np.int32, np.uint32, np.int64, np.uint64)))


class Port(NamedTuple):
    """An input or output of a program. `dtype` is its type in the model; float32 stands for bfloat16."""
    name: str
    shape: Tuple[int, ...]
    data_dim: int
    dtype: np.dtype[Any]


class Cycles(NamedTuple):
    """The cycles of a job, counted from the start of the engine (sluice_rt_job_cycles)."""
    first_input: int
    last_output: int
    latency: int
    interval: int


class Job:
    """One submitted inference."""

    def __init__(self, job: _runtime.Job, outputs: Dict[str, Array]) -> None:
        self._job = job
        self._outputs = outputs

    @property
    def done(self) -> bool:
        """True once the job has ended, with or without success."""
        return self._job.done()

    def result(self) -> Dict[str, Array]:
        """Waits for the job and returns its outputs by name."""
        self._job.wait()
        return self._outputs

    @property
    def cycles(self) -> Cycles:
        """The cycles of the job. The job must have succeeded."""
        return Cycles(*self._job.cycles())


def _names(ports: Sequence[Port]) -> str:
    return ", ".join(f"'{port.name}'" for port in ports) or "none"


def _array(value: npt.ArrayLike) -> Array:
    """Returns a contiguous array of a type that the runtime reads: the same array if it is one already."""
    array = np.asarray(value)
    if array.dtype not in _AS_THEY_ARE:
        if array.dtype.kind not in "fiub":
            raise argument("E0604", f"the array has elements of type {array.dtype}, allowed: real numbers")
        array = array.astype(np.float64 if array.dtype.kind == "f" else array.dtype.newbyteorder("="))
    return array if array.flags.c_contiguous else np.copy(array, order="C")


def signature_of(inputs: Sequence[Port], hold: Sequence[str] = ()) -> inspect.Signature:
    """Returns the signature of a call: one parameter for each input. An input that may be left out is a keyword. Names
    that are no parameters make the signature general."""
    kind, keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    names = [port.name for port in inputs]
    if not all(name.isidentifier() and not iskeyword(name) and name != "out" for name in names):
        return inspect.Signature([inspect.Parameter("inputs", inspect.Parameter.VAR_POSITIONAL),
                                  inspect.Parameter("out", keyword, default=None),
                                  inspect.Parameter("named", inspect.Parameter.VAR_KEYWORD)])
    return inspect.Signature([*(inspect.Parameter(name, kind) for name in names if name not in hold),
                              *(inspect.Parameter(name, keyword, default=None) for name in names if name in hold),
                              inspect.Parameter("out", keyword, default=None)])


def held_inputs(hold: Union[str, Sequence[str]], inputs: Sequence[Port]) -> Tuple[str, ...]:
    """Returns the names of the inputs that an engine keeps."""
    names = (hold,) if isinstance(hold, str) else tuple(hold)
    for name in names:
        if all(port.name != name for port in inputs):
            raise argument("E0602", f"the model has no input '{name}', allowed: {_names(inputs)}")
    return names


class Engine:
    """A program on an engine. The engines "vm" and "rtl" give the same bits in the same cycles. Several threads may use
    one engine.

    >>> program = example_program()
    >>> with program.open("vm") as engine:
    ...     job = engine.submit(x=np.ones((1, 8), np.float32))
    ...     job.result()["y"].shape
    (1, 8)
    """

    def __init__(self, program: _runtime.Program, name: str, inputs: Sequence[Port], outputs: Sequence[Port],
                 model: int = 0, pacing: str = "queued", stall_limit: int = 10000, hold: Sequence[str] = ()) -> None:
        if pacing not in _PACING:
            raise argument("E0601", f"the pacing is '{pacing}', allowed: {', '.join(_PACING)}")
        self.name, self.inputs, self.outputs = name, tuple(inputs), tuple(outputs)
        self._model, self._program = model, program
        self._hold = held_inputs(hold, inputs)
        self.__signature__ = signature_of(inputs, self._hold)
        self._engine = _runtime.Engine(name, program, _PACING[pacing], stall_limit)
        for index, port in enumerate(self.inputs):
            if port.name in self._hold:
                self._engine.keep_input(model, index)

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def _named(self, arrays: Sequence[Given], named: Inputs) -> Dict[str, npt.ArrayLike]:
        """Returns the arguments of a call by the name of the input."""
        if len(arrays) == 1 and isinstance(arrays[0], Mapping):
            return {**arrays[0], **named}
        if len(arrays) > len(self.inputs):
            raise argument("E0602", f"{len(arrays)} inputs are given, allowed: {len(self.inputs)} ({_names(self.inputs)})",
                           KeywordError)
        given: Dict[str, Any] = {port.name: array for port, array in zip(self.inputs, arrays)}
        for name in given:
            if name in named:
                raise argument("E0603", f"input '{name}' is given twice", KeywordError)
        return {**given, **named}

    def _ordered(self, given: Inputs, steps: Optional[int] = None) -> List[Optional[Array]]:
        """Returns the inputs in the order of the program. With `steps`, each has the steps as its first axis; one that the
        engine keeps may also have no such axis. None is one that the engine keeps and that is left out."""
        for name in given:
            if all(port.name != name for port in self.inputs):
                raise argument("E0602", f"the model has no input '{name}', allowed: {_names(self.inputs)}", KeywordError)
        arrays: List[Optional[Array]] = []
        for port in self.inputs:
            is_held = port.name in self._hold
            if is_held and given.get(port.name) is None:
                arrays.append(None)
                continue
            if port.name not in given:
                raise argument("E0603", f"input '{port.name}' {list(port.shape)} is not given", KeywordError)
            array = _array(given[port.name])
            shape = port.shape if steps is None else (steps, *port.shape)
            if array.shape != shape and not (is_held and array.shape == port.shape):
                raise argument("E0604", f"input '{port.name}' has shape {list(array.shape)}, allowed: "
                                        f"{list(port.shape)}" + (f", {list(shape)} for {steps} steps" if steps else ""))
            arrays.append(array)
        return arrays

    def _results(self, out: Optional[Mapping[str, Array]]) -> Dict[str, Array]:
        """Returns the arrays that outputs are written to: the caller's, or new ones."""
        if out is None:
            return {port.name: np.empty(port.shape, port.dtype) for port in self.outputs}
        for name in out:
            if all(port.name != name for port in self.outputs):
                raise argument("E0602", f"the model has no output '{name}', allowed: {_names(self.outputs)}")
        results = {port.name: out[port.name] if port.name in out else np.empty(port.shape, port.dtype)
                   for port in self.outputs}
        for port in self.outputs:
            if results[port.name].shape != port.shape:
                raise argument("E0604", f"output '{port.name}' has shape {list(results[port.name].shape)}, "
                                        f"allowed: {list(port.shape)}")
        return results

    def submit(self, *inputs: Given, out: Optional[Mapping[str, Array]] = None, **named: npt.ArrayLike) -> Job:
        """Starts an inference and returns at once. Give inputs in the order of the model, by name, or as one mapping;
        they are read before this function returns. `out` maps names of outputs to arrays to write: of the output's
        type, or of float16, float32 or float64."""
        results = self._results(out)
        arrays = self._ordered(self._named(inputs, named))
        return Job(self._engine.submit(self._model, arrays, list(results.values())), results)

    def run(self, *inputs: Given, out: Optional[Mapping[str, Array]] = None,
            **named: npt.ArrayLike) -> Dict[str, Array]:
        """Runs one inference and returns its outputs by name."""
        return self.submit(*inputs, out=out, **named).result()

    __call__ = run

    async def run_async(self, *inputs: Given, out: Optional[Mapping[str, Array]] = None,
                        **named: npt.ArrayLike) -> Dict[str, Array]:
        """Runs one inference without blocking the event loop."""
        job = self.submit(*inputs, out=out, **named)
        return await asyncio.get_running_loop().run_in_executor(None, job.result)

    def steps(self, *inputs: Given, **named: npt.ArrayLike) -> Dict[str, Array]:
        """Runs one inference per step. Inputs and outputs have the steps as a new first axis. An input that the engine
        keeps may have one value for all steps."""
        given = self._named(inputs, named)
        count = next((np.shape(value)[0] for name, value in given.items() if np.ndim(value) and name not in self._hold), 0)
        arrays = self._ordered(given, count)
        results = {port.name: np.empty((count, *port.shape), port.dtype) for port in self.outputs}

        def of_step(step: int) -> List[Optional[Array]]:
            return [array if array is None else array[step, ...] if array.shape != port.shape else array if step == 0 else None
                    for array, port in zip(arrays, self.inputs)]

        jobs = [self._engine.submit(self._model, of_step(step), [array[step, ...] for array in results.values()])
                for step in range(count)]
        for job in jobs:
            job.wait()
        return results

    def set_seed(self, seed: int, inference: int = 0) -> None:
        """Sets the seed of the random numbers that the program draws for every inference, and the number of the next
        inference among them. The number goes up by 1 with each inference; a reset sets it to 0."""
        self._engine.set_seed(seed, inference)

    def reset(self) -> None:
        """Restarts the program at cycle 0 with its initial state. Cancels pending jobs. The random numbers of the seed
        begin anew."""
        self._engine.reset()

    def submit_reset(self) -> Job:
        """Puts a reset into the queue: it begins after all inferences that were submitted before, and later ones wait for
        it. Its `cycles.latency` is the number of cycles that it takes."""
        return Job(self._engine.submit_reset(), {})

    def save_state(self) -> bytes:
        """Returns the state that the last inference left. No job may be pending."""
        return self._engine.save_state(self._program)

    def restore_state(self, state: bytes) -> None:
        """Continues from a saved state of the same program file."""
        self._engine.restore_state(state)

    def hold(self, on: bool = True) -> None:
        """Stops the clock of the machine; submitted jobs wait. hold(False) starts it again."""
        self._engine.hold(on)

    def counters(self) -> Dict[str, int]:
        """Returns the cycles, rows and jobs since the last reset, save or restore, and the cycles that took."""
        return self._engine.counters()

    def close(self) -> None:
        """Closes the engine. Cancels pending jobs."""
        self._engine.close()


__all__ = ["ArgumentError", "Cycles", "Engine", "Job", "Port"]
