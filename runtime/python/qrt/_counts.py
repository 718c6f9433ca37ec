# SPDX-License-Identifier: Apache-2.0
"""Numbers that go to the library as size_t."""
from __future__ import annotations

import ctypes
import operator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MOST = ctypes.c_size_t(-1).value


def count(name: str, value: Any, least: int = 0) -> int:
    """None: 0. ctypes would cut off what a size_t cannot hold."""
    if value is None:
        return 0
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}, expected an int") from None
    if not least <= number <= _MOST:
        raise ValueError(f"{name} is {number}, expected {least} or more" if number < least else
                         f"{name} is {number}, which is too large")
    return number
