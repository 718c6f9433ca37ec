#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The highest version of glibc's and of the C++ library's symbols that programs and libraries ask for; a wheel's are looked into.

    glibc_versions.py [--most 2.28] FILE...

Prints a line for each file, and with --most the symbols beyond it, and fails where there are some.
"""
import os
import re
import subprocess
import sys
import tempfile
import zipfile


def symbols(path):
    """(name, library's version as ("GLIBC", (2, 34)))"""
    text = subprocess.run(["readelf", "--dyn-syms", "-W", path], check=True, capture_output=True, text=True).stdout
    for name, kind, version in re.findall(r" UND +(\S+?)@+(GLIBC|GLIBCXX|CXXABI|GCC)_([0-9.]+)", text):
        yield name, kind, tuple(map(int, version.split(".")))


def elf_files(path):
    """(name, path of a file) of a file itself, or of those in a wheel."""
    with open(path, "rb") as file:
        head = file.read(4)
    if head == b"\x7fELF":
        yield os.path.basename(path), path
    elif head[:2] == b"PK":
        with zipfile.ZipFile(path) as archive, tempfile.TemporaryDirectory() as folder:
            for name in archive.namelist():
                data = archive.read(name)
                if data[:4] == b"\x7fELF":
                    target = os.path.join(folder, "file")
                    with open(target, "wb") as file:
                        file.write(data)
                    yield f"{os.path.basename(path)}/{name}", target


def main(arguments):
    most = None
    if arguments[:1] == ["--most"]:
        most = tuple(map(int, arguments[1].split(".")))
        arguments = arguments[2:]
    if not arguments:
        sys.exit(__doc__)
    beyond = []
    for given in arguments:
        for name, path in elf_files(given):
            highest = {}
            for symbol, kind, version in symbols(path):
                highest[kind] = max(highest.get(kind, (0,)), version)
                if most and kind == "GLIBC" and version > most:
                    beyond.append(f"{name}: {symbol}@GLIBC_{'.'.join(map(str, version))}")
            print(f"{name}:", ", ".join(f"{k}_{'.'.join(map(str, v))}" for k, v in sorted(highest.items())) or "none: static")
    for line in beyond:
        print(line, file=sys.stderr)
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
