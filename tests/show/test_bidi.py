from __future__ import annotations

import io

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from firth.models.counts import Counts
from firth.show import terminal
from firth.show.bidi import FIRST_STRONG_ISOLATE, POP_ISOLATE, isolate
from firth.text.corpus import Corpus


def render(picture: object) -> list[str]:
    """The lines of a picture as a terminal shows them that follows the Unicode bidirectional algorithm."""
    bidi = pytest.importorskip("bidi", reason="orders text as a terminal does: pip install python-bidi")
    console = Console(file=io.StringIO(), width=80, force_terminal=False, color_system=None)
    console.print(picture)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    shown = [bidi.get_display(line, base_dir="L") for line in lines]
    return [line.replace(FIRST_STRONG_ISOLATE, "").replace(POP_ISOLATE, "") for line in shown]


@pytest.mark.parametrize("words", [["کتاب", "خوب", "tea"], ["ספר", "קפה", "tea"]], ids=["persian", "hebrew"])
def test_numbers_stay_right_of_words_of_any_script(words: list[str]) -> None:
    lines = render(terminal.bars("کتاب", list(zip(words, [0.75, 0.5, 0.25])), header=("neighbor", "cosine")))
    shown = {number: next(line for line in lines if number in line) for number in ("0.7500", "0.5000", "0.2500")}
    ends = {line.index(number) for number, line in shown.items()}
    assert len(ends) == 1, "the numbers are in one column"
    for number, word in zip(shown, words):
        letters = [place for place, letter in enumerate(shown[number]) if letter in word]
        assert letters
        assert max(letters) < shown[number].index(number)


def test_counts_of_persian_words_stay_in_their_columns() -> None:
    counts = Counts(kind="co-occurrence", window=1).fit(Corpus.of(["چای گرم است", "چای سرد است"]))
    rows = [line for line in render(counts) if any(mark.isdigit() for mark in line) and max(line) >= "\u0600"]
    assert rows
    for row in rows:
        digits = [place for place, letter in enumerate(row) if letter.isdigit()]
        letters = [place for place, letter in enumerate(row) if "\u0600" <= letter <= "\u06ff"]
        assert max(letters) < min(digits)


def test_a_folded_cell_does_not_move_its_columns() -> None:
    sentence = "این جمله بسیار بلند است و در یک سطر جا نمی‌شود چون واژه‌های زیادی دارد و باز هم ادامه دارد"
    rows = [(sentence, 18, -3.5), ("tea", 21, 1.0)]
    for title in ("", f"{sentence}. {sentence}"):
        lines = render(terminal.table(title, ["sentence", "words", sentence[:9]], rows))
        row, other = (next(line for line in lines if number in line) for number in ("18", "21"))
        letters = [place for place, letter in enumerate(row) if "\u0600" <= letter <= "\u06ff"]
        assert max(letters) < row.index("18") < row.index("-3.5000")
        assert cell_len(row[: row.index("18")]) == cell_len(other[: other.index("21")])
        folded = [line for line in lines if any("\u0600" <= letter <= "\u06ff" for letter in line)]
        assert len(folded) >= 3


def test_a_shortened_head_does_not_move_its_columns() -> None:
    lines = render(terminal.heat("", np.eye(3), ["a", "b", "c"], ["دانشگاه‌های بزرگ کشور ما " * 3, "chai", "qahve"]))
    head = next(line for line in lines if "chai" in line)
    letters = [place for place, letter in enumerate(head) if "\u0600" <= letter <= "\u06ff"]
    assert max(letters) < head.index("chai") < head.index("qahve")


def test_marks_have_no_width_and_are_only_where_they_are_needed() -> None:
    assert isolate("café 12") == "café 12"
    assert cell_len(isolate("کتاب")) == cell_len("کتاب")


def test_a_scatter_plot_counts_cells() -> None:
    picture = terminal.scatter(["我爱茶", "x"], np.array([[0.0, 0.0], [0.0, 0.0]]), width=8, height=2)
    assert [cell_len(line) for line in picture.splitlines()] in ([6, 1], [1, 6])
    persian = terminal.scatter(["کتاب", "tea"], np.array([[0.0, 0.0], [1.0, 0.0]]), width=12, height=1)
    assert cell_len(persian) == 12
    assert persian == f"{isolate('کتاب')}     tea"
