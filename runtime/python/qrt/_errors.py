"""What goes wrong, as exceptions: one for each status of the C API, with the library's message.

Each is also of the built-in class that a Python programmer would expect.
"""
from __future__ import annotations


class Error(Exception):
    """Base of all errors that libqrt or qrt_convert report."""


class InvalidArgumentError(Error, ValueError):
    """The caller's mistake."""


class InvalidModelError(Error, ValueError):
    """The file is damaged or not a model."""


class UnsupportedError(Error, NotImplementedError):
    """Valid, but this version cannot convert or run it."""


class OutOfMemoryError(Error, MemoryError):
    """No memory for what was asked."""


class FileError(Error, OSError):
    """A file cannot be read or written."""


class InternalError(Error, RuntimeError):
    """A bug of qrt."""


class CancelledError(Error, RuntimeError):
    """A run was cancelled from another thread."""


class OutOfRangeError(InvalidArgumentError):
    """A size outside the bounds of its dimension."""


# qrt_status of qrt.h.
_BY_STATUS = {
    1: InvalidArgumentError,
    2: InvalidModelError,
    3: UnsupportedError,
    4: OutOfMemoryError,
    5: FileError,
    6: InternalError,
    7: CancelledError,
    8: OutOfRangeError,
}


def from_status(status: int, message: str) -> Error:
    return _BY_STATUS.get(status, Error)(message)
