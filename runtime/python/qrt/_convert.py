# SPDX-License-Identifier: Apache-2.0
"""Conversion and quantisation by the programs qrt_convert and qrt_quantize."""
from __future__ import annotations

import numbers
import os

from ._errors import Error, FileError, from_status
from ._tools import own_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Optional, Union

    Source = Union[str, os.PathLike[str], bytes]

# Exit status of the tools -> qrt_status.
_STATUS = {2: 1, 3: 2, 4: 3, 5: 5}


def convert(source: Source, output: Union[str, os.PathLike[str], None] = None,
            **options: Any) -> Optional[bytes]:
    """Converts a quantised model, a path or the bytes of a file, into a .qrt file.

    Writes `output`; without one, returns the bytes: qrt.Model(qrt.convert("mobilenet.onnx")).
    Options are those of qrt_convert: allow_float=True is --allow-float, target="esp32p4" is
    --target esp32p4. What it refuses is UnsupportedError, with every operator and the reason.

    The program is the one that QRT_CONVERT names, else the wheel's, else qrt_convert beside libqrt, else in PATH.
    """
    return _run("qrt_convert", source, output, options)


def quantize(source: Source, calibration: Any, output: Union[str, os.PathLike[str], None] = None,
             **options: Any) -> Optional[bytes]:
    """Quantises a float ONNX model, a path or the bytes of a file, into a .qrt file.

    `calibration`: samples as the model gets them, an array, or the path of a .npy file, of a folder of
    them or of pictures; of several inputs a dict of these by name. Writes `output`; without one, returns
    the bytes. Options are those of qrt_quantize: report="report.html", max_drop=0.2, onnx="qdq.onnx",
    mean=(0.485, 0.456, 0.406) ...; labels may be an array, too.

    The program is the one that QRT_QUANTIZE names, else the wheel's, else qrt_quantize beside libqrt, else in PATH.
    """
    return _run("qrt_quantize", source, output, dict(options, calibration=calibration))


def _run(tool: str, source: Source, output: Union[str, os.PathLike[str], None],
         options: dict[str, Any]) -> Optional[bytes]:
    import subprocess
    import tempfile

    command = [_program(tool)]
    with tempfile.TemporaryDirectory(prefix="qrt-") as folder:
        for name, value in options.items():
            option = "--" + name.replace("_", "-")
            if value is True:
                command.append(option)
            elif value is not None and value is not False:
                command += [f"{option}={text}" for text in _texts(value, os.path.join(folder, name))]
        if isinstance(source, (bytes, bytearray, memoryview)):
            path = os.path.join(folder, "model")
            with open(path, "wb") as file:
                file.write(source)
        else:
            path = os.fsdecode(os.fspath(source))
            if path.startswith("-"):  # no option
                path = os.path.join(".", path)
        target = os.path.join(folder, "model.qrt") if output is None else os.fsdecode(output)
        try:
            # The wheel's program is all tools: its name says which.
            done = subprocess.run([tool] + command[1:] + ["-o", target, path], executable=command[0],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, check=False)
        except OSError as error:
            raise FileError(f"{command[0]} cannot be started: {error.strerror} ({tool} is what "
                            f"{tool.upper()} names, or else in PATH)") from error
        if done.returncode != 0:
            text = done.stderr.decode(errors="replace").strip()
            message = text or f"{tool} ended with status {done.returncode}"
            if done.returncode in _STATUS:
                raise from_status(_STATUS[done.returncode], message)
            raise Error(message)
        if output is not None:
            return None
        with open(target, "rb") as file:
            return file.read()


def _texts(value: Any, stem: str) -> list[str]:
    """Of an option, once for each time it is given; arrays are saved in files that begin with `stem`."""
    if isinstance(value, dict):
        return [f"{name}={text}" for i, (name, one) in enumerate(value.items())
                for text in _texts(one, f"{stem}{i}")]
    if isinstance(value, (list, tuple)):
        if all(isinstance(one, numbers.Real) for one in value):
            return [",".join(map(str, value))]
        return [text for i, one in enumerate(value) for text in _texts(one, f"{stem}{i}")]
    if isinstance(value, os.PathLike):
        return [os.fsdecode(os.fspath(value))]
    if hasattr(value, "__array__"):
        import numpy
        numpy.save(stem + ".npy", value)
        return [stem + ".npy"]
    return [str(value)]


def _program(tool: str) -> str:
    import shutil

    from ._library import library_path

    variable = tool.upper()
    beside = os.path.join(os.path.dirname(library_path()), tool)
    for path in (os.environ.get(variable), own_program(),
                 beside if os.path.isabs(beside) and os.access(beside, os.X_OK) else None,
                 shutil.which(tool)):
        if path:
            return path
    raise FileError(f"{tool} is not found: install the wheel qrt (qrt-runtime has no tools), put it "
                    f"into PATH, or set {variable} to its path")
