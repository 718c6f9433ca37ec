# SPDX-License-Identifier: Apache-2.0
"""libqrt: finds it, loads it, and declares the part of qrt/qrt.h that this package calls.

ctypes.CDLL lets go of the interpreter's lock during each call. tests/python/header_test.py compares
structs and numbers with the header.
"""
from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_char, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p

from ._errors import from_status
from ._version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_RANK = 8


class ErrorMessage(ctypes.Structure):
    _fields_ = [("message", c_char * 512)]


class Quantization(ctypes.Structure):
    _fields_ = [("scale", POINTER(ctypes.c_float)), ("zero_point", POINTER(c_int32)),
                ("count", c_size_t), ("axis", c_int)]


class _Sized(ctypes.Structure):
    """A struct that begins with its own size; all else is 0, as qrt_struct_init() leaves it."""

    def __init__(self) -> None:
        super().__init__(ctypes.sizeof(self))


class TensorInfo(_Sized):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("dtype", c_int), ("rank", c_int),
                ("dims", POINTER(c_int64)), ("bytes", c_size_t),
                ("quantization", POINTER(Quantization)), ("layout", c_int),
                ("dim_names", POINTER(c_char_p))]


class Dim(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", c_int64)]


class DimInfo(_Sized):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("default_size", c_int64), ("least", c_int64),
                ("most", c_int64), ("step", c_int64)]


class LoadOptions(_Sized):
    _fields_ = [("struct_size", c_size_t), ("flags", ctypes.c_uint), ("max_memory", c_size_t),
                ("log", c_void_p), ("log_context", c_void_p)]


class ModelInfo(_Sized):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("reference", c_char_p), ("level", c_int),
                ("default_batch", c_size_t), ("op_count", c_size_t), ("file_bytes", c_size_t),
                ("shared_memory", c_size_t)]


class SessionInfo(_Sized):
    _fields_ = [("struct_size", c_size_t), ("isa", c_char_p), ("threads", c_size_t), ("batch", c_size_t),
                ("dims", POINTER(Dim)), ("dim_count", c_size_t), ("memory", c_size_t),
                ("block_bytes", c_size_t), ("block_alignment", c_size_t), ("shared_memory", c_size_t)]


class SessionOptions(_Sized):
    _fields_ = [("struct_size", c_size_t), ("batch", c_size_t), ("dims", POINTER(Dim)),
                ("dim_count", c_size_t), ("threads", c_size_t),
                ("isa", c_char_p), ("profile", c_int), ("keep_all", c_int),
                ("pthreadpool", c_void_p), ("parallel", c_void_p), ("parallel_context", c_void_p),
                ("kernels", c_char_p), ("max_memory", c_size_t), ("pool", c_void_p),
                ("external_inputs", POINTER(c_size_t)), ("external_input_count", c_size_t),
                ("external_outputs", POINTER(c_size_t)), ("external_output_count", c_size_t),
                ("allocate", c_void_p), ("release", c_void_p), ("allocator_context", c_void_p),
                ("log", c_void_p), ("log_context", c_void_p),
                ("max_dims", POINTER(Dim)), ("max_dim_count", c_size_t), ("private_plans", c_int)]


class OpInfo(_Sized):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("type", c_char_p), ("source_op", c_char_p),
                ("kernel", c_char_p), ("level", c_int), ("macs", c_uint64), ("bytes", c_uint64),
                ("total_ns", c_uint64), ("runs", c_uint64), ("constant_bytes", c_uint64),
                ("runs_in", c_size_t)]


# name: (result, arguments)
FUNCTIONS = {
    "qrt_version": (c_char_p, []),
    "qrt_isa": (c_char_p, [c_size_t]),
    "qrt_dtype_name": (c_char_p, [c_int]),
    "qrt_model_load_file": (c_int, [c_char_p, POINTER(LoadOptions), POINTER(c_void_p),
                                    POINTER(ErrorMessage)]),
    "qrt_model_load_memory": (c_int, [c_void_p, c_size_t, POINTER(LoadOptions), POINTER(c_void_p),
                                      POINTER(ErrorMessage)]),
    "qrt_model_destroy": (None, [c_void_p]),
    "qrt_model_input_count": (c_size_t, [c_void_p]),
    "qrt_model_output_count": (c_size_t, [c_void_p]),
    "qrt_model_input_info": (c_int, [c_void_p, c_size_t, POINTER(TensorInfo)]),
    "qrt_model_output_info": (c_int, [c_void_p, c_size_t, POINTER(TensorInfo)]),
    "qrt_model_get_info": (c_int, [c_void_p, POINTER(ModelInfo)]),
    "qrt_model_dim_count": (c_size_t, [c_void_p]),
    "qrt_model_dim_info": (c_int, [c_void_p, c_size_t, POINTER(DimInfo)]),
    "qrt_model_metadata": (c_char_p, [c_void_p, c_char_p]),
    "qrt_model_metadata_key": (c_char_p, [c_void_p, c_size_t]),
    "qrt_pool_create": (c_int, [c_size_t, POINTER(c_void_p), POINTER(ErrorMessage)]),
    "qrt_pool_threads": (c_size_t, [c_void_p]),
    "qrt_pool_destroy": (None, [c_void_p]),
    "qrt_session_create": (c_int, [c_void_p, POINTER(SessionOptions), POINTER(c_void_p),
                                   POINTER(ErrorMessage)]),
    "qrt_session_destroy": (None, [c_void_p]),
    "qrt_session_reshape": (c_int, [c_void_p, POINTER(Dim), c_size_t, POINTER(ErrorMessage)]),
    "qrt_session_input_info": (c_int, [c_void_p, c_size_t, POINTER(TensorInfo)]),
    "qrt_session_output_info": (c_int, [c_void_p, c_size_t, POINTER(TensorInfo)]),
    "qrt_session_input_data": (c_void_p, [c_void_p, c_size_t]),
    "qrt_session_output_data": (c_void_p, [c_void_p, c_size_t]),
    "qrt_session_output_count": (c_size_t, [c_void_p, c_size_t]),
    "qrt_session_bind_input": (c_int, [c_void_p, c_size_t, c_void_p, c_size_t,
                                       POINTER(ErrorMessage)]),
    "qrt_session_bind_output": (c_int, [c_void_p, c_size_t, c_void_p, c_size_t,
                                        POINTER(ErrorMessage)]),
    "qrt_session_run": (c_int, [c_void_p, POINTER(ErrorMessage)]),
    "qrt_session_cancel": (None, [c_void_p]),
    "qrt_session_reset": (c_int, [c_void_p]),
    "qrt_session_state_count": (c_size_t, [c_void_p]),
    "qrt_session_state_info": (c_int, [c_void_p, c_size_t, POINTER(TensorInfo)]),
    "qrt_session_get_state": (c_int, [c_void_p, c_size_t, c_void_p, c_size_t,
                                      POINTER(ErrorMessage)]),
    "qrt_session_set_state": (c_int, [c_void_p, c_size_t, c_void_p, c_size_t,
                                      POINTER(ErrorMessage)]),
    "qrt_session_get_info": (c_int, [c_void_p, POINTER(SessionInfo)]),
    "qrt_session_op_count": (c_size_t, [c_void_p]),
    "qrt_session_op_info": (c_int, [c_void_p, c_size_t, POINTER(OpInfo)]),
    "qrt_session_profile_reset": (None, [c_void_p]),
    "qrt_session_tensor_count": (c_size_t, [c_void_p]),
    "qrt_session_tensor": (c_int, [c_void_p, c_size_t, POINTER(TensorInfo), POINTER(c_void_p)]),
}
_SERIES = ".".join(__version__.split(".")[:2])  # of libraries with one interface
LOAD_COPY = 1
LOAD_CHECK = 2
STATUS_NAMES = ("OK", "INVALID_ARGUMENT", "INVALID_MODEL", "UNSUPPORTED", "OUT_OF_MEMORY",
                "IO_ERROR", "INTERNAL", "CANCELLED", "OUT_OF_RANGE")


def _load() -> tuple[ctypes.CDLL, str]:
    """QRT_LIBRARY names the file; else the one in the wheel, else the system's."""
    given = os.environ.get("QRT_LIBRARY")
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", "libqrt.so")
    path = given or (beside if os.path.exists(beside) else f"libqrt.so.{_SERIES}")
    try:
        lib = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"qrt: libqrt cannot be loaded: {error}. Install the wheel, or set "
                          "QRT_LIBRARY to the path of libqrt.so") from None
    for name, (result, arguments) in FUNCTIONS.items():
        try:
            function = getattr(lib, name)
        except AttributeError:
            raise ImportError(f"qrt: {path} has no {name}: it is no libqrt of version "
                              f"{__version__}") from None
        function.restype, function.argtypes = result, arguments
    found = text(lib.qrt_version())
    if ".".join(found.split(".")[:2]) != _SERIES:
        raise ImportError(f"qrt: {path} is libqrt {found}, the Python package {__version__}")
    return lib, path


def text(value: bytes | None) -> str:
    """Names come from model files and may hold any bytes."""
    return value.decode("utf-8", "surrogateescape") if value else ""


lib, _path = _load()


def call(function: Any, *arguments: Any) -> None:
    """Calls a function that returns a status and takes a qrt_error last."""
    error = ErrorMessage()
    status = function(*arguments, ctypes.byref(error))
    if status:
        raise from_status(status, text(error.message) or STATUS_NAMES[status])


class Handle:
    """A model or a session of the C API, destroyed with the last object that refers to it: views
    of a session's memory do, and so outlive the session's Python object."""

    __slots__ = ("value", "_destroy")

    def __init__(self, value: int, destroy: Any):
        self.value = value
        self._destroy = destroy

    def __del__(self) -> None:
        self._destroy(self.value)


def version() -> str:
    """Version, commit and compiler of libqrt."""
    return text(lib.qrt_version())


def library_path() -> str:
    """The file libqrt was loaded from, as it was given to the system's loader."""
    return _path


def isas() -> list[str]:
    """The instruction sets that this CPU and libqrt have, weakest first."""
    found: list[str] = []
    while True:
        name = lib.qrt_isa(len(found))
        if name is None:
            return found
        found.append(text(name))
