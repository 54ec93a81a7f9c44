"""Files of questions, and answers as characters and as words."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firth.errors import FormatError
from firth.tasks.qa.data import Passage, find_occurrences, read_questions
from firth.tasks.qa.score import exact_match
from firth.text.tokenize import Tokenizer

TOKENIZER = Tokenizer()
CONTEXT = "Super Bowl 50 was won by Denver's team. The 50th game: Denver, again."


def paragraph(*questions: dict[str, Any], context: str = CONTEXT) -> dict[str, Any]:
    return {"version": "1.1", "data": [{"title": "t", "paragraphs": [{"context": context, "qas": list(questions)}]}]}


def question(*answers: tuple[str, int], **more: Any) -> dict[str, Any]:
    gold = [{"text": text, "answer_start": start} for text, start in answers]
    return {"id": "q1", "question": "Who won Super Bowl 50?", "answers": gold, **more}


def write(folder: Path, content: Any) -> Path:
    file = folder / "questions.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


def test_a_question_knows_its_answers_as_texts_and_as_words(tmp_path: Path) -> None:
    start = CONTEXT.index("Denver")
    file = write(tmp_path, paragraph(question(("Denver", start), ("Denver's team", start), ("Denver", start))))
    (read,) = read_questions(file, TOKENIZER)
    assert read.answers == ("Denver", "Denver's team", "Denver")
    assert [read.passage.cut(*span) for span in read.spans] == ["Denver", "Denver's team"]
    assert read.sentences[1] == ("Who", "won", "Super", "Bowl", "50", "?")


def test_an_answer_may_stand_wherever_it_occurs(tmp_path: Path) -> None:
    file = write(tmp_path, paragraph(question(("Denver", CONTEXT.index("Denver")))))
    (read,) = read_questions(file, TOKENIZER, "all")
    assert [read.passage.cut(*span) for span in read.spans] == ["Denver", "Denver"]


def test_an_answer_inside_a_word_gives_the_whole_word(tmp_path: Path) -> None:
    start = CONTEXT.index("50th")
    (read,) = read_questions(write(tmp_path, paragraph(question(("0th", start + 1)))), TOKENIZER)
    assert read.passage.cut(*read.spans[0]) == "50th"


def test_an_answer_that_is_off_by_some_characters_is_found_nearby(tmp_path: Path) -> None:
    second = CONTEXT.rindex("Denver")
    (read,) = read_questions(write(tmp_path, paragraph(question(("Denver", second + 3)))), TOKENIZER)
    assert read.passage.places[read.spans[0][0]][0] == second


def test_questions_about_one_passage_share_it_and_may_have_no_answers(tmp_path: Path) -> None:
    unanswered = {"question": "Which game?", "id": "q2"}
    file = tmp_path / "questions.json.xz"
    file.write_bytes(lzma.compress(json.dumps(paragraph(question(("Denver", 25)), unanswered)).encode()))
    first, second = read_questions(file, TOKENIZER)
    assert first.passage is second.passage
    assert second.answers is None
    assert second.spans == ()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ([], "the file has no 'data'"),
        ({"data": [{"title": "x"}]}, r"data\[0\] has no 'paragraphs'"),
        ({"data": []}, "the file has no questions"),
        (paragraph({"id": "1"}), r"data\[0\].paragraphs\[0\].qas\[0\] has no 'question'"),
        (paragraph(question(("Boston", 3))), "the answer 'Boston' is not in the context"),
        (paragraph(question(("", 3))), "the answer '' is not in the context"),
        (
            paragraph(question(is_impossible=True)),
            "has no answer. Only questions with answers",
        ),
        (paragraph(question(("Denver", 25)), context=" "), "the context has no words"),
        (paragraph({"id": "1", "question": " ", "answers": []}), "the question has no words"),
    ],
)
def test_a_file_of_another_form_is_refused_with_its_place(tmp_path: Path, content: Any, problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        read_questions(write(tmp_path, content), TOKENIZER)


def test_what_is_no_json_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "questions.json"
    file.write_text("{")
    with pytest.raises(FormatError, match="not JSON"):
        read_questions(file, TOKENIZER)


@given(st.text("ab 1,.'\u0301é\u200cش\u0640", min_size=1), st.data())
def test_the_words_that_characters_touch_cover_them(text: str, draw: st.DataObject) -> None:
    passage = Passage.of(text, TOKENIZER)
    start = draw.draw(st.integers(0, len(text) - 1))
    end = draw.draw(st.integers(start + 1, len(text)))
    touched = [i for i, (begin, stop) in enumerate(passage.places) if begin < end and stop > start]
    assert passage.words_between(start, end) == ((touched[0], touched[-1]) if touched else None)


@given(st.lists(st.sampled_from(["tea", "a", "don't", "3.5", ";", "کتاب"]), min_size=1), st.data())
def test_what_is_cut_from_a_passage_is_found_in_it(words: list[str], draw: st.DataObject) -> None:
    passage = Passage.of(" ".join(words), TOKENIZER)
    first = draw.draw(st.integers(0, len(passage.words) - 1))
    last = draw.draw(st.integers(first, len(passage.words) - 1))
    answer = passage.cut(first, last)
    assert (first, last) in find_occurrences(passage, answer, passage.places[first][0], "all")


def test_the_release_is_read_whole_and_its_answers_can_be_cut_from_the_text(data: Path) -> None:
    questions = read_questions(data / "data" / "tasks" / "qa" / "squad-dev.json.xz", TOKENIZER, "all")
    assert len(questions) == 10_570
    assert len({id(one.passage) for one in questions}) == 2_067
    found = [exact_match(one.passage.cut(*one.spans[0]), one.answers or ()) for one in questions]
    assert sum(found) / len(found) > 0.99  # what words can say at best: the rest are answers inside words
