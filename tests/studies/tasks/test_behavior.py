"""The behavior study: failure rates of hand-made predictors and of the shipped models."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from firth.errors import OptionError
from firth.runtime import Runtime
from firth.studies.tasks.behavior import Behavior, Predictor, answer_with, run_cases, tabulate
from firth.studies.tasks.behavior_cases import BehaviorCase, Texts, read_cases
from firth.studies.tasks.expectations import CHECKERS
from firth.tasks.model import open_task
from firth.tasks.training import limit_threads

ROOT = Path(__file__).resolve().parents[3]
SETS = ROOT / "tests" / "behaviour"
NOTHING: dict[str, dict[str, Any]] = {
    "ner": {"entities": []},
    "sentiment": {"labels": {"neutral": 1.0}},
    "entailment": {"labels": {"entailment": 1.0, "neutral": 0.0, "contradiction": 0.0}},
    "qa": {"answer": "", "probability": 0.5},
    "srl": {"frames": []},
    "coref": {"bracketed": "", "clusters": []},
}
CASES = [
    BehaviorCase("names", "MFT", ("Ann left.",), None, "PER Ann"),
    BehaviorCase("names", "MFT", ("Hello",), None, "none"),
    BehaviorCase("case", "INV", ("Ann left.",), ("ann left.",), "same"),
    BehaviorCase("added", "DIR", ("Hello",), ("Hello Ann",), "gains PER"),
]


def find_ann(text: str) -> list[dict[str, Any]]:
    """An answer with the entity Ann, if the text has it."""
    at = text.lower().find("ann")
    words = {"label": "PER", "text": text[at : at + 3], "token_start": at, "token_end": at + 1}
    return [{"entities": [words] if at >= 0 else []}]


def perfect(inputs: Sequence[Texts]) -> list[Any]:
    return [find_ann(text) for (text,) in inputs]


def adversarial(inputs: Sequence[Texts]) -> list[Any]:
    """Finds a name where there is none, and misses it where it is capitalized."""
    return [find_ann("Ann" if "Ann" not in text else "") if text[0].isupper() else find_ann(text) for (text,) in inputs]


def constant(task: str) -> Predictor:
    return lambda inputs: [[NOTHING[task]] for _ in inputs]


def test_a_perfect_predictor_has_no_failures() -> None:
    assert [result.passed for result in run_cases("ner", CASES, perfect)] == [True] * 4


def test_an_adversarial_predictor_has_only_failures() -> None:
    assert [result.passed for result in run_cases("ner", CASES, adversarial)] == [False] * 4


@pytest.mark.parametrize("task", CHECKERS)
def test_a_constant_predictor_passes_every_invariance_and_no_direction(task: str) -> None:
    results = run_cases(task, read_cases(SETS / f"{task}.tsv", task), constant(task))
    passed = {(result.case.type, result.passed) for result in results}
    assert passed == {("MFT", True), ("MFT", False), ("INV", True), ("DIR", False)}


def test_each_input_is_answered_once() -> None:
    asked: list[Texts] = []

    def answer(inputs: Sequence[Texts]) -> list[Any]:
        asked.extend(inputs)
        return perfect(inputs)

    run_cases("ner", CASES, answer)
    assert asked == [("Ann left.",), ("Hello",), ("ann left.",), ("Hello Ann",)]


def test_the_table_has_rates_by_capability_and_type_with_the_worst_first() -> None:
    table = tabulate("ner", "ner", run_cases("ner", CASES, constant("ner")))
    assert table.rows == (
        ("added", "DIR", 1, 100.0, "Hello → Hello Ann: none → none (expected: gains PER)"),
        ("names", "MFT", 2, 50.0, "Ann left.: none (expected: PER Ann)"),
        ("case", "INV", 1, 0.0, ""),
    )


def test_a_task_or_a_folder_without_cases_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="no cases for the task 'seq2seq'"):
        Behavior().read("seq2seq")
    with pytest.raises(OptionError, match=r"ner\.tsv: there is no such file.*--cases DIR"):
        Behavior(cases=str(tmp_path)).read("ner")


def test_batches_give_the_answers_of_ask() -> None:
    model = open_task("ner")
    texts = ("Ann lives in Rome. Paul left.", "Hello")
    together = answer_with(model)([(text,) for text in texts])
    for answers, alone in zip(together, map(model.ask, texts)):
        assert [answer["bracketed"] for answer in answers] == [answer["bracketed"] for answer in alone]


def test_the_study_takes_names_and_folders(tmp_path: Path) -> None:
    folder = ROOT / "src" / "firth" / "pretrained" / "task-ner"
    cases = tmp_path / "ner.tsv"
    cases.write_text("".join((SETS / "ner.tsv").read_text(encoding="utf-8").splitlines(keepends=True)[:3]))
    study = Behavior(models=("ner", str(folder)), cases=str(tmp_path))
    page = study.run(tmp_path, Runtime(threads=1)).as_markdown()
    assert "| ner | 2 | 0 | 0.0 |" in page
    assert "| task-ner | 2 | 0 | 0.0 |" in page


@pytest.mark.parametrize("task", CHECKERS)
def test_a_shipped_model_does_not_fail_more_often_than_the_docs_say(task: str) -> None:
    page = (ROOT / "docs" / "tasks" / "behaviour.md").read_text(encoding="utf-8")
    [(cases, failures, rate)] = re.findall(rf"^\| {task} \| (\d+) \| (\d+) \| ([\d.]+) \|$", page, re.MULTILINE)
    with limit_threads(1):
        results = run_cases(task, read_cases(SETS / f"{task}.tsv", task), answer_with(open_task(task)))
    assert len(results) == int(cases)
    assert sum(not result.passed for result in results) <= int(failures)
    assert float(rate) == round(100 * int(failures) / int(cases), 1)
