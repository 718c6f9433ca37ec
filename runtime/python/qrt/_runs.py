# SPDX-License-Identifier: Apache-2.0
"""Runs that Ctrl-C ends.

Python looks at signals between its own instructions, on the main thread alone, and a run is one call of
the C library. So a run that may take long goes on in another thread while the main one waits, which a
signal interrupts.
"""
from __future__ import annotations

import threading
from _thread import allocate_lock, start_new_thread
from time import perf_counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, List

# Seconds that a run may keep Ctrl-C waiting.
PATIENCE = 0.02


class Runner:
    """Calls a function that returns a status, again and again."""

    __slots__ = ("_call", "_cancel", "_last")

    def __init__(self, call: Callable[[], int], cancel: Callable[[], None]):
        self._call = call
        self._cancel = cancel
        self._last = PATIENCE  # of the first run nothing is known

    def run(self) -> int:
        if self._last < PATIENCE or threading.current_thread() is not threading.main_thread():
            begin = perf_counter()
            status = self._call()
            self._last = perf_counter() - begin
            return status
        return self._interruptible()

    def _interruptible(self) -> int:
        begin = perf_counter()
        done = allocate_lock()
        done.acquire()
        statuses: List[int] = []

        def work() -> None:
            try:
                statuses.append(self._call())
            finally:
                done.release()

        start_new_thread(work, ())
        try:
            done.acquire()
        except BaseException:  # KeyboardInterrupt, or what another handler of a signal raises
            self._cancel()
            while not self._waits(done):
                pass
            self.forget_cancel(statuses[0])
            raise
        self._last = perf_counter() - begin
        return statuses[0]

    @staticmethod
    def _waits(done: Any) -> bool:
        """Ctrl-C once more changes nothing: the memory that the run works on has to stay."""
        try:
            return bool(done.acquire())
        except BaseException:
            return False

    def forget_cancel(self, status: int) -> None:
        """A run that had ended before it was cancelled leaves that to the next, which does nothing else."""
        if status != 7:
            self._call()
