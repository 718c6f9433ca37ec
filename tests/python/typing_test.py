# SPDX-License-Identifier: Apache-2.0
"""The package and a program that uses it, by mypy --strict; and that the program runs."""
import ast
import glob
import os
import shutil
import subprocess
import sys
import unittest

from support import EVERY_OP, ROOT

PACKAGE = os.path.join(ROOT, "runtime", "python", "qrt")
EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "typing_example.py")


class TypingTest(unittest.TestCase):

    @unittest.skipUnless(shutil.which("mypy"), "mypy is not installed (Debian: mypy)")
    def test_strictly(self):
        done = subprocess.run(["mypy", "--strict", "--python-version", "3.8", "--cache-dir", os.devnull, PACKAGE, EXAMPLE],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              env=dict(os.environ, MYPYPATH=os.path.dirname(PACKAGE)))
        self.assertEqual(done.returncode, 0, done.stdout.decode())

    @unittest.skipUnless(shutil.which("mypy"), "mypy is not installed (Debian: mypy)")
    def test_a_wrong_program_is_found(self):
        code = "import qrt\nx: int = qrt.Model('m').inputs['x'].name\n"
        done = subprocess.run(["mypy", "--strict", "--cache-dir", os.devnull, "-c", code], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False,
                              env=dict(os.environ, MYPYPATH=os.path.dirname(PACKAGE)))
        self.assertIn('expression has type "str", variable has type "int"', done.stdout.decode())

    def test_the_program_runs(self):
        done = subprocess.run([sys.executable, "-B", EXAMPLE, EVERY_OP], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout.decode())
        self.assertIn("'again', 'error', 'real', 'sizes'", done.stdout.decode())

    def test_every_module_is_syntax_of_3_8(self):
        for path in glob.glob(os.path.join(PACKAGE, "*.py")):
            with open(path, encoding="utf-8") as file:
                ast.parse(file.read(), path, feature_version=(3, 8))


if __name__ == "__main__":
    unittest.main()
