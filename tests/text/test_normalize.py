"""The normalizer: equal spellings become equal, once and for all, and every character knows where it came from."""

from __future__ import annotations

import typing
import unicodedata
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firth.errors import OptionError
from firth.text.normalize import BLOCK, Normalizer

KINDS = typing.get_type_hints(Normalizer)
CHOICES = {
    field.name: st.booleans() if KINDS[field.name] is bool else st.sampled_from(typing.get_args(KINDS[field.name]))
    for field in fields(Normalizer)
}
NORMALIZERS = st.builds(Normalizer, **CHOICES)
NASTY = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(
            list("aAeİıßſKéΐ\u0345\u0390 \n.-٠۱1१يكىیکةۀەهدرآاؤءـ\u0654\u0653\u064e\u0651\u0670\ufefb\ufeff\u00ad")
            + list("\u200b\u200c\u200c\u200c\u200d\u200e\u202b\u2067\u0301\u0323\u0307\u094d\u0915\u0937")
            + list("\u1100\u1161\u11a8\uac00\u0958\u2126\u212b\ud800\udc82\x00\U0001d7d9😀ＡﾃﾞﾟﬁI´")
        ),
    ),
    max_size=25,
)


def test_letters_that_look_alike_become_alike():
    assert Normalizer()("e\u0301 \u212b") == "é Å"
    assert Normalizer(fold_case=True)("ΣΊΣΥΦΟΣ Straße İ") == "σίσυφοσ strasse i\u0307"
    assert Normalizer(letters="persian")("كتابي ﻻ") == "کتابی لا"
    assert Normalizer.arabic()("کتابی") == "كتابي"
    assert Normalizer(alef_maksura="yeh")("موسى") == "موسی"
    assert Normalizer(teh_marbuta="heh")("خيمة") == "خيمه"
    assert Normalizer(heh_yeh="yeh")("خانۀ") == "خانه\u200cی"
    assert Normalizer(tatweel="strip", diacritics="strip")("سَلـــامٌ آ") == "سلام آ"


def test_digits_follow_the_policy():
    text = "1 ١ ۱ १"
    assert Normalizer()(text) == text
    assert Normalizer(digits="ascii")(text) == "1 1 1 1"
    assert Normalizer(digits="persian")(text) == "۱ ۱ ۱ ۱"
    assert Normalizer(digits="arabic")("123") == "١٢٣"


def test_joiners_stay_inside_words_and_go_where_they_do_nothing():
    normalizer = Normalizer()
    assert normalizer("می\u200cروم") == "می\u200cروم"
    assert normalizer("می\u200c\u200c\u200cروم") == "می\u200cروم"
    assert normalizer("\u200cکتاب\u200c \u200cها\u200c.") == "کتاب ها."
    assert normalizer("کار\u200cخانه آ\u200cن دِ\u200cل") == "کارخانه آن دِل"
    assert Normalizer(zwnj="keep")("کار\u200cها\u200c") == "کار\u200cها\u200c"


def test_the_joiners_of_indian_scripts_are_not_touched():
    for text in ("क्\u200cष", "क्\u200dष", "ন্\u200c", "ක්\u200dෂ", "अ\u0902\u200c क"):
        assert Normalizer()(text) == text


def test_invisible_controls_go_but_the_word_border_of_khmer_becomes_a_space():
    assert Normalizer()("\ufeffa\u200f\u202bb\u202c co\u00adop\u2066x\u2069") == "ab coopx"
    assert Normalizer()("ភាសា\u200bខ្មែរ") == "ភាសា ខ្មែរ"
    assert Normalizer(zero_width_space="strip")("a\u200bb") == "ab"
    assert Normalizer(invisible="keep")("a\u200fb") == "a\u200fb"


def test_what_is_on_by_default_leaves_every_script_alone():
    for text in ("ي ك ى ة ۀ ـ ً ٣", "Straße İ", "हिन्दी", "ไทย", "漢字かな", "한국어", "👩\u200d👧", "Żółć", "עִבְרִית"):
        assert Normalizer()(text) == text


def test_ascii_text_comes_back_itself():
    text = "plain words, 123"
    assert Normalizer()(text) is text


def test_digits_of_words_and_addresses_in_latin_letters_stay():
    normalizer = Normalizer.persian()
    for text in ("MP3", "www.varzesh3.com", "ali2@mail3.org", "http://x.ir/a?b=12", "3G", "A4-B5"):
        assert normalizer(f"در {text} است ۱۲") == f"در {text} است ۱۲"
        assert normalizer.aligned(text)[0] == text
    assert normalizer("سال 2020 و 3.14، MP3") == "سال ۲۰۲۰ و ۳.۱۴، MP3"
    assert Normalizer.persian(latin_words="convert")("MP3") == "MP۳"


def test_persian_unifies_the_two_spellings_of_heh_with_hamza():
    assert Normalizer.persian()("خانۀ") == Normalizer.persian()("خانه\u0654") == "خانه\u0654"


def test_nfkc_is_an_option():
    text = "Ｔｅａ ﾃｨｰ ﬁn x² ｶﾞ"
    assert Normalizer()(text) == text
    assert Normalizer(form="NFKC")(text) == "Tea ティー fin x2 ガ"
    assert Normalizer(form="NFKC").aligned("ｶﾞﬁ")[1].tolist() == [0, 2, 2, 3]


def test_an_unknown_policy_is_refused():
    with pytest.raises(OptionError, match="digits is 'roman'"):
        Normalizer(digits="roman")


def test_a_long_text_is_normalized_as_its_lines_are():
    lines = ["كتاب\u200c\u200cها e\u0301\u200c", "plain", "\u200cb\u200f"] * BLOCK
    normalizer = Normalizer.persian(fold_case=True)
    one = "\n".join(normalizer(line) for line in lines[:3])
    assert normalizer("\n".join(lines)) == "\n".join([one] * BLOCK)


WORDS = st.lists(st.sampled_from(["می", "روم", "ها", "کتاب", "MP3", "3", "I", "ﾃ", "ﾞ", " ", "\u200c"]), max_size=9).map(
    "".join
)


@given(WORDS, NORMALIZERS)
def test_words_normalized_twice_and_aligned_are_the_words_normalized_once(text, normalizer):
    once = normalizer(text)
    assert normalizer(once) == once
    assert normalizer.aligned(text)[0] == once


@given(NASTY, NORMALIZERS)
def test_normalizing_twice_is_normalizing_once(text, normalizer):
    once = normalizer(text)
    assert normalizer(once) == once
    assert unicodedata.is_normalized("NFC", once)


@given(NASTY, NORMALIZERS)
def test_the_aligned_text_is_the_normal_text_and_places_never_fall(text, normalizer):
    normal, offsets = normalizer.aligned(text)
    assert normal == normalizer(text)
    assert len(offsets) == len(normal) + 1
    assert offsets[-1] == len(text)
    assert np.all(np.diff(offsets) >= 0)


@pytest.mark.parametrize("letter", ["\u0390", "\u1fd3", "\u03b0", "\u01f0", "\u1e96"])
def test_a_letter_that_is_folded_into_parts_is_whole_again_in_the_aligned_text(letter):
    normalizer = Normalizer(fold_case=True)
    normal, offsets = normalizer.aligned(f"a{letter}b")
    assert normal == normalizer(f"a{letter}b")
    assert offsets.tolist() == [0, 1, 2, 3]


@given(NASTY, NORMALIZERS)
def test_the_aligned_spelling_is_the_spelling(text, normalizer):
    assert normalizer.spell_aligned(text)[0] == normalizer.spell(text)


@given(NASTY)
def test_every_character_knows_where_it_came_from(text):
    """A character's first atom stands at its place in the source, or, where marks changed places, behind it."""
    normal, offsets = Normalizer(zero_width_space="keep").aligned(text)
    for letter, place in zip(normal, offsets.tolist()):
        atom = unicodedata.normalize("NFD", letter)[0]
        source = unicodedata.normalize("NFD", text[place])
        assert atom in source or unicodedata.combining(atom)


def test_places_are_right_by_hand():
    normal, offsets = Normalizer.persian(fold_case=True).aligned("ß e\u0301\u200fكِ\u200c\u200cه ﻻ")
    assert normal == "ss éک\u200cه لا"
    assert offsets.tolist() == [0, 0, 1, 2, 5, 8, 9, 10, 11, 11, 12]
