# SPDX-License-Identifier: Apache-2.0
"""Threads that sessions share."""
from __future__ import annotations

import ctypes

from ._counts import count
from ._library import Handle, call, lib
from ._threads import default_threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn, Optional


class Pool:
    """Threads for any number of sessions: model.session(pool=pool). By default, and for 0, default_threads().

    Sessions of one pool may run at the same time in threads of Python: they take it in turns. Sessions
    keep its threads as long as they need them.
    """

    def __init__(self, threads: Optional[int] = None):
        created = ctypes.c_void_p()
        threads = count("threads", threads) or default_threads()
        call(lib.qrt_pool_create, threads, ctypes.byref(created))
        assert created.value is not None
        self._handle = Handle(created.value, lib.qrt_pool_destroy)

    @property
    def threads(self) -> int:
        """Of it, the one that calls run() among them."""
        return int(lib.qrt_pool_threads(self._handle.value))

    def __reduce__(self) -> NoReturn:
        raise TypeError("a pool cannot be pickled: make one in each process")

    def __repr__(self) -> str:
        return f"<qrt.Pool of {self.threads} threads>"
