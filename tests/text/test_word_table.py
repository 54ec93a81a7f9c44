"""Hash tables of words."""

from __future__ import annotations

from firth.kernels.characters import look_up
from firth.text.code_points import code_points
from firth.text.word_table import make_table


def test_a_table_gives_each_word_its_value_and_other_words_zero() -> None:
    words = {f"word{number}": 1 + number % 255 for number in range(1000)} | {"چای": 7}
    table = make_table(words)
    assert all(look_up(code_points(word), 0, len(word), *table) == value for word, value in words.items())
    assert look_up(code_points("word1000"), 0, 8, *table) == 0
    assert len(table[0]) >= 2 * len(words)


def test_an_empty_table_has_no_word() -> None:
    assert look_up(code_points("tea"), 0, 3, *make_table({})) == 0
