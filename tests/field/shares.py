"""Shares of a total and how sure they are."""

from __future__ import annotations

import math


def wilson(right: int, total: int, z: float = 1.959964) -> tuple[float, float]:
    """Return the 95 % score interval of a proportion (Wilson 1927), which stays honest for few and extreme counts."""
    if not total:
        return 0.0, 1.0
    share, spread = right / total, z * z / total
    centre = share + spread / 2
    half = math.sqrt(spread * share * (1 - share) + spread * spread / 4)
    return max(0.0, (centre - half) / (1 + spread)), min(1.0, (centre + half) / (1 + spread))


def percent(right: int, total: int) -> str:
    """Return a share in words, `-` if there is nothing to share."""
    return f"{100 * right / total:.0f} %" if total else "-"


def interval(right: int, total: int) -> str:
    """Return the 95 % interval of a share in words, `-` if there is nothing to share."""
    low, high = wilson(right, total)
    return f"{100 * low:.0f} to {100 * high:.0f} %" if total else "-"
