#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A header on its way into Doxygen: comments before a declaration begin with /** or ///, those behind one with /**< or ///<, and
the first, of the whole file, with @file. filter.py HEADER"""
import re
import sys


def escaped(text):
    """Nothing in our comments is a command of Doxygen or of HTML."""
    return re.sub(r"([@<>&#%]|\\)", r"\\\1", text)


def whole_file(name, text):
    """The first comment, with its columns as they are."""
    return f"/** @file {name}\n@verbatim\n{text}\n@endverbatim */"


def documented(text, name):
    result, at = [], 0
    is_first = True
    pattern = re.compile(r'"(?:[^"\\\n]|\\.)*"|/\*.*?\*/|//[^\n]*', re.S)
    while True:
        found = pattern.search(text, at)
        if found is None:
            return "".join(result) + text[at:]
        result.append(text[at:found.start()])
        at = found.end()
        comment = found.group()
        if comment[0] == '"' or "SPDX-" in comment:
            result.append(comment)
            continue
        line = text[text.rfind("\n", 0, found.start()) + 1:found.start()]
        is_behind = line.strip() != ""
        if re.match(r"/\* ---- |// ---- ", comment) or line.lstrip().startswith("#") or (is_behind and re.search(r"\(\s*$", line)):
            result.append(comment)
        elif comment.startswith("//"):
            if is_first:  # the lines that follow belong to it, too
                more = re.compile(r"(?:\n//[^\n]*)*").match(text, at)
                at = more.end()
                result.append(whole_file(name, re.sub(r"(?m)^//", "", comment + more.group())))
            else:
                result.append(("///<" if is_behind else "///") + escaped(comment[2:]))
            is_first = False
        else:
            body = comment[2:-2]
            result.append(whole_file(name, re.sub(r"(?m)^ \*", "", body)) if is_first else
                          ("/**<" if is_behind else "/**") + escaped(body) + "*/")
            is_first = False


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        sys.stdout.write(documented(file.read(), sys.argv[1].split("include/")[-1]))
