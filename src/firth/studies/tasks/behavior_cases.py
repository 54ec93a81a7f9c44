"""Behavioral test cases: a text, or a text and a changed one, with what is expected of the answers.

A file has one case on each line, in five columns separated by tabs, below a line with their names:

    capability      type  text                     changed                  expected
    no entity       MFT   Hello                                             none
    letter case     INV   Maria lives in Paris.    maria lives in paris.    same

The types are those of CheckList (Ribeiro et al., 2020). MFT, minimum functionality: the expected column says what the
answer must be. INV, invariance: the change must not alter the answer. DIR, directional expectation: the change must
alter it in the given direction. The texts of a pair, such as a premise and a hypothesis, are separated by " | ".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, cast, get_args

from firth.errors import FormatError
from firth.files import Name, read_lines
from firth.studies.tasks.expectations import CHECKERS

Texts = tuple[str, ...]  # what TaskModel.ask takes
CaseType = Literal["MFT", "INV", "DIR"]
COLUMNS = ("capability", "type", "text", "changed", "expected")


@dataclass(frozen=True)
class BehaviorCase:
    """One case. `changed` is the second input of INV and DIR, and None in MFT."""

    capability: str
    type: CaseType
    text: Texts
    changed: Texts | None
    expected: str


def read_cases(path: Name, task: str) -> list[BehaviorCase]:
    """The cases of a file for a task; a case that is not well-formed is an error.

    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "ner.tsv"
    >>> lines = "\\t".join(COLUMNS), "no entity\\tMFT\\tHello\\t\\tnone"
    >>> _ = file.write_text("\\n".join(lines))
    >>> read_cases(file, "ner")
    [BehaviorCase(capability='no entity', type='MFT', text=('Hello',), changed=None, expected='none')]
    """
    cases = list(_parse_cases(path, task))
    if not cases:
        raise FormatError(path, "the file has no cases", cure="Each line below the first is a case")
    return cases


def _parse_cases(path: Name, task: str) -> Iterator[BehaviorCase]:
    checker = CHECKERS[task]
    for number, line in read_lines(path, blank=False):
        fields = tuple(line.split("\t"))
        if number == 1 and fields == COLUMNS:
            continue
        if number == 1 or len(fields) != len(COLUMNS):
            cure = f"The columns are {', '.join(COLUMNS)}, and the first line names them"
            raise FormatError(path, f"expected {len(COLUMNS)} columns, found {len(fields)}", line=number, cure=cure)
        capability, type, text, changed, expected = fields
        if type not in get_args(CaseType):
            raise FormatError(path, f"unknown type {type!r}", line=number, cure="A type is MFT, INV or DIR")
        inputs = [tuple(part.split(" | ")) for part in (text, changed) if part]
        is_complete = bool(text) and bool(changed) == (type != "MFT")
        if not is_complete or any(len(one) != checker.inputs for one in inputs):
            cure = f"MFT has one text, INV and DIR have two; {task} takes {checker.inputs} in each, separated by ' | '"
            raise FormatError(path, f"wrong number of texts for {type}", line=number, cure=cure)
        if not capability or not checker.understands(type, expected):
            raise FormatError(path, f"unknown expectation {expected!r} for {type}", line=number, cure=checker.grammar)
        yield BehaviorCase(capability, cast(CaseType, type), inputs[0], inputs[1] if changed else None, expected)
