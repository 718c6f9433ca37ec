# SPDX-License-Identifier: Apache-2.0
"""Element types that numpy or memoryview do not have, and quantised edges."""
import array
import struct
import unittest

import onnx_models
import qrt
from qrt import _types
from support import needs_numpy, numpy, python


def model(onnx):
    return qrt.Model(qrt.convert(onnx))


class PackedTest(unittest.TestCase):

    def test_packing_is_undone_by_unpacking(self):
        for dtype in _types.DTYPES:
            if not dtype.packed:
                continue
            values = bytes(_types._values(dtype))
            for count in (1, 2, 3, 4, 5, 7, 16):
                elements = (values * 16)[3:3 + count]
                packed = _types.pack(elements, dtype)
                self.assertEqual(len(packed), -(-count * dtype.bits // 8))
                self.assertEqual(_types.unpack(packed, dtype, count), elements)

    def test_the_first_element_is_in_the_lowest_bits(self):
        int4, uint2 = (next(t for t in _types.DTYPES if t.name == n) for n in ("int4", "uint2"))
        self.assertEqual(_types.pack(bytes([1, 0xFF, 0xF8]), int4), bytes([0xF1, 0x08]))
        self.assertEqual(_types.unpack(bytes([0xE4]), uint2, 4), bytes([0, 1, 2, 3]))
        with self.assertRaisesRegex(ValueError, "-9 is no value of int4"):
            _types.pack(bytes([256 - 9]), int4)

    def test_the_names_are_the_librarys(self):
        from qrt._library import lib
        for i, dtype in enumerate(_types.DTYPES):
            self.assertEqual(lib.qrt_dtype_name(i).decode(), dtype.name)
        self.assertEqual(lib.qrt_dtype_name(len(_types.DTYPES)), b"unknown")


@needs_numpy
class EdgesTest(unittest.TestCase):
    x = numpy.arange(-7, 8, dtype=numpy.float32).reshape(3, 5) if numpy else None

    def test_int4_output(self):
        m = model(onnx_models.quantize(onnx_models.INT4, [3, 5]))
        self.assertEqual(m.outputs[0].dtype, "int4")
        session = m.session()
        y = session.run({"x": self.x})["y"]
        self.assertEqual((y.dtype, y.shape), (numpy.int8, (3, 5)))
        self.assertTrue(numpy.array_equal(y, self.x))
        self.assertEqual(session.output("y").shape, (8,))  # packed bytes
        self.assertEqual(session.output("y")[0], 0xA9)  # -7, -6
        with self.assertRaisesRegex(BufferError, "packed int4"):
            session.outputs["y"].__dlpack__()

    def test_uint4_input(self):
        m = model(onnx_models.dequantize(onnx_models.UINT4, [3, 5], scale=0.5))
        session = m.session()
        x = numpy.arange(15, dtype=numpy.uint8).reshape(3, 5)
        self.assertTrue(numpy.array_equal(session.run({"x": x})["y"], x / 2))
        packed = bytes([0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0x0E])
        self.assertTrue(numpy.array_equal(session.run({"x": packed})["y"], x / 2))
        with self.assertRaisesRegex(ValueError, "16 is no value of uint4"):
            session.run({"x": x + numpy.uint8(2)})
        with self.assertRaisesRegex(TypeError, r"uint4 as uint8 \[3, 5\], not int8"):
            session.run({"x": x.astype(numpy.int8)})

    def test_batches_of_packed_types(self):
        m = model(onnx_models.quantize(onnx_models.UINT4, ["n", 5]))
        x = numpy.arange(35, dtype=numpy.float32).reshape(7, 5) % 16
        self.assertTrue(numpy.array_equal(m.session(batch=7).run({"x": x})["y"], x))

    def test_bfloat16(self):
        m = model(onnx_models.dequantize_to_bfloat16([3, 5]))
        self.assertEqual(m.outputs[0].dtype, "bfloat16")
        session = m.session()
        x = self.x.astype(numpy.int8)
        bits = session.run({"x": x})["y"]
        self.assertEqual(bits.dtype, numpy.uint16)
        self.assertTrue(numpy.array_equal(bits, (self.x / 2).view(numpy.uint32) >> 16))
        # Back again, and the type has a name in DLPack.
        back = model(onnx_models.quantize_bfloat16([3, 5])).session()
        self.assertTrue(numpy.array_equal(back.run({"x": bits})["y"], x))
        with self.assertRaisesRegex(TypeError, r"bfloat16 as uint16 \[3, 5\], not float32"):
            back.run({"x": self.x})

    def test_float8(self):
        session = model(onnx_models.quantize(onnx_models.FLOAT8E4M3FN, ["n", 3])).session()
        codes = session.run({"x": numpy.array([[1, -2, 0.5]], numpy.float32)})["y"]
        self.assertEqual(codes.tolist(), [[0x38, 0xC0, 0x30]])

    def test_quantised_inputs_tell_scale_and_zero_point(self):
        m = model(onnx_models.dequantize(onnx_models.INT8, [3, 5], scale=0.25))
        x = m.inputs["x"]
        self.assertEqual((x.dtype, x.scale, x.zero_point, x.axis), ("int8", 0.25, 0, None))
        self.assertIn("scale=0.25, zero_point=0", repr(x))
        self.assertEqual((m.outputs["y"].scale, m.outputs["y"].zero_point), (None, None))


class WithoutNumpyTest(unittest.TestCase):

    def test_small_types_are_bytes_and_bits(self):
        code = """if True:
            import sys
            sys.modules["numpy"] = None
            import array, qrt, onnx_models
            session = qrt.Model(qrt.convert(onnx_models.quantize(onnx_models.INT4, [3, 5]))).session()
            y = session.run({"x": array.array("f", range(-7, 8))})["y"]
            print([b - 256 * (b > 127) for b in y.tobytes()], session.output("y").tobytes().hex())
            session = qrt.Model(qrt.convert(onnx_models.dequantize_to_bfloat16([3]))).session()
            y = session.run({"x": array.array("b", [1, 2, -3])})["y"]
            print(y.format, y.tobytes().hex())
            """
        with_path = {"PYTHONPATH": ":".join(__import__("sys").path)}
        lines = python(code, **with_path).splitlines()
        self.assertEqual(lines[0], str(list(range(-7, 8))) + " a9cbed0f2143" + "6507")
        self.assertEqual(lines[1], "H 003f803fc0bf")


if __name__ == "__main__":
    unittest.main()
