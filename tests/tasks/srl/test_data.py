"""Files of semantic roles in three column formats."""

from __future__ import annotations

from pathlib import Path

import pytest

from firth.errors import FormatError
from firth.tasks.srl.data import SrlExample
from firth.tasks.srl.task import Srl
from firth.tasks.tags import Span

JOHN = ("John", "wants", "to", "go", ".")
WANTS = (Span("ARG0", 0, 1), Span("V", 1, 2), Span("ARG1", 2, 4))
GOES = (Span("ARG0", 0, 1), Span("V", 3, 4))
EWT = """d 0 0 John NNP (S(NP*) - - (ARG0*) (ARG0*)
d 0 1 wants VBZ (VP* want want.01 (V*) *
d 0 2 to TO (S* - - (ARG1* *
d 0 3 go VB (VP*)) go go.02 *) (V*)
d 0 4 . . *)) - - * *

d 1 0 Ouch UH (INTJ*) - -
"""
CONLL_2012 = """#begin document (bc/d); part 000
bc/d 0 0 John NNP (S(NP*) - - - Sp1 (PERSON) (ARG0*) (ARG0*) (0)
bc/d 0 1 wants VBZ (VP* want 01 1 Sp1 * (V*) * -
bc/d 0 2 to TO (S* - - - Sp1 * (ARG1* * -
bc/d 0 3 go VB (VP*)) go 02 1 Sp1 * *) (V*) -
bc/d 0 4 . . *)) - - - Sp1 * * * -

bc/d 0 0 Ouch UH (INTJ*) - - - Sp1 * -

#end document
"""
CONLL_2005 = """John NNP (S(NP*) * - - (ARG0*) (ARG0*)
wants VBZ (VP* * 01 want (V*) *
to TO (S* * - - (ARG1* *
go VB (VP*)) * 02 go *) (V*)
. . *)) * - - * *

Ouch UH (INTJ*) * - -
"""


@pytest.mark.parametrize("text", [EWT, CONLL_2012, CONLL_2005], ids=["ewt", "2012", "2005"])
def test_each_form_of_columns_gives_one_example_a_predicate(tmp_path: Path, text: str) -> None:
    (tmp_path / "f").write_text(text)
    assert Srl().read(tmp_path / "f") == [
        SrlExample(JOHN, 1, WANTS, (1, 3)),
        SrlExample(JOHN, 3, GOES, (1, 3)),
        SrlExample(("Ouch",), predicates=()),
    ]


def test_a_file_without_predicates_is_named(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("John B-PER\n\nleft O\n")
    with pytest.raises(FormatError, match=r"f: the file has no predicates\. A file has a column of brackets"):
        Srl().read(tmp_path / "f")


def test_a_predicate_inside_another_span_is_named(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("0 The (A0*\n1 cat (V*)\n2 sat *)\n")
    with pytest.raises(FormatError, match="f:1: column 2 has its predicate inside another span"):
        Srl().read(tmp_path / "f")
