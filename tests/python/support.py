# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Python package share. ctest sets the environment: PYTHONPATH (the package),
QRT_LIBRARY, QRT_CONVERT, QRT_QUANTIZE, QRT_EVERY_OP_MODEL, QRT_FRAME_MODEL, QRT_SIZED_MODEL and QRT_SIZED_COUNTER_MODEL."""
import os
import subprocess
import sys
import unittest

import qrt

try:
    import numpy
except ImportError:
    numpy = None

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
DIGITS = os.path.join(ROOT, "tests", "models", "digits")
EVERY_OP = os.environ["QRT_EVERY_OP_MODEL"]
FRAMES = os.environ["QRT_FRAME_MODEL"]
SIZED = os.environ["QRT_SIZED_MODEL"]
SIZED_COUNTER = os.environ["QRT_SIZED_COUNTER_MODEL"]

needs_numpy = unittest.skipUnless(numpy, "numpy is not installed (Debian: python3-numpy)")


def python(code, *arguments, **environment):
    """Runs code in another interpreter; its stdout. Fails with its stderr."""
    done = subprocess.run([sys.executable, "-B", "-c", code] + list(arguments), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=dict(os.environ, **environment), check=False,
                          timeout=600)
    if done.returncode != 0:
        raise AssertionError(f"status {done.returncode}: {done.stderr.decode()}")
    return done.stdout.decode()


def digits():
    """The model, its images and ONNX Runtime's results."""
    model = qrt.Model(qrt.convert(os.path.join(DIGITS, "digits.onnx")))
    return (model, numpy.load(os.path.join(DIGITS, "images.npy")),
            numpy.load(os.path.join(DIGITS, "logits.npy")))
