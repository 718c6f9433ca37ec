# SPDX-License-Identifier: Apache-2.0
"""Element types of the C API and how Python's arrays hold them.

numpy and memoryview lack the small types. They travel as in .npy files: bfloat16 as uint16 bits,
float8 and float4 as uint8 codes, integers of 4 and 2 bits one per byte. In a session's own memory
float4 and the small integers are packed, the first element in the lowest bits of byte 0.
"""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Sequence


class DType:
    __slots__ = ("name", "bits", "array", "format", "dlpack")

    def __init__(self, name: str, bits: int, array: str, format: str, dlpack: int | None):
        self.name = name
        self.bits = bits
        self.array = array  # as __array_interface__ spells it; of a packed type: of its elements
        self.format = format  # as memoryview spells it
        self.dlpack = dlpack  # DLDataTypeCode

    @property
    def packed(self) -> bool:
        return self.bits < 8


# The types, by qrt_dtype. memoryview knows no float16: there it is uint16 bits.
DTYPES = (
    DType("uint8", 8, "|u1", "B", 1),
    DType("int8", 8, "|i1", "b", 0),
    DType("uint16", 16, "<u2", "H", 1),
    DType("int16", 16, "<i2", "h", 0),
    DType("int32", 32, "<i4", "i", 0),
    DType("int64", 64, "<i8", "q", 0),
    DType("float32", 32, "<f4", "f", 2),
    DType("float16", 16, "<f2", "H", 2),
    DType("bfloat16", 16, "<u2", "H", 4),
    DType("bool", 8, "|b1", "?", 6),
    DType("uint32", 32, "<u4", "I", 1),
    DType("int4", 4, "|i1", "b", None),
    DType("uint4", 4, "|u1", "B", None),
    DType("int2", 2, "|i1", "b", None),
    DType("uint2", 2, "|u1", "B", None),
    DType("float8e4m3fn", 8, "|u1", "B", 10),
    DType("float8e4m3fnuz", 8, "|u1", "B", 11),
    DType("float8e5m2", 8, "|u1", "B", 12),
    DType("float8e5m2fnuz", 8, "|u1", "B", 13),
    DType("float8e8m0", 8, "|u1", "B", 14),
    DType("float4e2m1", 4, "|u1", "B", None),
)


def shaped(memory: memoryview, dtype: DType, shape: Sequence[int]) -> memoryview:
    """Bytes as elements. Without a shape where that says the same: PyPy 7.3 cannot copy bytes out of a
    bytearray's view of one dimension that was given one."""
    return memory.cast(dtype.format) if len(shape) == 1 else memory.cast(dtype.format, tuple(shape))


def unpack(packed: bytes, dtype: DType, count: int) -> bytearray:
    """One element a byte."""
    per_byte = 8 // dtype.bits
    elements = bytearray(len(packed) * per_byte)
    for i in range(per_byte):
        elements[i::per_byte] = packed.translate(_unpacking(dtype, i))
    del elements[count:]
    return elements


def pack(elements: bytes, dtype: DType) -> bytes:
    """The inverse. ValueError for a value that the type does not have."""
    wrong = elements.translate(None, _values(dtype))
    if wrong:
        value = wrong[0] - 256 if dtype.array == "|i1" and wrong[0] > 127 else wrong[0]
        raise ValueError(f"{value} is no value of {dtype.name}")
    per_byte = 8 // dtype.bits
    size = -(-len(elements) // per_byte)
    padded = elements + bytes(size * per_byte - len(elements))
    mask = (1 << dtype.bits) - 1
    packed = 0
    for i in range(per_byte):
        shifted = bytes((v & mask) << (i * dtype.bits) for v in range(256))
        packed |= int.from_bytes(padded[i::per_byte].translate(shifted), "little")
    return packed.to_bytes(size, "little")


def _values(dtype: DType) -> bytes:
    """Bytes that are elements of the type: -8..7 of int4."""
    n = 1 << dtype.bits
    return bytes(range(n)) if dtype.array == "|u1" else bytes(v % 256 for v in range(-n // 2, n // 2))


def _unpacking(dtype: DType, i: int) -> bytes:
    """What the i-th element of a packed byte is, for each of the 256."""
    values = sorted(_values(dtype), key=lambda v: v % (1 << dtype.bits))
    return bytes(values[b >> (i * dtype.bits) & ((1 << dtype.bits) - 1)] for b in range(256))
