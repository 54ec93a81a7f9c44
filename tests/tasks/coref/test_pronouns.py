"""The measures of masculine and feminine pronouns, by gold clusters and by the pairs of GAP."""

from __future__ import annotations

from pathlib import Path

import pytest

from firth.errors import FormatError
from firth.tasks.coref.data import Document
from firth.tasks.coref.pronouns import COLUMNS, read_gap, score_gap, score_pronouns
from firth.tasks.coref.task import Coref

TEXT = "Ann Lee of York met Eve Roe. Later she left, and Tom waved."


def gap_file(folder: Path, *rows: tuple[str, ...]) -> Path:
    file = folder / "gap.tsv"
    file.write_text("\n".join("\t".join(row) for row in (tuple(COLUMNS), *rows)) + "\n")
    return file


def row(pronoun_offset: str = "35", a: str = "Ann Lee") -> tuple[str, ...]:
    return ("test-1", TEXT, "she", pronoun_offset, a, "0", "TRUE", "Eve Roe", "20", "FALSE")


def test_a_cluster_with_the_right_head_is_right_and_one_with_both_names_half(tmp_path: Path) -> None:
    cases = read_gap(gap_file(tmp_path, row()))
    documents = Coref().ask(TEXT)
    words = documents[0].words
    she, eve = words.index("she"), words.index("Eve")
    right = [[[0, 4], [she, she + 1]]]  # the mention is `Ann Lee of York`
    both = [[*right[0], [eve, eve + 2]]]
    wrong = [[[eve, eve + 2], [she, she + 1]]]
    scores = [score_gap(cases, documents, [{"clusters": one}]) for one in (right, both, wrong, [])]
    assert [one["feminine_f1"] for one in scores] == pytest.approx([1, 2 / 3, 0, 0])
    assert [one["precision"] for one in scores] == pytest.approx([1, 0.5, 0, 0])
    assert scores[0]["masculine_f1"] == 0


def test_a_name_within_a_longer_mention_does_not_count(tmp_path: Path) -> None:
    text = "Ann 's sister met Eve . She left ."
    fields = ("1", text, "She", "24", "Ann", "0", "FALSE", "Eve", "18", "TRUE")
    cases = read_gap(gap_file(tmp_path, fields))
    documents = [Document((tuple(text.split()),), origin=Coref().ask(text.split())[0].origin)]
    scores = score_gap(cases, documents, [{"clusters": [[[0, 3], [6, 7]]]}])
    assert scores["precision"] == 0
    assert scores["recall"] == 0


@pytest.mark.parametrize("broken", [row("34"), row("x"), row(a="Ann Leo"), ("test-1", TEXT)])
def test_a_broken_line_is_an_error_with_its_number(broken: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"gap\.tsv:2: "):
        read_gap(gap_file(tmp_path, broken))


def test_pronouns_are_right_by_their_nearest_antecedent() -> None:
    words = ("Ann", "met", "Tom", ".", "She", "liked", "his", "hat", ".", "It", "fell")
    document = Document((words,), (((0, 1), (4, 5)), ((2, 3), (6, 7)), ((6, 8), (9, 10))))
    answer = {"clusters": [[[0, 1], [2, 3], [6, 7]], [[6, 8], [9, 10]]]}
    scores = score_pronouns([document], [answer])
    assert (scores["masculine_f1"], scores["feminine_f1"], scores["bias"]) == (1, 0, 0)
    assert scores["recall"] == 0.5
    everything = {"clusters": [[[0, 1], [2, 3], [4, 5], [6, 7]]]}
    assert score_pronouns([document], [everything])["recall"] == 0  # the nearest mention is the wrong one
