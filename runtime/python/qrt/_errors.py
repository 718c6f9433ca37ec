# SPDX-License-Identifier: Apache-2.0
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
    """A file cannot be read or written. Where the system says why, errno and filename are set, and the
    error is also of the class that open() raises: FileNotFoundError, PermissionError ..."""


class InternalError(Error, RuntimeError):
    """A bug of qrt."""


class CancelledError(Error, RuntimeError):
    """A run was cancelled from another thread."""


class OutOfRangeError(InvalidArgumentError):
    """A size outside the bounds of its dimension; in a run, an index (a token's id) outside its table."""


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


class _MissingFile(FileError, FileNotFoundError):
    pass


class _Directory(FileError, IsADirectoryError):
    pass


class _ForbiddenFile(FileError, PermissionError):
    pass


for _class in (_MissingFile, _Directory, _ForbiddenFile):
    _class.__name__ = _class.__qualname__ = "FileError"
    _class.__module__ = FileError.__module__


def with_errno(error: FileError, path: str) -> FileError:
    """The same with the system's reason, as opening the file gives it now."""
    try:
        with open(path, "rb"):
            return error
    except OSError as reason:
        classes = {FileNotFoundError: _MissingFile, IsADirectoryError: _Directory,
                   PermissionError: _ForbiddenFile}
        told = classes.get(type(reason), FileError)(reason.errno, str(error))
        told.filename = path
        return told


def from_status(status: int, message: str) -> Error:
    return _BY_STATUS.get(status, Error)(message)
