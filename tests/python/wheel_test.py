# SPDX-License-Identifier: Apache-2.0
"""The wheel: its size and tag, installed without an index in a fresh environment, with and without
numpy there, and the README's lines run. QRT_WHEEL_DIR holds the wheel."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
DIGITS = os.path.join(ROOT, "tests", "models", "digits")

TIMES = r"""
import subprocess, sys, time
def import_ms(module):
    code = "import time; t = time.process_time(); import %s; print(time.process_time() - t)" % module
    return min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(15)) * 1e3
def best(*functions, repeat=300, calls=100):
    # Microseconds of a call of each, the least of all rounds; in turns, so that all see the same machine.
    least = [1e9] * len(functions)
    for _ in range(repeat):
        for i, function in enumerate(functions):
            begin = time.perf_counter()
            for _ in range(calls):
                function()
            least[i] = min(least[i], (time.perf_counter() - begin) / calls * 1e6)
    return least
import qrt
from qrt._library import lib
session = qrt.Model("digits.qrt").session(threads=1)
image = bytes(256)
try:
    import numpy
    image = numpy.zeros((1, 1, 8, 8), numpy.float32)
except ImportError:
    pass
inputs = {"image": image}
pointer, call = session._pointer, lib.qrt_session_run
c, nothing, views, arrays = best(lambda: call(pointer, session._error), lambda: lib.qrt_session_op_count(pointer),
                                 lambda: session.run(copy=False), lambda: session.run(inputs))
c -= nothing  # without what ctypes adds
print("import %.1f ms; run() over C: views %.2f us, arrays %.2f us" % (import_ms("qrt"), views - c, arrays - c))
"""

WITHOUT_NUMPY = r"""
import array, sys, qrt
assert qrt.library_path().startswith(sys.prefix), qrt.library_path()
assert [line.split("/")[-1].strip() for line in open("/proc/self/maps") if "libpthreadpool" in line and
        not line.split()[-1].startswith(sys.prefix)] == []
try:
    import numpy
except ImportError:
    pass
else:
    raise AssertionError("numpy is there")
with open("images.npy", "rb") as file:
    data = file.read()[-360 * 256:]
scores = qrt.Model("digits.qrt").session(batch=360).run({"image": data})["logits"]
with open("logits.npy", "rb") as file:
    assert file.read()[-360 * 40:] == scores.tobytes()
print("the bits are ONNX Runtime's")
"""


class WheelTest(unittest.TestCase):

    def setUp(self):
        wheels = glob.glob(os.path.join(os.environ["QRT_WHEEL_DIR"], os.environ.get("QRT_WHEEL", "qrt_runtime-*.whl")))
        self.assertEqual(len(wheels), 1)
        self.wheel = wheels[0]

    def test_size_tag_and_content(self):
        size = os.path.getsize(self.wheel)
        print(f"{os.path.basename(self.wheel)}: {size:,} bytes")
        self.assertRegex(os.path.basename(self.wheel),
                         r"^qrt(_runtime)?-\d+\.\d+\.\d+-py3-none-manylinux_2_\d+_\w+\.whl$")
        with zipfile.ZipFile(self.wheel) as archive:
            names = archive.namelist()
        self.assertLess(size, 9_000_000 if "qrt/lib/qrt_all" in names else 2_000_000)
        self.assertTrue({"qrt/py.typed", "qrt/lib/libqrt.so", "qrt/__init__.py"} <= set(names))
        for name in names:  # a library of others comes with its licence
            if re.search(r"/lib(?!qrt)\w+\.so", name) and not name.endswith(".copyright"):
                self.assertIn(name + ".copyright", names)

    def test_in_a_fresh_environment(self):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("QRT_", "PYTHON"))}
        with zipfile.ZipFile(self.wheel) as archive:
            has_tools = "qrt/lib/qrt_all" in archive.namelist()
        if not has_tools:
            environment["QRT_CONVERT"] = os.environ["QRT_CONVERT"]
        with tempfile.TemporaryDirectory() as folder:

            def run(*command):
                done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, check=False, timeout=900)
                self.assertEqual(done.returncode, 0, done.stdout.decode())
                return done.stdout.decode()

            for name in ("images.npy", "logits.npy", "digits.onnx", "float.onnx", "calibration.npy"):
                shutil.copy(os.path.join(DIGITS, name), folder)
            venv = os.path.join(folder, "venv")
            run(sys.executable, "-m", "venv", venv)
            python = os.path.join(venv, "bin", "python")
            run(python, "-m", "pip", "install", "--no-index", self.wheel)

            def example(*path):
                with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
                    lines = re.search(r"```python\n(.*?)```", file.read(), re.DOTALL).group(1)
                self.assertLessEqual(lines.count("\n"), 12)
                return lines

            if has_tools:
                scripts = os.path.join(venv, "bin")
                run(os.path.join(scripts, "qrt_convert"), "digits.onnx", "-o", "tool.qrt")
                self.assertIn("all 3600 equal", run(os.path.join(scripts, "qrt"), "run", "tool.qrt", "images.npy",
                                                    "--expect", "logits.npy"))
                self.assertIn("Usage: qrt_bench", run(os.path.join(scripts, "qrt"), "help", "bench"))
                run(python, "-m", "pip", "check")
                run(python, "-c", "import qrt; qrt.quantize('float.onnx', 'calibration.npy', 'made.qrt')")
            run(python, "-c", "import qrt; qrt.convert('digits.onnx', 'digits.qrt')")
            print(run(python, "-c", WITHOUT_NUMPY).strip())
            print("without numpy:", run(python, "-c", TIMES).strip())
            with open(os.path.join(venv, "pyvenv.cfg"), encoding="utf-8") as file:
                config = file.read()
            with open(os.path.join(venv, "pyvenv.cfg"), "w", encoding="utf-8") as file:
                file.write(config.replace("include-system-site-packages = false",
                                          "include-system-site-packages = true"))
            try:
                run(python, "-c", "import numpy")
            except AssertionError:
                self.skipTest("numpy is not installed (Debian: python3-numpy)")
            os.remove(os.path.join(folder, "digits.qrt"))
            check = ("\nassert scores.tobytes() == numpy.load('logits.npy').tobytes()"
                     "\nassert qrt.library_path().startswith(__import__('sys').prefix)")
            run(python, "-c", example("runtime", "python", "README.md") + check)
            run(python, "-c", example("README.md") + check)
            times = run(python, "-c", TIMES).strip()
            print("with numpy:", times)
            # Far from the figures of a quiet machine (README), near enough to see a mistake.
            self.assertLess(float(re.search(r"import ([\d.]+) ms", times).group(1)), 60)
            self.assertLess(float(re.search(r"views ([\d.]+) us", times).group(1)), 10)


if __name__ == "__main__":
    unittest.main()
