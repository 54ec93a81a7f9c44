"""Answers drawn for people: they say the same with and without colors, at any width."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from firth.tasks.coref.data import Document
from firth.tasks.entailment.task import Entailment
from firth.tasks.ner.task import Ner
from firth.tasks.pictures import AlignedLabels, draw_answer, draw_clusters, draw_description, draw_entities
from firth.tasks.qa.task import Qa
from firth.tasks.sentiment.task import Sentiment
from firth.tasks.srl.task import Srl


def printed(picture: Any, width: int = 60, **options: Any) -> str:
    console = Console(width=width, color_system=options.get("colors"), force_terminal="colors" in options)
    with console.capture() as capture:
        console.print(picture)
    return capture.get()


def test_names_stand_in_brackets() -> None:
    task = Ner()
    [example] = task.ask("Elon Musk founded SpaceX.")
    assert printed(draw_answer(task, example, {"tags": ["B-PER", "I-PER", "O", "B-ORG", "O"]})) == (
        "[Elon Musk PER] founded [SpaceX ORG] .\n"
    )


def test_roles_stand_under_their_words() -> None:
    task = Srl()
    [example] = task.ask("John broke the vase.")
    tags = ["B-ARG0", "B-V", "B-ARG1", "I-ARG1", "O"]
    shown = printed(draw_answer(task, example, {"predicates": [1], "frames": [{"predicate": 1, "tags": tags}]}))
    assert shown.splitlines() == ["John  broke  the vase  .", "ARG0  V      ARG1"]
    assert "no predicate" in printed(draw_answer(task, example, {"predicates": [], "frames": []}))


@pytest.mark.parametrize("width", [12, 20, 33, 80])
def test_a_long_sentence_goes_on_in_further_lines(width: int) -> None:
    pieces = tuple((f"word{number}", f"ARG{number % 3}") for number in range(12))
    lines = printed(AlignedLabels(pieces), width).splitlines()
    assert all(len(line) <= width for line in lines)
    for above, under in zip(lines[::2], lines[1::2]):
        for word in above.split():
            at = above.index(word + " ") if word + " " in above else above.index(word)
            assert under[at : at + 4] == dict(pieces)[word]
    assert " ".join(lines[::2]).split() == [text for text, _ in pieces]


def test_mentions_of_one_thing_have_one_number_and_one_color() -> None:
    document = Document((("Mary", "left", "."), ("She", "ran", "to", "her", "car", ".")))
    found = draw_clusters(document, {"clusters": [[[0, 1], [3, 4], [6, 7]], [[6, 8]]]})
    assert found.plain == "[Mary]1 left . [She]1 ran to [[her]1 car]2 ."
    styles = {str(span.style).split()[-1] for span in found.spans if "her" in found.plain[span.start : span.end]}
    assert len(styles) == 1


def test_the_answer_stands_in_its_passage() -> None:
    task = Qa()
    passage = "It rained. " * 60 + "The cat sat on the mat." + " It rained." * 60
    [example] = task.ask(passage, "Where did the cat sit?")
    start = passage.index("on the mat")
    answer = {"text": "on the mat", "start": start, "end": start + 10, "probability": 0.5}
    shown = " ".join(printed(draw_answer(task, example, answer)).split())
    assert "The cat sat [on the mat]. It" in shown
    assert "Where did the cat sit ? 50%" in shown
    assert shown.count("…") == 2
    assert len(shown) < 700


def test_labels_keep_their_order_and_the_likeliest_is_marked() -> None:
    task = Sentiment()
    [example] = task.ask("Fine!")
    answer = {"negative": 0.25, "neutral": 0.0, "positive": 0.75}
    lines = [line.rstrip() for line in printed(draw_answer(task, example, answer)).splitlines()]
    assert lines == ["Fine !", "  negative  25%  ██████", "  neutral    0%", "> positive  75%  ██████████████████"]


def test_a_pair_is_shown_as_one() -> None:
    task = Entailment()
    [example] = task.ask("All birds can fly.", "Penguins can fly.")
    shown = printed(draw_answer(task, example, {"entailment": 0.9, "neutral": 0.1}))
    assert "All birds can fly . => Penguins can fly ." in shown
    assert "> entailment  90%" in shown


def test_what_has_no_picture_is_told() -> None:
    assert "label" in printed(draw_description({"label": "good", "labels": {"good": 0.8, "bad": 0.2}}))


def test_colors_add_nothing_to_the_words() -> None:
    document, one = Document((("Mary", "left", "."),)), {"clusters": [[[0, 1]]]}
    plain = printed(draw_clusters(document, one))
    colored = printed(draw_clusters(document, one), colors="standard")
    assert plain == "[Mary]1 left .\n"
    assert colored != plain
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == plain


def test_right_to_left_pieces_stay_above_their_labels() -> None:
    bidi = pytest.importorskip("bidi", reason="orders text as a terminal does: pip install python-bidi")
    pieces = (("علی", "ARG0"), ("کتاب را", "ARG1"), ("خواند", "V"))
    words, labels = (bidi.get_display(line.plain, base_dir="L") for line in AlignedLabels(pieces).lines(80))
    shown = words.replace("\u2068", "").replace("\u2069", "")
    assert shown.index(bidi.get_display("علی")) == labels.index("ARG0") == 0
    assert shown.index(bidi.get_display("کتاب را")) == labels.index("ARG1")
    assert shown.index(bidi.get_display("خواند")) == labels.index("V")


def test_a_right_to_left_sentence_is_read_from_the_right() -> None:
    bidi = pytest.importorskip("bidi", reason="orders text as a terminal does: pip install python-bidi")
    example = SimpleNamespace(words=["علی", "در", "Tehran", "است", "."])
    line = draw_entities(example, {"tags": ["B-PER", "O", "O", "O", "O"]}).plain
    shown = bidi.get_display(line, base_dir="L").replace("\u2068", "").replace("\u2069", "")
    assert shown == bidi.get_display("[علی PER] در Tehran است .", base_dir="R")
