# SPDX-License-Identifier: Apache-2.0
"""The version of this package, which is that of qrt.h. A libqrt of another MAJOR.MINOR is refused."""
import os


def _version() -> str:
    header = os.path.join(os.path.dirname(__file__), "..", "..", "include", "qrt", "qrt.h")
    with open(header, encoding="utf-8") as file:
        return ".".join(line.split()[2] for line in file if line.startswith("#define QRT_VERSION_M") or line.startswith("#define QRT_VERSION_PATCH"))


__version__ = _version()  # in an installed package a constant: see wheel.cmake
