"""Numbers in a few characters."""

from __future__ import annotations

UNITS = ("bytes", "kB", "MB", "GB", "TB")


def abbreviate(value: float, digits: int = 3) -> str:
    """A number with a suffix for thousands, millions or billions.

    >>> abbreviate(1_250_000), abbreviate(0.0005), abbreviate(123_456, 6)
    ('1.25M', '0.0005', '123.456k')
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.{digits}g}{letter}"
    return f"{value:.{digits}g}"


def format_bytes(size: float) -> str:
    """A size in bytes with its unit.

    >>> format_bytes(480_000_000), format_bytes(12)
    ('480 MB', '12 bytes')
    """
    unit = 0
    while size >= 1000 and unit < len(UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{size:.3g} {UNITS[unit]}"
