"""The behavior study: failure rates of task models on hand-written cases, by capability and type of test."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Any, ClassVar

from firth.errors import OptionError
from firth.options import option
from firth.progress import Report, silent
from firth.runtime import Runtime
from firth.studies.findings import Findings, ResultTable
from firth.studies.study import Study
from firth.studies.tasks.behavior_cases import BehaviorCase, Texts, read_cases
from firth.studies.tasks.expectations import CHECKERS, Answers
from firth.tasks.model import TaskModel, open_task
from firth.tasks.training import limit_threads

Predictor = Callable[[Sequence[Texts]], Sequence[Answers]]
ABOUT = """Each model answers hand-written cases in the manner of CheckList (Ribeiro et al., 2020). A case tests one
capability. MFT, minimum functionality: the answer must be the expected one. INV, invariance: a change of the text must
not alter the answer. DIR, directional expectation: a change must alter the answer in the expected way. The failure
rate is the share of cases that fail, in percent; lower is better."""


@dataclass(frozen=True)
class CaseResult:
    """The answers to a case, and whether they are as expected."""

    case: BehaviorCase
    before: Answers
    after: Answers | None
    passed: bool


@dataclass(frozen=True)
class Behavior(Study):
    """Test task models on hand-written cases: capability, type of test, failure rate."""

    name: ClassVar[str] = "behavior"
    title: ClassVar[str] = "Behavior of the task models"

    models: tuple[str, ...] = option(tuple(CHECKERS), "Task models: names of tasks that ship, or folders.")
    cases: str = option("tests/behaviour", "Folder of the cases, with a file TASK.tsv for each task.")

    def run(self, work: Path, runtime: Runtime, report: Report = silent) -> Findings:
        """Answers all cases with each model."""
        tables, rows = [], []
        for name in self.models:
            with limit_threads(runtime.threads):
                model = open_task(name).to(runtime.place)
                results = run_cases(model.task.name, self.read(model.task.name), answer_with(model, report))
            failed = [result for result in results if not result.passed]
            rows.append((Path(name).name, len(results), len(failed), percentage(failed, results)))
            tables.append(tabulate(Path(name).name, model.task.name, results))
        summary = ResultTable("Failure rates", ("task", "cases", "failures", "failure rate"), tuple(rows))
        return self.findings(ABOUT, [summary, *tables], {}, {"models": self.models})

    def read(self, task: str) -> list[BehaviorCase]:
        """The cases of a task."""
        if task not in CHECKERS:
            raise OptionError(f"Behavior: there are no cases for the task {task!r}, only for {', '.join(CHECKERS)}")
        path = Path(self.cases, f"{task}.tsv")
        if not path.is_file():
            raise OptionError(
                f"{path}: there is no such file. The repository has cases in tests/behaviour: --cases DIR"
            )
        return read_cases(path, task)


def answer_with(model: TaskModel, report: Report = silent) -> Predictor:
    """A function that answers inputs as `model.ask` does, in batches."""

    def answer(inputs: Sequence[Texts]) -> list[Answers]:
        groups = [model.task.ask(*texts) for texts in inputs]
        examples = [example for group in groups for example in group]
        described: Iterator[Any] = map(model.describe, examples, model.answer(examples, report=report))
        return [[next(described) for _ in group] for group in groups]

    return answer


def run_cases(task: str, cases: Sequence[BehaviorCase], answer: Predictor) -> list[CaseResult]:
    """The results of all cases. Each distinct input is answered once.

    >>> cases = [BehaviorCase("greetings", "MFT", ("Hello",), None, "none")]
    >>> [result.passed for result in run_cases("ner", cases, lambda inputs: [[{"entities": []}] for _ in inputs])]
    [True]
    """
    inputs = list(dict.fromkeys(texts for case in cases for texts in (case.text, case.changed) if texts))
    answers = dict(zip(inputs, answer(inputs), strict=True))
    results = []
    for case in cases:
        before, after = answers[case.text], answers[case.changed] if case.changed else None
        results.append(CaseResult(case, before, after, CHECKERS[task].passes(case.expected, before, after)))
    return results


def tabulate(title: str, task: str, results: Sequence[CaseResult]) -> ResultTable:
    """The failure rate of each capability and type of test, the highest first, with an example that fails."""
    groups = defaultdict[tuple[str, str], list[CaseResult]](list)
    for result in results:
        groups[result.case.capability, result.case.type].append(result)
    rows = []
    for (capability, type), members in groups.items():
        failed = [result for result in members if not result.passed]
        example = describe_failure(task, failed[0]) if failed else ""
        rows.append((capability, type, len(members), percentage(failed, members), example))
    rows.sort(key=lambda row: -row[3])
    return ResultTable(title, ("capability", "type", "cases", "failure rate", "a case that fails"), tuple(rows))


def percentage(failed: Sequence[CaseResult], all: Sequence[CaseResult]) -> float:
    """The share of cases that fail, in percent."""
    return round(100 * len(failed) / len(all), 1)


def describe_failure(task: str, result: CaseResult) -> str:
    """The texts of a case, the answers and what was expected of them.

    >>> case = BehaviorCase("greetings", "MFT", ("Hello",), None, "none")
    >>> answers = [{"entities": [{"label": "PER", "text": "Hello"}]}]
    >>> describe_failure("ner", CaseResult(case, answers, None, passed=False))
    'Hello: PER Hello (expected: none)'
    """
    case, show = result.case, CHECKERS[task].show
    texts = [case.text] if case.changed is None else [case.text, case.changed]
    answers = [result.before] if result.after is None else [result.before, result.after]
    inputs = " → ".join(" | ".join(shorten(text, 70, placeholder=" …") for text in one) for one in texts)
    return f"{inputs}: {' → '.join(map(show, answers))} (expected: {shorten(case.expected, 70, placeholder=' …')})"
