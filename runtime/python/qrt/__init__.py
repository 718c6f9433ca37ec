# SPDX-License-Identifier: Apache-2.0
"""qrt: exact and fast inference of quantised neural networks, on CPUs.

    import numpy, qrt
    model = qrt.Model("mobilenet.qrt")            # mapped and verified, never copied
    session = model.session(threads=2)
    scores = session.run({"image": image})["scores"]

Pure Python over the C API of libqrt. numpy is used where it is installed and not needed.
"""
from ._buffers import empty
from ._convert import convert, quantize
from ._dims import Dim
from ._errors import (CancelledError, Error, FileError, InternalError, InvalidArgumentError, InvalidModelError,
                      OutOfMemoryError, OutOfRangeError, UnsupportedError)
from ._level import Level
from ._library import isas, library_path, version
from ._model import Model
from ._pool import Pool
from ._session import Session
from ._tensors import Tensor, TensorInfo, Tensors
from ._threads import default_threads
from ._version import __version__

__all__ = [
    "CancelledError", "Dim", "Error", "FileError", "InternalError", "InvalidArgumentError", "InvalidModelError", "Level", "Model",
    "OutOfMemoryError", "OutOfRangeError", "Pool", "Session", "Tensor", "TensorInfo", "Tensors", "UnsupportedError",
    "__version__", "convert", "default_threads", "empty", "isas", "library_path", "quantize", "version"
]
