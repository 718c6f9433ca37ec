# SPDX-License-Identifier: Apache-2.0
"""The version of this package, which is that of qrt.h. A libqrt of another MAJOR.MINOR is refused."""
import os
import re


def _version() -> str:
    header = os.path.join(os.path.dirname(__file__), "..", "..", "include", "qrt", "qrt.h")
    with open(header, encoding="utf-8") as file:
        return ".".join(re.findall(r"^#define QRT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", file.read(), re.M))


__version__ = _version()  # in an installed package a constant: see wheel.cmake
