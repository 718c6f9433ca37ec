# SPDX-License-Identifier: Apache-2.0
"""Runs what README.md shows beside the jobs that tutorial_test.sh runs: its further commands, on files of the names that it uses, and
its programs in C++ and Python. readme_test.py REPOSITORY BIN COMPILER; both programs use the library QRT_LIBRARY."""
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest

REPOSITORY, BIN, COMPILER = sys.argv[1:4]
LIBRARY = os.environ["QRT_LIBRARY"]
DIGITS = os.path.join(REPOSITORY, "tests", "models", "digits")
sys.path[:0] = [os.path.join(REPOSITORY, "tests", "python"), os.path.join(REPOSITORY, "runtime", "python")]
import onnx_models  # noqa: E402

with open(os.path.join(REPOSITORY, "README.md"), encoding="utf-8") as page:
    README = page.read()


def fenced(language):
    return [block for block in re.findall(rf"^```{language}\n(.*?)^```$", README, re.M | re.S)]


class Readme(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.environment = dict(os.environ, PATH=BIN + os.pathsep + os.environ["PATH"])

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)

    def link(self, name, source):
        os.symlink(os.path.join(DIGITS, source), self.path(name))

    def run_in_folder(self, *command, **options):
        done = subprocess.run(command, cwd=self.folder.name, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False, **options)
        self.assertEqual(done.returncode, 0, f"{command}: {done.stdout}")
        return done.stdout

    def convert(self, name, model):
        self.write("source.onnx", model)
        self.run_in_folder("qrt_convert", "source.onnx", "-o", name)

    def find_espdl(self):
        """A file of the fuzzer's that is a sound model."""
        folder = os.path.join(REPOSITORY, "tests", "fuzz", "corpus", "fuzz_espdl")
        for name in sorted(os.listdir(folder)):
            file = os.path.join(folder, name)
            command = ["qrt_convert", file, "--target", "esp32p4", "-o", self.path("some.qrt")]
            if subprocess.run(command, env=self.environment, capture_output=True, check=False).returncode == 0:
                return file
        raise AssertionError("no file of the corpus converts")

    def test_further_commands(self):
        block = re.search(r"^.*Further commands:\n\n((?:    .*\n)+)", README, re.M).group(1)
        commands = [line.split("  #")[0].strip() for line in textwrap.dedent(block).splitlines()]
        self.assertGreaterEqual(len(commands), 5)
        self.link("model.onnx", "digits.onnx")
        os.symlink(self.find_espdl(), self.path("face.espdl"))
        self.convert("encoder.qrt", onnx_models.quantize(onnx_models.UINT8, ["batch", "seq", 4]))
        self.convert("model.qrt", onnx_models.quantize(onnx_models.UINT8, [1, 3, 8, 8], 0.02))
        self.write("cat.jpg", b"P6 9 7 255\n" + bytes(range(189)))
        self.write("labels.txt", b"".join(b"class %d\n" % i for i in range(8)))
        for command in commands:
            self.run_in_folder("sh", "-c", command)
        for made in ("f.qrt", "time.html"):
            self.assertGreater(os.path.getsize(self.path(made)), 500, made)

    def test_python(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("numpy is missing")
        for name in ("digits.onnx", "images.npy", "logits.npy"):
            self.link(name, name)
        self.run_in_folder("qrt_convert", "digits.onnx", "-o", "digits.qrt")
        (program,) = fenced("python")
        before = os.getcwd()
        os.chdir(self.folder.name)
        try:
            names = {}
            exec(compile(program, "README.md", "exec"), names)
            self.assertTrue(numpy.array_equal(names["scores"], numpy.load("logits.npy")))
        finally:
            os.chdir(before)

    def test_cpp(self):
        for name in ("digits.onnx", "images.npy", "logits.npy"):
            self.link(name, name)
        self.run_in_folder("qrt_convert", "digits.onnx", "-o", "digits.qrt")
        (program,) = fenced("cpp")
        head, body = program.split("\n", 1)
        self.write("program.cc", f"""{head}
#include <algorithm>
#include <array>
#include <cstdio>
int main() {{
  std::array<float, 64> image = {{}};
  const auto use = [](float score) {{ std::printf("%g\\n", score); }};
{body}}}
""".encode())
        self.run_in_folder(COMPILER, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-I", os.path.join(REPOSITORY, "runtime", "include"), "program.cc",
                           "-o", "program", LIBRARY, "-Wl,-rpath," + os.path.dirname(LIBRARY))
        self.assertEqual(len(self.run_in_folder("./program").split()), 10)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
