# SPDX-License-Identifier: Apache-2.0
"""Tensors of models (what they are) and of sessions (with their memory)."""
from __future__ import annotations

import ctypes

from . import _library
from ._html import table
from ._types import DTYPES, DType, pack, shaped, unpack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any, Iterator, SupportsIndex, Tuple, TypeVar, Union, overload

    MemoryView = memoryview  # a method of Tensor has its name
else:

    def overload(function):
        return function


def numpy() -> Any:
    """The module, None where it is not installed. Imported when the first array is asked for:
    `import qrt` is quick."""
    global _numpy
    if _numpy is False:
        try:
            import numpy as module
            _numpy = module
        except ImportError:
            _numpy = None
    return _numpy


_numpy = False  # type: Any  # not looked for yet


def _type_name(dtype: Any) -> str:
    """Of numpy's type; the other byte order has none in words."""
    return str(dtype.name if dtype.isnative else dtype.str)


class TensorInfo:
    """An input or output of a model.

    name, dtype ("float32"), shape (-1 is an open dimension, such as the batch), dim_names (of a model: the
    names of open dimensions, None where one is fixed), nbytes (at the default sizes).
    Quantised tensors: real = (q - zero_point) * scale; one number each, or one per index of
    `axis`; None where the tensor is not quantised.
    """

    def __init__(self, name: str, info: _library.TensorInfo):
        self.name = name
        self._type: DType = DTYPES[info.dtype]
        self.dtype = self._type.name
        self.shape: Tuple[int, ...] = tuple(info.dims[:info.rank])
        self.dim_names: Tuple[Union[str, None], ...] = tuple(
            None if n is None else _library.text(n)
            for n in (info.dim_names[:info.rank] if info.dim_names else (None,) * info.rank))
        self.nbytes: int = info.bytes
        q = info.quantization.contents
        self.scale: Union[float, Tuple[float, ...], None] = None
        self.zero_point: Union[int, Tuple[int, ...], None] = None
        self.axis: Union[int, None] = None
        if q.count:
            scales, zeros = tuple(q.scale[:q.count]), tuple(q.zero_point[:q.count])
            if q.axis < 0:
                self.scale, self.zero_point = scales[0], zeros[0]
            else:
                self.scale, self.zero_point, self.axis = scales, zeros, q.axis

    def _quantization(self) -> str:
        if self.scale is None:
            return ""
        if self.axis is not None:
            return f", scales and zero points per index of axis {self.axis}"
        return f", scale={self.scale:.9g}, zero_point={self.zero_point}"

    def _expected(self) -> str:
        kind = {"u": "uint", "i": "int", "f": "float", "b": "bool"}[self._type.array[1]]
        array = kind + (str(8 * int(self._type.array[2])) if kind != "bool" else "")
        return (self.dtype if array == self.dtype else f"{self.dtype} as {array}") + \
            f" {list(self.shape)}"

    def check_bindable(self, array: Any, role: str) -> None:
        """That the memory of an array can stand for the tensor's."""
        np = numpy()
        if np is not None:
            array = np.asarray(array)
            kind = _type_name(array.dtype)
            fits = array.dtype == (self._type.array if not self._type.packed else "|u1")
            contiguous = array.flags.c_contiguous and (role == "input" or array.flags.writeable)
        else:
            array = memoryview(array)
            kind = f"memory of format {array.format!r}"
            fits = array.format == ("B" if self._type.packed else self._type.format)
            contiguous = array.c_contiguous
        shape = (self.nbytes,) if self._type.packed else self.shape
        if not fits or tuple(array.shape) != shape:
            raise (ValueError if fits else TypeError)(
                f"{role} {self.name!r} takes {self._expected()}, not {kind} {list(array.shape)}")
        if not contiguous:
            raise ValueError(f"{role} {self.name!r}: the array's elements do not stand one after the "
                             "other, or it cannot be written to")

    def dequantize(self, array: Any) -> Any:
        """Elements of the tensor, such as run() returns, as real numbers of float32: (q - zero_point) *
        scale, in qrt.h's arithmetic. Of one without a scale the values as they are."""
        np = numpy()
        if np is None:
            return self._dequantized_without_numpy(memoryview(array))
        array = np.asarray(array)
        if self.scale is None:
            return array.astype(np.float32)
        zero, scale = np.asarray(self.zero_point, np.int64), np.asarray(self.scale, np.float32)
        if self.axis is not None:
            shape = [-1 if d == self.axis else 1 for d in range(array.ndim)]
            zero, scale = zero.reshape(shape), scale.reshape(shape)
        return (array.astype(np.int64) - zero).astype(np.float32) * scale

    def _dequantized_without_numpy(self, view: memoryview) -> memoryview:
        from array import array
        dims: Tuple[int, ...] = tuple(view.shape or ())
        scales: Any = self.scale if isinstance(self.scale, tuple) else (self.scale,)
        zeros: Any = self.zero_point if isinstance(self.zero_point, tuple) else (self.zero_point,)
        inner = 1
        for n in dims[self.axis + 1:] if self.axis is not None else ():
            inner *= n
        flat: Any = view.cast("B").cast(view.format)
        if self.scale is None:
            values = array("f", flat)
        else:
            differences = array("f", (q - zeros[i // inner % len(zeros)]
                                      for i, q in enumerate(flat)))
            values = array("f", (d * scales[i // inner % len(scales)]
                                 for i, d in enumerate(differences)))
        return shaped(memoryview(values).cast("B"), DTYPES[6], dims)

    def _cells(self) -> Tuple[str, str, str, str]:
        """Of a row in a notebook."""
        return self.name, self.dtype, str(list(self.shape)), self._quantization()[2:]

    def __repr__(self) -> str:
        return f"<{self.name!r}: {self.dtype} {list(self.shape)}{self._quantization()}>"


if TYPE_CHECKING:
    T = TypeVar("T", bound=TensorInfo)

    class _Tuple(Tuple[T, ...]):
        pass
else:
    T = None

    class _Tuple(tuple):

        def __class_getitem__(cls, _):
            return cls


class Tensors(_Tuple[T]):
    """Inputs or outputs in the model's order: by index, or by name. Tensors[TensorInfo] of a model,
    Tensors[Tensor] of a session."""

    def _repr_html_(self) -> str:
        return table("qrt.Tensors", [t._cells() for t in self])

    @overload
    def __getitem__(self, key: Union[str, SupportsIndex]) -> T: ...

    @overload
    def __getitem__(self, key: slice) -> Tuple[T, ...]: ...

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return tuple.__getitem__(self, key)
        for tensor in self:
            if tensor.name == key:
                return tensor
        names = ", ".join(repr(t.name) for t in self)
        raise KeyError(f"no tensor {key!r}: there are {names}")

    def names(self) -> list[str]:
        return [tensor.name for tensor in self]

    def __repr__(self) -> str:
        return "(" + ", ".join(map(repr, self)) + ")"


def read_infos(function: Any, handle: int, count: int) -> list[tuple[str, _library.TensorInfo]]:
    """Names and infos by a function of the C API. Of several tensors of one name, or without one,
    all but the first are called "name#index"."""
    result: list[tuple[str, _library.TensorInfo]] = []
    names = set()
    for i in range(count):
        info = _library.TensorInfo()
        function(handle, i, ctypes.byref(info))
        name = _library.text(info.name)
        if name in names or not name:
            name = f"{name}#{i}"
        names.add(name)
        result.append((name, info))
    return result


class Tensor(TensorInfo):
    """A tensor in a session's own memory. Whoever holds it, or an array of it, keeps that memory.

    numpy.asarray(tensor), memoryview(tensor.memoryview()) and DLPack (torch.from_dlpack(tensor),
    numpy.from_dlpack) see the memory itself, without a copy. Outputs hold the result of the last
    run, and the next one writes over it.
    """

    def __init__(self, name: str, info: _library.TensorInfo, address: int, owner: Any, writable: bool):
        super().__init__(name, info)
        self.writable = writable
        # An attribute of the ctypes array, not only of this object: memoryviews refer to the array.
        self._memory: Any = (ctypes.c_uint8 * self.nbytes).from_address(address)
        self._memory.owner = owner
        self._address = address

    def view(self) -> Any:
        """numpy's array of the memory, or a memoryview where there is no numpy. Of packed types
        (int4 ...) the bytes."""
        np = numpy()
        return self.memoryview() if np is None else np.asarray(self)

    def memoryview(self) -> MemoryView:
        view = memoryview(self._memory).cast("B")
        if not self._type.packed:
            view = shaped(view, self._type, self.shape)
        return view if self.writable else view.toreadonly()

    def copy(self) -> Any:
        """As view(), in memory of its own. Of packed types one element a byte."""
        np = numpy()
        data = bytearray(self._memory)
        if self._type.packed:
            data = unpack(bytes(data), self._type, self._count())
        if np is None:
            return shaped(memoryview(data), self._type, self.shape)
        return np.frombuffer(data, self._type.array).reshape(self.shape)

    def assign(self, value: Any) -> None:
        """Copies an array in: of the tensor's type and shape, or its bytes as `bytes`."""
        if not self.writable:
            raise ValueError(f"{self.name!r} is not an input")
        if isinstance(value, (bytes, bytearray)):
            if len(value) != self.nbytes:
                raise ValueError(f"input {self.name!r} has {self.nbytes} bytes, not {len(value)}")
            data: Any = value
        else:
            np = numpy()
            data = self._checked_bytes(value) if np is None else self._checked_array(np, value)
            if self._type.packed:
                data = pack(bytes(data), self._type)
            elif np is not None:
                np.asarray(self)[...] = data
                return
        memoryview(self._memory).cast("B")[:] = data

    def _count(self) -> int:
        count = 1
        for n in self.shape:
            count *= n
        return count

    def _checked_array(self, np: Any, value: Any) -> Any:
        if hasattr(value, "__array_interface__") or hasattr(value, "__array__"):
            array = np.asarray(value)
        elif hasattr(value, "__dlpack__"):
            array = np.from_dlpack(value)
        else:
            array = np.asarray(self._buffer(value))
            if array.ndim == 1 and array.size == self._count():  # array.array has no shape
                array = array.reshape(self.shape)
        # The small types of package ml_dtypes: "float8_e4m3fn".
        if array.dtype.name.replace("_", "") == self.dtype and array.dtype.kind == "V":
            array = array.astype(self._type.array) if self._type.packed and "int" in self.dtype \
                else array.view(self._type.array)
        self._check(array.dtype == self._type.array, _type_name(array.dtype), array.shape)
        return array.tobytes() if self._type.packed else array

    def _checked_bytes(self, value: Any) -> bytes:
        view = self._buffer(value)
        format = view.format.lstrip("@=<")
        kind = ("f" if format in "efd" else "b" if format == "?" else
                "i" if format in "bhilqn" else "u")
        fits = kind + str(view.itemsize) == self._type.array[1:]
        flat = view.ndim == 1 and view.nbytes == self._count() * view.itemsize
        self._check(fits, f"memory of format {view.format!r}", self.shape if flat else view.shape)
        return view.tobytes()

    def _buffer(self, value: Any) -> MemoryView:
        try:
            return memoryview(value)
        except TypeError:
            raise TypeError(f"input {self.name!r} takes an array of {self._expected()}, not "
                            f"{type(value).__name__}") from None

    def _check(self, type_fits: bool, given_type: str, given_shape: Any) -> None:
        shape = tuple(given_shape)
        if type_fits and shape == self.shape:
            return
        message = f"input {self.name!r} takes {self._expected()}, not {given_type} {list(shape)}"
        if not type_fits:
            raise TypeError(message)
        if shape[1:] == self.shape[1:] and len(shape) == len(self.shape):
            message += f"; a session has one batch size: model.session(batch={shape[0]})"
        raise ValueError(message)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        packed = self._type.packed
        return {
            "shape": (self.nbytes,) if packed else self.shape,
            "typestr": "|u1" if packed else self._type.array,
            "data": (self._address, not self.writable),
            "version": 3,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # kDLCPU

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None,
                   copy: Any = None) -> Any:
        if self._type.dlpack is None:
            raise BufferError(f"DLPack has no packed {self.dtype}")
        if dl_device not in (None, (1, 0)):
            raise BufferError(f"the tensor is in the memory of the CPU, not of device {dl_device}")
        if copy:
            raise BufferError("no copy is made here: use Tensor.copy()")
        from ._dlpack import capsule
        return capsule(self, versioned=max_version is not None and max_version[0] >= 1)
