# SPDX-License-Identifier: Apache-2.0
"""qrt.convert() and qrt.quantize(): the programs found, their options, their errors."""
import os
import shutil
import tempfile
import unittest
from unittest import mock

import onnx_models
import qrt
from support import DIGITS, needs_numpy, numpy

ONNX = os.path.join(DIGITS, "digits.onnx")


class ConvertTest(unittest.TestCase):

    def test_paths_and_bytes(self):
        with open(ONNX, "rb") as file:
            data = file.read()
        converted = qrt.convert(ONNX)
        self.assertEqual(qrt.convert(data), converted)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "-o =x.qrt")  # a name that looks like options
            self.assertIsNone(qrt.convert(ONNX, path))
            with open(path, "rb") as file:
                self.assertEqual(file.read(), converted)
            strange = os.path.join(folder, "--help")
            shutil.copy(ONNX, strange)
            previous = os.getcwd()
            os.chdir(folder)
            try:
                self.assertEqual(qrt.convert("--help"), converted)
            finally:
                os.chdir(previous)

    def test_options_reach_the_program(self):
        self.assertEqual(qrt.convert(ONNX, **{"from": "onnx"}, allow_float=True, target=None,
                                     float_io=False), qrt.convert(ONNX))
        with self.assertRaisesRegex(qrt.InvalidArgumentError, "--no-such-option: there is no such option"):
            qrt.convert(ONNX, no_such_option=True)
        with self.assertRaisesRegex(qrt.Error, "no input 'nobody'"):
            qrt.convert(ONNX, input_shape={"nobody": (1, 3)})
        with self.assertRaises(qrt.Error):
            qrt.convert(ONNX, **{"from": "tflite"})
        with self.assertRaisesRegex(qrt.InvalidArgumentError, "--signature b is for TFLite models"):
            qrt.convert(ONNX, signature="b")

    def test_errors(self):
        with self.assertRaisesRegex(qrt.FileError, "/nowhere.onnx"):
            qrt.convert("/nowhere.onnx")
        with self.assertRaises(qrt.InvalidModelError):
            qrt.convert(b"no model")
        with self.assertRaisesRegex(qrt.InvalidModelError, "of which qrt.convert.. makes one"):
            qrt.Model(ONNX)
        softmax_of_floats = onnx_models._model("Softmax", (onnx_models.FLOAT,) * 2, [1, 4], [])
        with self.assertRaisesRegex(qrt.UnsupportedError, "Softmax") as raised:
            qrt.convert(softmax_of_floats)
        self.assertIsInstance(raised.exception, NotImplementedError)

    def test_where_the_program_is_looked_for(self):
        program = os.environ["QRT_CONVERT"]
        expected = qrt.convert(ONNX)
        with mock.patch.dict(os.environ, QRT_CONVERT="/no/such/program"):
            with self.assertRaisesRegex(qrt.FileError, "/no/such/program cannot be started: No such "
                                                       "file or directory .*QRT_CONVERT"):
                qrt.convert(ONNX)
        with mock.patch.dict(os.environ):
            del os.environ["QRT_CONVERT"]
            os.environ["PATH"] = os.path.dirname(program)
            self.assertEqual(qrt.convert(ONNX), expected)
            os.environ["PATH"] = ""
            with self.assertRaisesRegex(qrt.FileError, "qrt_convert is not found.*QRT_CONVERT"):
                qrt.convert(ONNX)


@unittest.skipUnless("QRT_QUANTIZE" in os.environ, "qrt_quantize is not built")
class QuantizeTest(unittest.TestCase):
    FLOAT = os.path.join(DIGITS, "float.onnx")
    SAMPLES = os.path.join(DIGITS, "calibration.npy")

    @needs_numpy
    def test_paths_and_arrays_give_the_same_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path, report = os.path.join(folder, "digits.qrt"), os.path.join(folder, "report.html")
            self.assertIsNone(qrt.quantize(self.FLOAT, self.SAMPLES, path, report=report))
            self.assertGreater(os.path.getsize(report), 1000)
            with open(path, "rb") as file:
                written = file.read()
        samples = numpy.load(self.SAMPLES)
        for calibration in (samples, {"image": samples}, {"image": self.SAMPLES}, [self.SAMPLES]):
            self.assertEqual(qrt.quantize(self.FLOAT, calibration), written)
        images, labels = (numpy.load(os.path.join(DIGITS, name)) for name in ("images.npy", "labels.npy"))
        scores = qrt.Model(written).session(batch=len(images)).run({"image": images})["logits"]
        self.assertGreaterEqual(int((scores.argmax(axis=1) == labels).sum()), 355)

    def test_errors(self):
        with self.assertRaisesRegex(qrt.FileError, "/nowhere.npy"):
            qrt.quantize(self.FLOAT, "/nowhere.npy")
        with self.assertRaises(qrt.InvalidModelError):
            qrt.quantize(b"no model", self.SAMPLES)
        with self.assertRaisesRegex(qrt.InvalidArgumentError, "--no-such-option"):
            qrt.quantize(self.FLOAT, self.SAMPLES, no_such_option=1)
        with self.assertRaisesRegex(qrt.InvalidArgumentError, "--mean.* are for images"):
            qrt.quantize(self.FLOAT, self.SAMPLES, mean=(0.5, 0.25))


if __name__ == "__main__":
    unittest.main()
