# SPDX-License-Identifier: Apache-2.0
"""A verified .qrt file."""
from __future__ import annotations

import ctypes
import os

from . import _library
from ._errors import FileError, InvalidModelError, with_errno
from ._library import Handle, call, lib
from ._html import table
from ._level import Level
from ._dims import Dim, read_dims
from ._session import Session
from ._tensors import TensorInfo, Tensors, read_infos

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Mapping, Optional, Tuple, Union

    from ._pool import Pool


class Model:
    """A .qrt file: a path, which is mapped, or the bytes of one, which are copied.

    Immutable: any threads may use it and make sessions of it. It can be pickled: another process
    loads the same path, or gets the bytes.

    check     compare the bytes with the checksum at the file's end, which reads the whole file: a file
              that differs is an InvalidModelError. A file of an older converter has no checksum and is
              loaded unchecked.
    """

    def __init__(self, source: Union[str, os.PathLike[str], bytes, bytearray, memoryview],
                 check: bool = False):
        handle = ctypes.c_void_p()
        self._check = bool(check)
        options = _library.LoadOptions()
        options.flags = _library.LOAD_CHECK if check else 0
        if isinstance(source, (bytes, bytearray, memoryview)):
            self._source: Union[str, bytes] = bytes(source)
            options.flags |= _library.LOAD_COPY
            call(lib.qrt_model_load_memory, self._source, len(self._source), ctypes.byref(options),
                 ctypes.byref(handle))
        else:
            self._source = os.path.abspath(os.fsdecode(os.fspath(source)))
            try:
                call(lib.qrt_model_load_file, os.fsencode(source), ctypes.byref(options),
                     ctypes.byref(handle))
            except FileError as error:
                raise with_errno(error, self._source) from None
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
        self.dims: Dict[str, Dim] = read_dims(h)

    @property
    def default_batch(self) -> int:
        """Batch of sessions that name none; 0 if the model's shapes hold no batch."""
        return int(self._info().default_batch)

    def _info(self) -> _library.ModelInfo:
        info = _library.ModelInfo()
        lib.qrt_model_get_info(self._handle.value, ctypes.byref(info))
        return info

    @property
    def metadata(self) -> Dict[str, str]:
        """"producer", "source_format", "source_producer", "reference", "name", as far as the file has
        them, and the keys of the file's own."""
        h = self._handle.value
        keys = [b"producer", b"source_format", b"source_producer", b"reference", b"name"]
        while True:
            key = lib.qrt_model_metadata_key(h, len(keys) - 5)
            if key is None:
                break
            keys.append(key)
        values = ((key, lib.qrt_model_metadata(h, key)) for key in keys)
        return {_library.text(key): _library.text(value) for key, value in values if value is not None}

    @property
    def reference(self) -> Optional[str]:
        """Whose bits the model gives: "ort-x64-fma", "tflite-ref" ..."""
        return self.metadata.get("reference")

    @property
    def level(self) -> Level:
        """The greatest level of its operators: Level.I0 if all is integers between the edges."""
        return Level(self._info().level)

    def session(self, batch: Optional[int] = None, threads: Optional[int] = None,
                isa: Optional[str] = None, profile: bool = False,
                keep_all: bool = False, max_memory: Optional[int] = None,
                pool: Optional[Pool] = None, inputs: Optional[Mapping[str, Any]] = None,
                outputs: Optional[Mapping[str, Any]] = None,
                max_dims: Optional[Mapping[str, int]] = None, dims: Optional[Mapping[str, int]] = None,
                private_plans: bool = False, **sizes: int) -> Session:
        """The model ready to run, with memory of its own.

        batch     default: the model's
        threads   default, and 0: default_threads(), the CPUs that this process may use
        isa       best instruction set allowed, one of isas(); default: QRT_ISA, else the best
        profile   record a time per operator at every run: Session.profile()
        keep_all  keep every tensor: Session.tensors()
        max_memory  bytes that the session may take; default: 2 GiB and 64 times the file, an image
        pool      threads that sessions share, a Pool; `threads`: how many of them at most; 0: all
        inputs, outputs  arrays to bind, by name: Session.bind(). The session takes no memory for
                  these inputs and outputs
        max_dims  sizes of open dimensions for which there is memory from the start: Session.reshape() to
                  these or smaller ones takes no other
        dims      sizes of open dimensions by name, which may also be given as keywords: seq=17.
                  Default: those of Model.dims
        private_plans  the model keeps no plan of this session's; with max_dims, Session.reshape() then asks
                  the system for no memory of the library's
        """
        return Session(self, batch, threads, isa, profile, keep_all, max_memory, pool, inputs, outputs,
                       max_dims, {**(dims or {}), **sizes}, private_plans)

    def _repr_html_(self) -> str:
        rows = [("reference", self.reference or "", self.level.name, "", "")]
        rows += [("input", *t._cells()) for t in self.inputs]
        rows += [("output", *t._cells()) for t in self.outputs]
        return table(f"qrt.Model {self._what()}", rows)

    def __reduce__(self) -> Tuple[Any, ...]:
        return Model, (self._source, self._check)

    def _what(self) -> str:
        return f"{len(self._source)} bytes" if isinstance(self._source, bytes) else repr(self._source)

    def __repr__(self) -> str:
        return f"<qrt.Model {self._what()}: {self.inputs} -> {self.outputs}>"
