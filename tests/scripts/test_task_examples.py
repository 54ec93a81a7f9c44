"""scripts/task_examples.py: names of other sets with the types of CoNLL-2003, and sentences of our own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from firth.errors import FormatError

pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import task_examples as script

HEADER = "file\tsent\ttoken\tlemma\tpos\tsense_keys"
ROWS = (
    "brown1/a\t1\tMr._Ann_Lee\tperson\tNNP\tperson%1:03:00::",
    "brown1/a\t1\tsaw\tsee\tVB\tsee%2:39:00::",
    "brown1/a\t1\tParis\tparis\tNN\tparis%1:15:00::",
    "brown1/a\t1\tFriday\tfriday\tNN\tfriday%1:28:00::",
    "brown1/a\t2\tThe_Tea_Board\tgroup\tNNP\tgroup%1:03:00::",
    "brown1/a\t2\tmet\tmeet\tVB\tmeet%2:41:00::",
    "brown1/a\t2\tRussian\trussian\tJJ\trussian%3:01:00::",
    "brown1/a\t2\tguests\tguest\tNN\tguest%1:18:00::",
    "brown1/a\t3\tShe\tshe\tPRP\t_",
    "brown1/a\t3\theard\thear\tVB\thear%2:39:00::",
    "brown1/a\t3\tTosca\ttosca\tNN\t_",
    "brown1/a\t4\tSecretary_of_Tea\tperson\tNNP\tperson%1:03:00::",
    "brown1/a\t5\tTea\ttea\tNN\ttea%1:13:00::",
    "brown1/a\t5\thelps\thelp\tVB\thelp%2:41:00::",
    "brownv/b\t1\tBob\tperson\tNNP\tperson%1:03:00::",
)


def names(examples: list[script.NerExample]) -> list[list[tuple[str, str]]]:
    return [[(one.label, " ".join(each.words[one.start : one.end])) for one in each.gold] for each in examples]


def test_semcor_gives_names_and_leaves_out_what_nobody_marked(tmp_path: Path) -> None:
    file = tmp_path / "semcor.tsv"
    file.write_text("\n".join((HEADER, *ROWS)) + "\n")
    assert names(script.semcor_examples(file)) == [
        [("PER", "Ann Lee"), ("LOC", "Paris")],
        [("ORG", "Tea Board"), ("MISC", "Russian")],
        [],
    ]


def test_a_file_without_its_columns_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "semcor.tsv"
    file.write_text("a\tb\tc\td\te\tf\n")
    with pytest.raises(FormatError, match="expected the columns"):
        script.semcor_examples(file)


def test_every_type_of_wnut_has_one_of_conll(tmp_path: Path) -> None:
    file = tmp_path / "wnut.conll"
    file.write_text("".join(f"Word{number}\tB-{label}\n" for number, label in enumerate(script.WNUT)) + "\n")
    [example] = script.wnut_examples(file)
    assert [one.label for one in example.gold] == ["PER", "LOC", "ORG", "ORG", "MISC", "MISC"]


def test_sentences_of_our_own_are_the_same_each_time_and_have_ambiguous_companies() -> None:
    examples = script.company_examples()
    assert examples == script.company_examples()
    found = [name for each in names(examples) for name in each]
    assert {("ORG", "Apple"), ("ORG", "Shell"), ("LOC", "New York")} <= set(found)
    assert not any(word.startswith("{") for example in examples for word in example.words)
    counts = dict(script.name_counts(examples))
    assert set(counts) == {"ORG", "LOC", "PER"}
    assert sum(counts.values()) == len(found)
