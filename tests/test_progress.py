"""Progress as a fraction."""

from __future__ import annotations

from firth.progress import Progress, silent


def test_the_share_is_known_with_a_total_and_never_above_one() -> None:
    assert Progress("reading", 3, 4).share == 0.75
    assert Progress("reading", 9, 4).share == 1.0
    assert Progress("reading", 9).share is None
    assert silent(Progress("reading", 9)) is None
