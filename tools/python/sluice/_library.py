"""Loads libsluice_rt, the C API, with ctypes. It depends on no interpreter, so one package serves all of them."""
from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any, List, Tuple, Type

API_VERSION = 2
_NAME = f"libsluice_rt.so.{API_VERSION}"


class Machine(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("target", c_char_p), ("cores", c_uint32), ("lanes", c_uint32), ("clock_mhz", c_uint32),
                ("clock_source", c_char_p)]


class ModelInfo(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("inputs", c_uint32), ("outputs", c_uint32), ("macs", c_uint64),
                ("parameters", c_uint64), ("random_draws", c_uint32)]


class TensorInfo(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("type", c_int), ("rank", c_uint32), ("shape", POINTER(c_int64)),
                ("data_dim", c_uint32), ("elements", c_uint64), ("low", c_int64), ("high", c_int64)]


class Buffer(ctypes.Structure):
    """sluice_rt_input and sluice_rt_output."""
    _fields_ = [("size", c_size_t), ("data", c_void_p), ("bytes", c_size_t), ("type", c_int)]


class Counters(ctypes.Structure):
    _fields_ = [("size", c_size_t), *((name, c_uint64) for name in
                ("cycles", "input_rows", "output_rows", "jobs_submitted", "jobs_completed", "switch_cycles"))]


class JobCycles(ctypes.Structure):
    _fields_ = [("size", c_size_t), *((name, c_uint64) for name in ("first_input", "last_output", "latency", "interval"))]


_HANDLE, _NEW = c_void_p, POINTER(c_void_p)

# Parameters of the functions that return a status.
_STATUS = {
    "program_load_buffer": (c_char_p, c_size_t, _NEW),
    "program_machine": (_HANDLE, POINTER(Machine)),
    "program_models": (_HANDLE, POINTER(c_uint32)),
    "program_model": (_HANDLE, c_uint32, POINTER(ModelInfo)),
    "program_input": (_HANDLE, c_uint32, c_uint32, POINTER(TensorInfo)),
    "program_output": (_HANDLE, c_uint32, c_uint32, POINTER(TensorInfo)),
    "program_state_size": (_HANDLE, POINTER(c_size_t)),
    "device_open": (c_char_p, _NEW),
    "device_set_pacing": (_HANDLE, c_int),
    "device_set_stall_limit": (_HANDLE, c_uint64),
    "device_set_seed": (_HANDLE, c_uint64, c_uint64),
    "device_load": (_HANDLE, _HANDLE),
    "device_reset": (_HANDLE,),
    "device_keep_input": (_HANDLE, c_uint32, c_uint32, c_int),
    "device_hold": (_HANDLE, c_int),
    "device_counters": (_HANDLE, POINTER(Counters)),
    "device_save_state": (_HANDLE, c_void_p, c_size_t),
    "device_restore_state": (_HANDLE, c_char_p, c_size_t),
    "submit": (_HANDLE, c_uint32, POINTER(Buffer), c_uint32, POINTER(Buffer), c_uint32, c_void_p, _NEW),
    "submit_reset": (_HANDLE, c_void_p, _NEW),
    "job_poll": (_HANDLE,),
    "job_wait_for": (_HANDLE, c_uint32),
    "job_cycles_of": (_HANDLE, POINTER(JobCycles)),
}

# The other functions: parameters and result.
_OTHER: "dict[str, Tuple[Tuple[Type[Any], ...], Any]]" = {
    "api_version": ((), c_uint32),
    "last_error": ((), c_char_p),
    "last_error_code": ((), c_char_p),
    "program_release": ((_HANDLE,), None),
    "device_close": ((_HANDLE,), None),
    "job_release": ((_HANDLE,), None),
}


def _candidates() -> List[str]:
    """Returns where the library may be: $SLUICE_RT, the wheel, the prefix of the package, the linker's folders."""
    package = Path(__file__).resolve().parent
    paths = [os.environ.get("SLUICE_RT"), package / _NAME, package.parents[2] / _NAME]
    return [*(str(path) for path in paths if path and Path(path).exists()), _NAME]


def load() -> ctypes.CDLL:
    """Loads the library and declares its functions. ctypes releases the interpreter's lock during every call."""
    path = _candidates()[0]
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"the runtime of sluice cannot be loaded: {error}; set SLUICE_RT to the path of {_NAME}") from None
    if not hasattr(library, "sluice_rt_api_version") or library.sluice_rt_api_version() != API_VERSION:
        raise ImportError(f"{path} is not the runtime of sluice; set SLUICE_RT to the path of {_NAME}")
    for name, parameters in _STATUS.items():
        getattr(library, f"sluice_rt_{name}").argtypes = parameters
    for name, (parameters, result) in _OTHER.items():
        function = getattr(library, f"sluice_rt_{name}")
        function.argtypes, function.restype = parameters, result
    return library
