"""The gender that a mention shows."""

from __future__ import annotations

import pytest

from firth.tasks.coref.gender import find_gender


@pytest.mark.parametrize(
    ("text", "gender"),
    [
        ("He", "masculine"),
        ("herself", "feminine"),
        ("its", "neuter"),
        ("the old man", "masculine"),
        ("his mother", "feminine"),
        ("the king 's daughter", "feminine"),
        ("the mother of the king", "feminine"),
        ("a woman , who waited", "feminine"),
        ("Mr. Queen", "masculine"),
        ("Mary", None),
        ("the nurse", None),
        ("they", None),
        ("the king and the queen", None),
        ("a lawyer with his son", None),
    ],
)
def test_pronouns_titles_and_heads_show_a_gender(text: str, gender: str | None) -> None:
    assert find_gender(text.split()) == gender
