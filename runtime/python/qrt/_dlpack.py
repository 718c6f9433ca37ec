# SPDX-License-Identifier: Apache-2.0
"""DLPack, https://dmlc.github.io/dlpack: a tensor's memory for torch, jax, numpy and others.

A capsule holds a struct with a pointer to the memory and a function that its consumer calls in the
end; until then _exported keeps the tensor. PyPy has no capsules: there it is refused.
"""
from __future__ import annotations

import ctypes
from ctypes import c_char_p, c_int, c_int32, c_int64, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p


class _Tensor(ctypes.Structure):  # DLTensor
    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32),
                ("ndim", c_int32), ("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16),
                ("shape", ctypes.POINTER(c_int64)), ("strides", ctypes.POINTER(c_int64)),
                ("byte_offset", c_uint64)]


_Deleter = ctypes.CFUNCTYPE(None, c_void_p)


class _Managed(ctypes.Structure):  # DLManagedTensor
    _fields_ = [("tensor", _Tensor), ("context", c_void_p), ("deleter", _Deleter)]


class _ManagedVersioned(ctypes.Structure):  # DLManagedTensorVersioned
    _fields_ = [("major", c_uint32), ("minor", c_uint32), ("context", c_void_p),
                ("deleter", _Deleter), ("flags", c_uint64), ("tensor", _Tensor)]


TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Tuple

_READ_ONLY = 1
_exported: Dict[int, Any] = {}  # address of the struct -> (struct, shape and strides, tensor)

_new: Any
try:
    _python = ctypes.PyDLL(None)  # not ctypes.pythonapi: its declarations are everybody's
    _new, _is_valid, _pointer = (_python.PyCapsule_New, _python.PyCapsule_IsValid,
                                 _python.PyCapsule_GetPointer)
except (OSError, AttributeError):
    _new = None
else:
    _new.restype, _new.argtypes = ctypes.py_object, [c_void_p, c_char_p, c_void_p]
    _is_valid.restype, _is_valid.argtypes = c_int, [c_void_p, c_char_p]
    _pointer.restype, _pointer.argtypes = c_void_p, [c_void_p, c_char_p]


# The capsule keeps the pointer to its name: these objects live as long as the module.
_NAMES = {False: b"dltensor", True: b"dltensor_versioned"}


@_Deleter  # type: ignore[misc]
def _release(address: int, exported: Dict[int, Any] = _exported) -> None:
    exported.pop(address, None)


@ctypes.CFUNCTYPE(None, c_void_p)  # type: ignore[misc]
def _drop_capsule(capsule: Any, exported: Dict[int, Any] = _exported,
                  names: Tuple[bytes, ...] = tuple(_NAMES.values())) -> None:
    for name in names:  # a consumer renames the capsule it takes
        if _is_valid(capsule, name):
            exported.pop(_pointer(capsule, name), None)


# Consumers may call them after this module is gone, at the interpreter's end.
for _function in (_release, _drop_capsule):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_function)) if _new else None


def capsule(tensor: Any, versioned: bool) -> Any:
    if _new is None:
        raise BufferError("this Python has no capsules: use memoryview() or numpy.asarray()")
    rank = len(tensor.shape)
    shape, strides, step = (c_int64 * rank)(*tensor.shape), (c_int64 * rank)(), 1
    for d in reversed(range(rank)):
        strides[d] = step
        step *= tensor.shape[d]
    managed = _ManagedVersioned() if versioned else _Managed()
    if versioned:
        managed.major = 1
        managed.flags = 0 if tensor.writable else _READ_ONLY
    managed.deleter = _release
    t = managed.tensor
    t.data, t.device_type, t.ndim = tensor._address, tensor.__dlpack_device__()[0], rank
    t.code, t.bits, t.lanes = tensor._type.dlpack, tensor._type.bits, 1
    t.shape = ctypes.cast(shape, ctypes.POINTER(c_int64))
    t.strides = ctypes.cast(strides, ctypes.POINTER(c_int64))
    address = ctypes.addressof(managed)
    _exported[address] = (managed, shape, strides, tensor)
    return _new(address, _NAMES[versioned], ctypes.cast(_drop_capsule, c_void_p))
