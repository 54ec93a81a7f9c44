"""Classes of characters, white space, and the table of abbreviations."""

from __future__ import annotations

import numpy as np

from firth.kernels import characters, sentences
from firth.text.abbreviations import abbreviation_table
from firth.text.character_classes import character_classes
from firth.text.code_points import code_points


def test_every_class_that_is_white_space_is_what_python_takes_for_it():
    spaces = np.flatnonzero(character_classes() <= characters.LINE)
    assert spaces.tolist() == [code for code in range(0x110000) if chr(code).isspace()]


def test_a_table_knows_its_abbreviations_and_nothing_else():
    keys, values = abbreviation_table()
    for word, kind in (("Mr", sentences.TITLE), ("etc", sentences.ENDER), ("No", sentences.NUMBERED), ("Xy", 0)):
        assert characters.look_up(code_points(word), 0, len(word), keys, values) == kind


def test_skipped_white_space_holds_a_break_where_a_line_or_paragraph_ends():
    classes = character_classes()
    for text, line, paragraph in (
        ("  a", False, False),
        (" \na", True, False),
        ("\r\na", True, False),
        ("\n \na", True, True),
    ):
        codes = code_points(text)
        assert characters.skip_space(codes, classes, 0, False) == (len(text) - 1, line)
        assert characters.skip_space(codes, classes, 0, True) == (len(text) - 1, paragraph)
    assert characters.skip_space(code_points("  "), classes, 0, True) == (2, True)
