"""Programs, engines and jobs of the C API, with NumPy arrays."""
from __future__ import annotations

import ctypes
import threading
import weakref
from collections import deque
from typing import Any, Deque, Dict, List, Optional, Sequence, Tuple, Type, TypeVar

import numpy as np
import numpy.typing as npt

from . import _library
from .errors import argument, of_status

Array = npt.NDArray[Any]
Port = Tuple[str, Tuple[int, ...], int, "np.dtype[Any]"]

_rt = _library.load()
_OK, _PENDING = 0, 1

# sluice_rt_type of a dtype. NumPy has no bfloat16, type 2; float32 has all its numbers.
_TYPES: "Dict[np.dtype[Any], int]" = {np.dtype(kind): number for kind, number in (
    (np.float32, 1), (np.float16, 3), (np.float64, 4), (np.int8, 5), (np.uint8, 6), (np.int16, 7), (np.uint16, 8),
    (np.int32, 9), (np.uint32, 10), (np.int64, 11), (np.uint64, 12), (np.bool_, 13))}
_DTYPES = {**{number: dtype for dtype, number in _TYPES.items()}, 2: np.dtype(np.float32)}

_Struct = TypeVar("_Struct", bound=ctypes.Structure)


def _sized(kind: Type[_Struct]) -> _Struct:
    """Returns an empty struct for the library to fill."""
    return kind(ctypes.sizeof(kind))


def _check(status: int) -> None:
    if status != _OK:
        # The message belongs to this thread, so no other thread can change it meanwhile.
        raise of_status(status, _rt.sluice_rt_last_error_code().decode(), _rt.sluice_rt_last_error().decode())


class Program:
    """A loaded program."""

    def __init__(self, data: bytes) -> None:
        handle = ctypes.c_void_p()
        _check(_rt.sluice_rt_program_load_buffer(data, len(data), ctypes.byref(handle)))
        self.handle = handle
        weakref.finalize(self, _rt.sluice_rt_program_release, handle)

    def machine(self) -> Dict[str, Any]:
        info = _sized(_library.Machine)
        _check(_rt.sluice_rt_program_machine(self.handle, info))
        return {"target": info.target.decode(), "cores": info.cores, "lanes": info.lanes, "clock_mhz": info.clock_mhz,
                "clock_source": info.clock_source.decode()}

    def models(self) -> List[Dict[str, Any]]:
        count = ctypes.c_uint32()
        _check(_rt.sluice_rt_program_models(self.handle, count))
        return [self._model(model) for model in range(count.value)]

    def _model(self, model: int) -> Dict[str, Any]:
        info = _sized(_library.ModelInfo)
        _check(_rt.sluice_rt_program_model(self.handle, model, info))
        return {"name": info.name.decode(), "macs": info.macs, "parameters": info.parameters,
                "random_draws": info.random_draws,
                "inputs": [self._port(_rt.sluice_rt_program_input, model, port) for port in range(info.inputs)],
                "outputs": [self._port(_rt.sluice_rt_program_output, model, port) for port in range(info.outputs)]}

    def _port(self, query: Any, model: int, port: int) -> Port:
        info = _sized(_library.TensorInfo)
        _check(query(self.handle, model, port, info))
        return info.name.decode(), tuple(info.shape[:info.rank]), info.data_dim, _DTYPES[info.type]

    def state_size(self) -> int:
        size = ctypes.c_size_t()
        _check(_rt.sluice_rt_program_state_size(self.handle, size))
        return size.value


class Job:
    """A submitted inference."""

    def __init__(self, handle: ctypes.c_void_p) -> None:
        self._handle = handle

    def __del__(self, release: Any = _rt.sluice_rt_job_release) -> None:
        release(self._handle)

    def done(self) -> bool:
        return bool(_rt.sluice_rt_job_poll(self._handle) != _PENDING)

    def wait(self) -> None:
        """Waits for the end. Other threads run meanwhile, and Ctrl-C ends the wait."""
        signal_ms = 50 # the interpreter looks for signals between calls
        while True:
            status = _rt.sluice_rt_job_wait_for(self._handle, signal_ms)
            if status != _PENDING:
                return _check(status)

    def cycles(self) -> Tuple[int, int, int, int]:
        found = _sized(_library.JobCycles)
        _check(_rt.sluice_rt_job_cycles_of(self._handle, found))
        return found.first_input, found.last_output, found.latency, found.interval


class _Pending:
    """A job and the arrays that it writes, which must live until it has ended."""

    def __init__(self, outputs: Sequence[Array]) -> None:
        self.outputs = outputs
        self.job: Optional[Job] = None

    def is_done(self) -> bool:
        return self.job is not None and self.job.done()


def _close(device: ctypes.c_void_p, pending: Deque[_Pending]) -> None:
    """Closes the device. Its jobs write no more, so their arrays may go."""
    _rt.sluice_rt_device_close(device)
    pending.clear()


class _Device:
    """An open device. Closes when no call uses it any more."""

    def __init__(self, name: str) -> None:
        self.handle = ctypes.c_void_p()
        _check(_rt.sluice_rt_device_open(name.encode(), ctypes.byref(self.handle)))
        self.pending: Deque[_Pending] = deque()
        self.lock = threading.Lock()
        weakref.finalize(self, _close, self.handle, self.pending)


def _buffers(arrays: Sequence[Optional[Array]]) -> Any:
    """Returns the arrays as structs of the C API. None is an input that is left out."""
    buffers = (_library.Buffer * len(arrays))()
    for buffer, array in zip(buffers, arrays):
        if array is None:
            buffer.size, buffer.type = ctypes.sizeof(_library.Buffer), _TYPES[np.dtype(np.float32)]
            continue
        if not array.flags.c_contiguous:
            raise argument("E0604", "the array is not contiguous")
        kind = _TYPES.get(array.dtype)
        if kind is None:
            raise argument("E0604", f"the array has elements of type {array.dtype}, allowed: real numbers")
        buffer.size, buffer.data = ctypes.sizeof(_library.Buffer), array.__array_interface__["data"][0]
        buffer.bytes, buffer.type = array.nbytes, kind
    return buffers


class Engine:
    """A device with a loaded program."""

    def __init__(self, name: str, program: Program, pacing: int, stall_limit: int) -> None:
        device = _Device(name)
        _check(_rt.sluice_rt_device_set_pacing(device.handle, pacing))
        _check(_rt.sluice_rt_device_set_stall_limit(device.handle, stall_limit))
        _check(_rt.sluice_rt_device_load(device.handle, program.handle))
        self._device: Optional[_Device] = device

    def submit(self, model: int, inputs: Sequence[Optional[Array]], outputs: Sequence[Array]) -> Job:
        device = self._opened()
        for array in outputs:
            if not array.flags.writeable:
                raise argument("E0604", "the array is read-only")
        read, written = _buffers(inputs), _buffers(outputs)
        jobs = device.pending
        with device.lock: # a thread must not remove what another one has looked at
            while jobs and jobs[0].is_done():
                jobs.popleft()
        pending, handle = _Pending(outputs), ctypes.c_void_p()
        jobs.append(pending) # before the job begins to write
        status = _rt.sluice_rt_submit(device.handle, model, read, len(read), written, len(written), None, ctypes.byref(handle))
        if status != _OK:
            jobs.remove(pending)
            _check(status)
        pending.job = Job(handle)
        return pending.job

    def submit_reset(self) -> Job:
        handle = ctypes.c_void_p()
        _check(_rt.sluice_rt_submit_reset(self._opened().handle, None, ctypes.byref(handle)))
        return Job(handle)

    def keep_input(self, model: int, port: int) -> None:
        _check(_rt.sluice_rt_device_keep_input(self._opened().handle, model, port, 1))

    def set_seed(self, seed: int, inference: int) -> None:
        for name, value in (("seed", seed), ("inference", inference)):
            if not 0 <= value < 1 << 64:
                raise argument("E0604", f"the {name} is {value}, allowed: 0 to 2**64 - 1")
        _check(_rt.sluice_rt_device_set_seed(self._opened().handle, seed, inference))

    def reset(self) -> None:
        _check(_rt.sluice_rt_device_reset(self._opened().handle))

    def save_state(self, program: Program) -> bytes:
        device = self._opened()
        state = ctypes.create_string_buffer(program.state_size())
        _check(_rt.sluice_rt_device_save_state(device.handle, state, len(state)))
        return state.raw

    def restore_state(self, state: bytes) -> None:
        _check(_rt.sluice_rt_device_restore_state(self._opened().handle, state, len(state)))

    def hold(self, on: bool) -> None:
        _check(_rt.sluice_rt_device_hold(self._opened().handle, 1 if on else 0))

    def counters(self) -> Dict[str, int]:
        found = _sized(_library.Counters)
        _check(_rt.sluice_rt_device_counters(self._opened().handle, found))
        return {name: getattr(found, name) for name, *_ in _library.Counters._fields_[1:]}

    def close(self) -> None:
        """Cancels pending jobs, once no other call uses the engine any more."""
        self._device = None

    def _opened(self) -> _Device:
        device = self._device
        if device is None:
            raise argument("E0604", "the engine is closed")
        return device
