"""A verified .qrt file."""
from __future__ import annotations

import ctypes
import os

from . import _library
from ._errors import InvalidModelError
from ._library import Handle, call, lib
from ._session import Session
from ._tensors import TensorInfo, Tensors, read_infos

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Mapping, Optional, Union

    from ._pool import Pool


class Model:
    """A .qrt file: a path, which is mapped, or the bytes of one, which are copied.

    Immutable: any threads may use it and make sessions of it. It can be pickled: another process
    loads the same path, or gets the bytes.
    """

    def __init__(self, source: Union[str, os.PathLike, bytes, bytearray, memoryview]):
        handle = ctypes.c_void_p()
        if isinstance(source, (bytes, bytearray, memoryview)):
            self._source: Union[str, bytes] = bytes(source)
            options = _library.LoadOptions()
            options.flags = _library.LOAD_COPY
            call(lib.qrt_model_load_memory, self._source, len(self._source), ctypes.byref(options),
                 ctypes.byref(handle))
        else:
            self._source = os.path.abspath(os.fsdecode(os.fspath(source)))
            try:
                call(lib.qrt_model_load_file, os.fsencode(source), None, ctypes.byref(handle))
            except InvalidModelError as error:
                if self._source.endswith((".onnx", ".tflite", ".espdl")):
                    raise InvalidModelError(
                        f"{error}: a model of another format, of which qrt.convert() makes one") from None
                raise
        assert handle.value is not None
        self._handle = Handle(handle.value, lib.qrt_model_destroy)
        h = handle.value
        self.inputs = Tensors(TensorInfo(*info) for info in read_infos(
            lib.qrt_model_input_info, h, lib.qrt_model_input_count(h)))
        self.outputs = Tensors(TensorInfo(*info) for info in read_infos(
            lib.qrt_model_output_info, h, lib.qrt_model_output_count(h)))

    @property
    def default_batch(self) -> int:
        """Batch of sessions that name none; 0 if the model's shapes hold no batch."""
        return self._info().default_batch

    def _info(self) -> _library.ModelInfo:
        info = _library.ModelInfo()
        lib.qrt_model_get_info(self._handle.value, ctypes.byref(info))
        return info

    def metadata(self, key: str) -> Optional[str]:
        """"producer", "source_format", "source_producer", "reference", "name", or a key of the
        file's own; None if absent."""
        value = lib.qrt_model_metadata(self._handle.value, key.encode())
        return None if value is None else _library.text(value)

    @property
    def reference(self) -> Optional[str]:
        """Whose bits the model gives: "ort-x64-fma", "tflite-ref" ..."""
        return self.metadata("reference")

    def session(self, batch: Optional[int] = None, threads: Optional[int] = None,
                isa: Optional[str] = None, profile: bool = False,
                keep_all: bool = False, max_memory: Optional[int] = None,
                pool: Optional[Pool] = None, inputs: Optional[Mapping[str, Any]] = None,
                outputs: Optional[Mapping[str, Any]] = None) -> Session:
        """The model ready to run, with memory of its own.

        batch     default: the model's
        threads   default: default_threads(), the CPUs that this process may use
        isa       best instruction set allowed, one of isas(); default: QRT_ISA, else the best
        profile   record a time per operator at every run: Session.profile()
        keep_all  keep every tensor: Session.tensors()
        max_memory  bytes that the session may take; default: 2 GiB and 64 times the file, an image
        pool      threads that sessions share, a Pool; `threads`: how many of them at most
        inputs, outputs  arrays to bind, by name: Session.bind(). The session takes no memory for
                  these inputs and outputs
        """
        return Session(self, batch, threads, isa, profile, keep_all, max_memory, pool, inputs, outputs)

    def __reduce__(self):
        return Model, (self._source,)

    def __repr__(self) -> str:
        what = f"{len(self._source)} bytes" if isinstance(self._source, bytes) else repr(self._source)
        return f"<qrt.Model {what}: {self.inputs} -> {self.outputs}>"
