"""Conversion by the program qrt_convert."""
from __future__ import annotations

import os

from ._errors import Error, FileError, from_status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Optional, Union

# Exit status of the tools -> qrt_status.
_STATUS = {2: 1, 3: 2, 4: 3, 5: 5}


def convert(source: Union[str, os.PathLike, bytes], output: Union[str, os.PathLike, None] = None,
            **options: Any) -> Optional[bytes]:
    """Converts a quantised model, a path or the bytes of a file, into a .qrt file.

    Writes `output`; without one, returns the bytes: qrt.Model(qrt.convert("mobilenet.onnx")).
    Options are those of qrt_convert: allow_float=True is --allow-float, target="esp32p4" is
    --target esp32p4. What it refuses is UnsupportedError, with every operator and the reason.

    The program is the one that QRT_CONVERT names, else qrt_convert beside libqrt, else in PATH.
    """
    import subprocess
    import tempfile

    command = [_program()]
    for name, value in options.items():
        if value is True:
            command.append("--" + name.replace("_", "-"))
        elif value is not None and value is not False:
            command.append(f"--{name.replace('_', '-')}={os.fspath(value) if _is_path(value) else value}")
    with tempfile.TemporaryDirectory(prefix="qrt-") as folder:
        if isinstance(source, (bytes, bytearray, memoryview)):
            path = os.path.join(folder, "model")
            with open(path, "wb") as file:
                file.write(source)
        else:
            path = os.fsdecode(os.fspath(source))
        target = os.path.join(folder, "model.qrt") if output is None else os.fsdecode(output)
        done = subprocess.run(command + ["-o", target, "--", path], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            text = done.stderr.decode(errors="replace").strip()
            message = text or f"qrt_convert ended with status {done.returncode}"
            if done.returncode in _STATUS:
                raise from_status(_STATUS[done.returncode], message)
            raise Error(message)
        if output is not None:
            return None
        with open(target, "rb") as file:
            return file.read()


def _is_path(value: Any) -> bool:
    return isinstance(value, os.PathLike)


def _program() -> str:
    import shutil

    from ._library import library_path

    given = os.environ.get("QRT_CONVERT")
    beside = os.path.join(os.path.dirname(library_path()), "qrt_convert")
    for path in (given, beside if os.path.isabs(beside) and os.access(beside, os.X_OK) else None,
                 shutil.which("qrt_convert")):
        if path:
            return path
    raise FileError("qrt_convert is not found: put it into PATH, or set QRT_CONVERT to its path")
