# SPDX-License-Identifier: Apache-2.0
"""The tools in the wheel: one program, which does what the name that it is started by says."""
from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn, Optional

TOOLS = ("bench", "convert", "diff", "doctor", "inspect", "quantize", "run")


def own_program() -> Optional[str]:
    """The program's path; None in an installation without it."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", "qrt_all")
    return path if os.access(path, os.X_OK) else None


def main() -> NoReturn:
    """The console scripts: qrt_run ... is qrt_run, and so is qrt run ..."""
    name = os.path.basename(sys.argv[0])
    arguments = sys.argv[1:]
    if name == "qrt" and arguments[:1] == ["--version"]:
        name = "qrt_run"
    elif name == "qrt" and len(arguments) > 1 and arguments[0] == "help" and arguments[1] in TOOLS:
        name, arguments = "qrt_" + arguments[1], ["--help"]
    elif name == "qrt" and arguments and arguments[0] in TOOLS:
        name, arguments = "qrt_" + arguments[0], arguments[1:]
    program = own_program()
    if program is None:
        sys.exit(f"{name}: this installation of the Python package has no tools")
    os.execv(program, [name] + arguments)
