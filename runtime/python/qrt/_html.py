# SPDX-License-Identifier: Apache-2.0
"""What notebooks show."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterable, Sequence


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def table(title: str, rows: Iterable[Sequence[str]]) -> str:
    body = "".join("<tr>" + "".join(f"<td style=\"text-align:left\">{escaped(cell)}</td>" for cell in row) + "</tr>"
                   for row in rows)
    return f"<table><caption style=\"text-align:left\">{escaped(title)}</caption><tbody>{body}</tbody></table>"
