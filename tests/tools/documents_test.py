# SPDX-License-Identifier: Apache-2.0
"""Man pages and completions: they name every option of every tool, `man` and `whatis` read the pages without a warning, and bash
completes by them. documents_test.py DOCUMENTS BIN; what needs a program that is not there is skipped."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

DOCUMENTS, BIN = sys.argv[1:3]
TOOLS = ["qrt", "qrt_bench", "qrt_convert", "qrt_diff", "qrt_doctor", "qrt_inspect", "qrt_quantize", "qrt_run"]


def output(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command}: status {done.returncode}: {done.stdout}")
    return done.stdout


def read(*path):
    with open(os.path.join(DOCUMENTS, *path), encoding="utf-8") as file:
        return file.read()


def options_of(tool):
    text = output(os.path.join(BIN, tool), "--help")
    return {n for line in re.findall(r"^  (-.*)", text, re.M)
            for n in re.findall(r"(?<![\w-])--?[a-z][a-z0-9-]*", line.split("  ")[0])}


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"{program} is missing")


class Documents(unittest.TestCase):

    def test_every_option_is_named(self):
        for tool in TOOLS[1:]:
            names = options_of(tool)
            self.assertGreater(len(names), 6, tool)
            page = read("man1", tool + ".1").replace("\\-", "-")
            bash = re.search(rf"^    {tool}\) options='([^']*)'", read("bash", "qrt"), re.M).group(1).split()
            zsh = re.search(rf"^    {tool}\)\n(.*?)\n      ;;", read("zsh", "_qrt"), re.M | re.S).group(1)
            fish = read("fish", tool + ".fish")
            self.assertEqual(set(bash), names, tool)
            for name in names:
                self.assertRegex(page, rf"(?m)^\.B .*{name}\b", tool)
                self.assertIn(f"'*{name}", zsh, tool)
                self.assertRegex(fish, f" -l {name[2:]}\\b" if name.startswith("--") else f" -s {name[1:]}\\b", tool)

    @needs("man")
    def test_pages_have_no_warnings(self):
        for tool in TOOLS:
            page = os.path.join(DOCUMENTS, "man1", tool + ".1")
            done = subprocess.run(["man", "--warnings=all", "-E", "UTF-8", "-l", page], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, check=True,
                                  env=dict(os.environ, MANWIDTH="100", MANROFFOPT="-ww", LC_ALL="C.UTF-8"))
            self.assertEqual(done.stderr, "", tool)
            self.assertIn("EXIT STATUS", done.stdout)

    @needs("mandb")
    def test_whatis(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            shutil.copytree(os.path.join(DOCUMENTS, "man1"), os.path.join(folder, "man1"))
            output("mandb", "--quiet", "--create", "--user-db", folder)
            for tool in TOOLS:
                self.assertRegex(output("whatis", "-M", folder, tool), rf"^{tool} \(1\) +- \w")

    def complete(self, *words):
        """What bash offers for the last word."""
        script = (f'source {DOCUMENTS}/bash/qrt\nCOMP_WORDS=("$@")\nCOMP_CWORD=$(($# - 1))\n_qrt_complete "$1"\n'
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        return output("bash", "-u", "-c", script, "bash", *words).split()

    @needs("bash")
    def test_bash_completes(self):
        with tempfile.TemporaryDirectory() as folder:
            before = os.getcwd()
            os.chdir(folder)
            try:
                os.mkdir("sub")
                for name in ("model.qrt", "a b.npy"):
                    with open(name, "w", encoding="utf-8"):
                        pass
                self.assertEqual(self.complete("qrt", "do"), ["doctor"])
                self.assertEqual(self.complete("qrt", "help", "co"), ["convert"])
                self.assertEqual(self.complete("qrt_run", "mod"), ["model.qrt"])
                self.assertEqual(self.complete("qrt_run", "model.qrt", "--output-d"), ["--output-dir"])
                self.assertEqual(self.complete("qrt_run", "--output-dir", ""), ["sub"])
                self.assertEqual(self.complete("qrt", "run", "--output-dir", "s"), ["sub"])
                self.assertEqual(self.complete("qrt_run", "--threads", "mod"), [])
                self.assertEqual(self.complete("qrt_run", "a"), ["a", "b.npy"])


                self.assertEqual(self.complete("qrt_convert", "m.onnx", "--require-level", ""), ["I0", "I1"])
                self.assertEqual(self.complete("qrt_convert", "--from", "=", "tfl"), ["tflite"])
                self.assertIn("json", self.complete("qrt_convert", "--explain", "=", ""))
            finally:
                os.chdir(before)
        for tool in TOOLS[1:]:
            self.assertIn(f" {tool}", output("bash", "-c", f"source {DOCUMENTS}/bash/{tool} && complete -p {tool}"))

    @needs("zsh")
    def test_zsh_reads_it(self):
        output("zsh", "-n", os.path.join(DOCUMENTS, "zsh", "_qrt"))

    @needs("fish")
    def test_fish_completes(self):
        for tool in TOOLS:
            output("fish", "-n", os.path.join(DOCUMENTS, "fish", tool + ".fish"))
        script = f"source {DOCUMENTS}/fish/qrt_convert.fish; complete -C 'qrt_convert --from tfl'"
        self.assertIn("tflite", output("fish", "-c", script))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
