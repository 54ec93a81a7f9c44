"""Places of words in texts of users: every span is cut from the text as it was written."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import pytest

from firth.tasks.located_text import AnswerSpan, LocatedText, span_row
from firth.tasks.tokenization import Letters, make_tokenizer

PIECES = (
    *(
        "tea",
        "Ann's",
        "can't",
        "e\u0301te\u0301",
        "na\u0308ive",
        "\u0627\u0644\u0639\u064e\u0631\u064e\u0628\u064a\u0629",
    ),
    *("\u0645\u06cc\u200c\u0631\u0648\u0645", "\u0643\u062a\u0627\u0628", "\u0639\u0644\u064a", "1399", "\u06f1\u06f2"),
    *(
        "\U0001f600",
        "\U0001f469\u200d\U0001f469\u200d\U0001f467",
        "\U0001f1ee\U0001f1f7",
        "\u2764\ufe0f",
        "\u6771\u4eac",
        "\ufb01n",
        "\u00bd",
    ),
    *("U.S.", "$75", "...", "\u2026", "\u201cno\u201d", "?", "!", "\ufeff", "\u00ad", "\u200f", "Rome."),
)
GAPS = (" ", "  ", "\t", "\n", "\n\n", "\u00a0", "", "\u3000", " \u200c")


def random_text(seed: int) -> str:
    rng = random.Random(seed)
    return "".join(rng.choice(PIECES) + rng.choice(GAPS) for _ in range(rng.randrange(14)))


@pytest.mark.parametrize("letters", ["keep", "persian", "arabic"])
def test_every_span_is_the_part_of_the_text_that_its_characters_name(letters: Letters) -> None:
    tokenizer = make_tokenizer(letters)
    seen = 0
    for seed in range(150):
        text = random_text(seed)
        sentences = LocatedText.split(text, tokenizer, input=seed)
        assert [one.sentence for one in sentences] == list(range(len(sentences)))
        assert {(one.input, one.text) for one in sentences} == {(seed, text)}
        assert sum((one.words for one in sentences), ()) == tuple(tokenizer.words(text))
        places = [place for one in sentences for place in one.places]
        assert all(before[1] <= after[0] for before, after in pairwise(places))
        for one in sentences:
            for start in range(len(one.words)):
                for end in range(start + 1, len(one.words) + 1):
                    span = one.span(start, end, 0.5)
                    assert span.text == text[span.start : span.end] != ""
                    assert span.text == span.text.strip(" \t\n")
                    assert (span.token_start, span.token_end) == (start, end)
                    seen += 1
    assert seen > 2000


def test_words_that_the_normalizer_keeps_are_their_own_surface() -> None:
    text = "  He paid US$75\u00a0 (twice)\u2026 \U0001f600!  می\u200cروم"
    located = LocatedText.of(text, make_tokenizer("keep"))
    assert [text[start:end] for start, end in located.places] == list(located.words)


def test_normalized_words_keep_the_spelling_of_the_user_in_their_spans() -> None:
    [located] = LocatedText.split("علي كريمي در سال 1399", make_tokenizer("persian"))
    assert located.words == ("علی", "کریمی", "در", "سال", "۱۳۹۹")
    assert located.span(0, 2, 1.0).text == "علي كريمي"
    assert located.span(4, 5, 1.0).text == "1399"


def test_tokens_are_joined_by_single_blanks() -> None:
    [located] = LocatedText.split(["New York", "", "is", "\U0001f600"], make_tokenizer("keep"), input=3)
    assert located.text == "New York  is \U0001f600"
    assert [located.text[start:end] for start, end in located.places] == ["New York", "", "is", "\U0001f600"]
    assert (located.input, located.words) == (3, ("New York", "", "is", "\U0001f600"))


def test_every_text_has_a_sentence_that_names_it(tmp_path: Path) -> None:
    file = tmp_path / "tea.txt"
    file.write_text("Rain.\nTea? Yes.\n", encoding="utf-8")
    found = LocatedText.split_all(["Rain falls", "", " \n", "Tea? Yes.", ["No"], file], make_tokenizer("keep"))
    assert [(one.input, one.sentence, len(one.words)) for one in found] == [
        (0, 0, 2),
        (1, 0, 0),
        (2, 0, 0),
        (3, 0, 2),
        (3, 1, 2),
        (4, 0, 1),
        (5, 0, 2),
        (5, 1, 2),
        (5, 2, 2),
    ]


def test_a_span_is_a_row_of_its_columns() -> None:
    span = LocatedText.of("He paid US$75 (twice).", make_tokenizer("keep")).span(2, 4, None)
    assert span == AnswerSpan("US$75", 8, 13, 2, 4, None)
    assert span_row(span.as_dict()) == ["US$75", 8, 13, 2, 4, None]
