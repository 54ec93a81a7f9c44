"""Numbers in a few characters."""

from __future__ import annotations

import pytest

from firth.show.numbers import abbreviate, format_bytes


@pytest.mark.parametrize(
    "value, text", [(0, "0"), (999, "999"), (1000, "1k"), (-2500, "-2.5k"), (16e6, "16M"), (3.456e9, "3.46G")]
)
def test_large_numbers_have_a_suffix(value: float, text: str) -> None:
    assert abbreviate(value) == text


def test_bytes_have_a_unit_up_to_terabytes() -> None:
    assert [format_bytes(10**power) for power in (0, 3, 6, 16)] == ["1 bytes", "1 kB", "1 MB", "1e+04 TB"]
