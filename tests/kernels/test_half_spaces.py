"""The kernel of half-spaces against its Python body."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from firth.kernels import half_spaces as kernel
from firth.text.code_points import code_points
from firth.text.half_spaces import form_table, word_table

WORDS = st.lists(
    st.sampled_from(["می", "روم", "کتاب", "ها", "تر", "خانه", "ای", "a", "،", "\u200c", "\n", "و", "دانش", "آموز"])
)


@settings(max_examples=40)
@given(WORDS, st.sampled_from([" ", "  ", "\u200c ", ""]))
def test_the_compiled_kernel_does_what_its_python_body_does(words, gap):
    codes = code_points(gap.join(words))
    compiled, plain = np.zeros((2, len(codes)), np.uint8)
    tables = *word_table(), *form_table()
    assert kernel.find_joins(codes, *tables, compiled) == kernel.find_joins.py_func(codes, *tables, plain)
    assert compiled.tolist() == plain.tolist()


def test_deleted_characters_go_and_joined_ones_become_half_spaces():
    codes, out = code_points("a bc"), np.empty(4, np.uint32)
    actions = np.array([kernel.KEEP, kernel.JOIN, kernel.DELETE, kernel.KEEP], np.uint8)
    size = kernel.apply_joins(codes, actions, out)
    assert out[:size].tolist() == [ord("a"), kernel.ZWNJ, ord("c")]


def test_a_silent_heh_is_no_heh_after_a_long_vowel():
    for word, silent in (("خانه", True), ("راه", False), ("گروه", False), ("به", False)):
        assert kernel.has_silent_heh(code_points(word), 0, len(word)) == silent
