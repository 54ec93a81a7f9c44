"""Errors are one class for callers, and say place, problem and cure."""

from __future__ import annotations

import pytest

from firth.errors import Diverged, FirthError, FormatError, MissingExtra, OptionError, UnknownWord, suggest


def test_every_error_is_a_firth_error_and_a_builtin_one() -> None:
    builtin = {OptionError: ValueError, FormatError: ValueError, UnknownWord: KeyError, MissingExtra: ImportError}
    builtin[Diverged] = ArithmeticError
    assert all(issubclass(error, FirthError) and issubclass(error, known) for error, known in builtin.items())


def test_a_format_error_has_place_problem_and_cure() -> None:
    error = FormatError("a.txt", "too long", line=3, offset=9, cure="Cut it")
    assert str(error) == "a.txt:3: byte 9: too long. Cut it"


def test_an_unknown_word_is_printed_without_quotes_around_the_message() -> None:
    assert str(UnknownWord("tae", ["tea"])) == "'tae' is not in the vocabulary. Near spellings: 'tea'"


@pytest.mark.parametrize(
    "name, message", [("wrod2vec", "Did you mean 'word2vec'?"), ("bert", "There are: word2vec, glove")]
)
def test_a_similar_name_is_suggested_or_all_are_listed(name: str, message: str) -> None:
    assert suggest(name, ["word2vec", "glove"]) == message
