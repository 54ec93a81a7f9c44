"""The models of the six tasks that come with firth: small, opened by name, and right on the sentences of the tour."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from firth.pretrained import shipped

pytest.importorskip("torch")

from firth.tasks.model import TaskModel, open_task
from firth.tasks.registry import find_task
from firth.tasks.sources import Sources

MOST_TOGETHER, MOST_ONE = 8_000_000, 1_300_000
TASKS = shipped.tasks()
LOST = 0.01  # of a score, by rounding
LICENCES = {"entailment": "cc-by-nc-sa-4.0"}  # SICK, which it is trained on, is CC BY-NC-SA


@cache
def sources() -> Sources:
    return Sources.open("glove-en", "elmo-en")


@cache
def model(name: str) -> TaskModel:
    return open_task(name, sources=sources())


def ask(name: str, *texts: str) -> Any:
    [answer] = model(name).ask(*(texts or find_task(name).sample))
    return answer


def test_there_is_one_for_each_task_and_together_they_are_small() -> None:
    names = [name for name in shipped.available() if name.startswith(shipped.TASK)]
    assert sorted(names) == sorted(f"task-{task}" for task in TASKS)
    assert sum(map(shipped.size, names)) < MOST_TOGETHER
    assert max(map(shipped.size, names)) < MOST_ONE


@pytest.mark.parametrize("task", TASKS)
def test_the_folder_holds_a_task_on_models_that_ship(task: str) -> None:
    folder = shipped.place(f"task-{task}")
    assert {file.name for file in folder.iterdir()} == {"README.md", "config.json", "model.safetensors"}
    config = json.loads((folder / "config.json").read_text())["config"]
    assert config["task"] == task
    assert (config["embedding"]["static"], config["embedding"]["elmo"]) == ("glove-en", "elmo-en")
    assert shipped.kind(f"task-{task}") == f"task: {task}"


@pytest.mark.parametrize("task", TASKS)
def test_rounding_to_bytes_cost_next_to_nothing(task: str) -> None:
    told = model(task).metadata
    for part in ("dev", "test"):
        measure, value = next(iter(told[part].items()))
        assert value > told["trained"][part][measure] - LOST


@pytest.mark.parametrize("task", TASKS)
def test_the_page_of_shipped_models_tells_the_score_that_the_model_has(task: str) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "pretrained.md").read_text(encoding="utf-8")
    [row] = [line for line in page.splitlines() if line.startswith(f"| `task-{task}` | ") and line.count("|") == 5]
    measure, value = next(iter(model(task).metadata["test"].items()))
    assert row.endswith(f"| {100 * value:.1f} {measure} |")


def test_names_are_found() -> None:
    told = [(one["text"], one["label"]) for one in ask("ner")["entities"]]
    assert told == [("Elon Musk", "PER"), ("SpaceX", "ORG")]


def test_who_broke_what_is_found() -> None:
    [frame] = ask("srl")["frames"]
    roles = {one["label"]: one["text"] for one in frame["roles"]}
    assert frame["predicate"]["text"] == "broke"
    assert (roles["ARG0"], roles["ARG1"]) == ("John", "the vase")


def test_she_is_mary() -> None:
    assert ["Mary", "She"] in [[one["text"] for one in cluster["mentions"]] for cluster in ask("coref")["clusters"]]


def test_the_cat_sat_on_the_mat() -> None:
    answer = ask("qa")["answer"]
    assert "the mat" in answer
    assert "cat" not in answer


def test_what_all_birds_can_penguins_can() -> None:
    assert ask("entailment")["label"] != "contradiction"


def test_what_cannot_be_true_too_contradicts_more_than_what_must_be() -> None:
    premise = "Two dogs run in the park."
    against, with_it = (ask("entailment", premise, text)["labels"] for text in ("The dogs sleep.", "Two animals run."))
    assert against["contradiction"] > with_it["contradiction"]
    assert against["entailment"] < with_it["entailment"]


def test_a_fantastic_movie_is_good_and_a_boring_one_bad() -> None:
    assert ask("sentiment")["label"] in ("positive", "very positive")
    assert ask("sentiment", "A boring, awful mess.")["label"] in ("negative", "very negative")


@pytest.mark.parametrize("task", TASKS)
def test_the_card_tells_use_scores_data_licence_and_the_command(task: str) -> None:
    page = shipped.card(f"task-{task}")
    for title in ("## Use", "## How good it is", "## Data", "## Network", "## Training", "## Licence"):
        assert title in page
    assert f"python scripts/task_models.py {task}" in page
    assert f"license: {LICENCES.get(task, 'cc-by-sa-4.0')}\n" in page
    assert ("CC BY-NC" in page) == (task in LICENCES)
    assert find_task(task).sample[0] in page
    assert "## Make it again" in page


HARD = (
    "  Zoe\u0308  Mu\u0308ller 😀 met Élodie\u00a0Roux in New\tYork. She didn't smile… \n\n"
    "He\u200c said: “Yes, \u0645\u06cc\u200c\u0631\u0648\u0645.”",
    "",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467 Tom O'Neil's dog bit Ann  Lee; then he ran\u00ad away!",
)


def spans_of(value: Any) -> list[Any]:
    """All spans in an answer, however deep."""
    if isinstance(value, list):
        return [span for one in value for span in spans_of(one)]
    if not isinstance(value, dict):
        return []
    inner = [span for one in value.values() for span in spans_of(one)]
    return inner + ([value] if "token_start" in value else [])


@pytest.mark.parametrize("task", ["ner", "srl", "coref"])
def test_every_span_can_be_traced_to_the_text_of_the_user(task: str) -> None:
    answers = model(task).ask(*HARD, ["Ann", "Lee", "saw", "Tom", "."])
    assert {answer["input"] for answer in answers} == {0, 1, 2, 3}
    assert answers[-1]["text"] == "Ann Lee saw Tom ."
    found = 0
    for answer in answers:
        text = (*HARD, "Ann Lee saw Tom .")[answer["input"]]
        assert answer["text"] == text[answer.get("start", 0) : answer.get("end", len(text))]
        for span in spans_of(answer):
            assert span["text"] == text[span["start"] : span["end"]]
            tokens = answer["tokens"][span["token_start"] : span["token_end"]]
            assert "".join("".join(tokens).split())[:2] == "".join(span["text"].split())[:2]
            assert 0 <= span["probability"] <= 1
            found += 1
    assert found >= 3
    empty = next(answer for answer in answers if answer["input"] == 1)
    assert spans_of(empty) == []
    assert len(model(task).task.rows(empty)) == 1


def test_an_answer_to_a_question_is_traced_to_the_passage() -> None:
    passage = HARD[0]
    answers = model("qa").ask(passage, "Who smiled?", "", "Where did they meet?")
    assert [(answer["input"], answer["question"]) for answer in answers] == [
        (1, "Who smiled?"),
        (2, ""),
        (3, "Where did they meet?"),
    ]
    assert answers[1]["answer"] is None
    for answer in answers[::2]:
        assert answer["text"] == passage
        if answer["answer"] is not None:
            assert answer["answer"] == passage[answer["start"] : answer["end"]]
        assert 0 <= answer["probability"] <= 1


@pytest.mark.parametrize("task", ["sentiment", "entailment"])
def test_labels_come_with_their_texts_and_sum_to_one(task: str) -> None:
    texts = ("A  fine 😀 film.", "It is bad.")
    first, *others = model(task).ask(*texts)
    assert sum(first["labels"].values()) == pytest.approx(1)
    assert first["probability"] == first["labels"][first["label"]]
    if task == "sentiment":
        assert [(one["input"], one["text"]) for one in (first, *others)] == [(0, texts[0]), (1, texts[1])]
        [blank] = model(task).ask(" ")
        assert (blank["label"], blank["labels"]) == (None, {})
    else:
        assert (first["premise"], first["hypothesis"]) == texts
