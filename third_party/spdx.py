#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every source file says its licence in a line of its own, the first one, or the second after #!. spdx.py [--write] adds it where
it is missing, or else lists those files and fails. Data, documents and models have none: LICENSE is theirs, too."""
import os
import subprocess
import sys

TAG = "SPDX-License-Identifier: Apache-2.0"
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
SLASHES, BLOCK, HASH = f"// {TAG}\n", f"/* {TAG} */\n", f"# {TAG}\n"
LINES = {"cc": SLASHES, "h": SLASHES, "hpp": SLASHES, "inc": SLASHES, "fbs": SLASHES, "js": SLASHES, "mjs": SLASHES, "rc": SLASHES,
         "c": BLOCK, "css": BLOCK, "map": BLOCK,
         "py": HASH, "cmake": HASH, "sh": HASH, "in": HASH, "toml": HASH, "html": f"<!-- {TAG} -->\n"}
C_HEADERS = ("runtime/include/qrt/qrt.h", "runtime/include/qrt/image.h")  # of C90, too
DATA = ("tests/fuzz/corpus/", "tests/fuzz/regressions/", "third_party/debian/changelog.in")


def line_of(path, text):
    """The line that the file should have; None for what is no source."""
    if path.startswith(DATA):
        return None
    if path in C_HEADERS:
        return BLOCK
    if os.path.basename(path) == "CMakeLists.txt":
        return HASH
    extension = os.path.splitext(path)[1][1:]
    return LINES.get(extension) or (HASH if text.startswith(b"#!") else None)


def main(writes):
    paths = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    missing = []
    for path in paths:
        whole = os.path.join(ROOT, path)
        if os.path.islink(whole) or not os.path.isfile(whole):
            continue
        with open(whole, "rb") as file:
            text = file.read()
        line = line_of(path, text)
        if line is None or TAG.encode() in b"\n".join(text[:500].split(b"\n")[:2]):
            continue
        missing.append(path)
        if writes:
            end = text.index(b"\n") + 1 if text.startswith(b"#!") else 0
            with open(whole, "wb") as file:
                file.write(text[:end] + line.encode() + text[end:])
    print("\n".join(missing) if missing else f"{len(paths)} files: each source file says its licence")
    return 1 if missing and not writes else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] == ["--write"]))
