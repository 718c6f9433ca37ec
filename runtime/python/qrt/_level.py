# SPDX-License-Identifier: Apache-2.0
"""How a model computes."""
from __future__ import annotations

from enum import IntEnum


class Level(IntEnum):
    """The kind of arithmetic between a model's edges."""

    EDGE = -1
    """Quantises or dequantises."""
    I0 = 0
    """Integers alone."""
    I1 = 1
    """Integers with scales in floating point, whose bits are defined."""
    F = 2
    """Floating point."""
