# SPDX-License-Identifier: Apache-2.0
"""Memory of the caller's for sessions: aligned, with bytes to read behind it."""
from __future__ import annotations

import ctypes

from ._counts import count
from ._tensors import numpy
from ._types import DTYPES, shaped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Sequence

# QRT_BUFFER_ALIGNMENT and QRT_BUFFER_PADDING of qrt.h.
ALIGNMENT = 64
PADDING = 64


def empty(shape: Sequence[int], dtype: Any = "uint8") -> Any:
    """An array that Session.bind() takes: aligned, with bytes behind it. Of zeros; a memoryview where
    there is no numpy. `dtype`: as of a tensor, or as of a numpy array; of packed types (int4 ...) bind
    an array of bytes."""
    types = {t.name: t for t in DTYPES if not t.packed}
    np = numpy()
    if np is not None and not isinstance(dtype, str):
        dtype = np.dtype(dtype).name
    if dtype not in types:
        raise ValueError(f"no type {dtype!r}: there are {', '.join(types)}")
    elements = 1
    for n in shape:
        elements *= count("a dimension", n)
    nbytes = elements * types[dtype].bits // 8
    memory = bytearray(nbytes + ALIGNMENT + PADDING)
    begin = -ctypes.addressof(ctypes.c_uint8.from_buffer(memory)) % ALIGNMENT
    if np is not None:
        return np.frombuffer(memory, types[dtype].array, elements, begin).reshape(shape)
    return shaped(memoryview(memory)[begin:begin + nbytes], types[dtype], shape)


def extent(array: Any) -> tuple[int, int]:
    """Where the array's memory begins, and how many bytes from there on belong to the object that owns
    it: a view of a larger array has what is behind it."""
    np = numpy()
    if np is None:
        view = memoryview(array)
        return _address(view), _address(memoryview(view.obj)) + memoryview(view.obj).nbytes - \
            _address(view)
    array = root = np.asarray(array)
    while isinstance(root.base, np.ndarray):
        root = root.base
    if root.base is not None:
        root = np.frombuffer(root.base, np.uint8)
    begin = array.__array_interface__["data"][0]
    return begin, root.__array_interface__["data"][0] + root.nbytes - begin


def _address(view: memoryview) -> int:
    if view.readonly:
        raise TypeError("memory that cannot be written to is bound as numpy's array")
    return ctypes.addressof(ctypes.c_uint8.from_buffer(view))
