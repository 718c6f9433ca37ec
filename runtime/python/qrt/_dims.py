# SPDX-License-Identifier: Apache-2.0
"""Dimensions that a model leaves open."""
from __future__ import annotations

import ctypes
from collections import namedtuple

from . import _library
from ._counts import count
from ._library import lib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Mapping, NamedTuple, Optional, Tuple

    class Dim(NamedTuple):
        default: int
        least: int
        most: int
        step: int
else:
    Dim = namedtuple("Dim", "default least most step")
    Dim.__doc__ = """The size that a session has where its caller names none, and the legal ones: least, least +
    step and so on, up to most."""


def read_dims(model: int) -> Dict[str, Dim]:
    """The open dimensions of a model, by name."""
    dims = {}
    for i in range(lib.qrt_model_dim_count(model)):
        info = _library.DimInfo()
        lib.qrt_model_dim_info(model, i, ctypes.byref(info))
        dims[_library.text(info.name)] = Dim(info.default_size, info.least, info.most, info.step)
    return dims


def dim_array(sizes: Optional[Mapping[str, Any]]) -> Any:
    """Sizes by name, as functions of the C API take them."""
    most = 2**63 - 1
    dims = [_library.Dim(name.encode(), min(count(f"the size of {name!r}", size), most))
            for name, size in (sizes or {}).items() if size is not None]
    return (_library.Dim * len(dims))(*dims)


def sizes_of(shape: Tuple[int, ...], info: Any) -> Optional[Dict[str, int]]:
    """The sizes that open dimensions of a model's input have in an array of this shape; None where it does not
    fit the input."""
    if len(shape) != len(info.shape):
        return None
    sizes: Dict[str, int] = {}
    for size, fixed, name in zip(shape, info.shape, info.dim_names):
        if fixed >= 0 and size != fixed:
            return None
        if fixed < 0 and name is not None and sizes.setdefault(name, size) != size:
            return None
    return sizes
