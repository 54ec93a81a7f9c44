"""Text as code points and back."""

from __future__ import annotations

from firth.text.code_points import code_points, to_text


def test_every_character_is_one_code_point_also_half_a_surrogate_pair() -> None:
    text = "aé漢😀\ud800\u200c"
    assert code_points(text).tolist() == [ord(letter) for letter in text]
    assert to_text(code_points(text)) == text
