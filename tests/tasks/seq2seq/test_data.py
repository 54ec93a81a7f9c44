"""Pairs of texts from tables and from running text."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from firth.errors import FormatError, OptionError
from firth.tasks.seq2seq.data import Seq2SeqExample, read_pairs
from firth.tasks.seq2seq.task import Seq2Seq
from firth.text.tokenize import Tokenizer


def pairs(path: Path, **options: object) -> list[tuple[str, str]]:
    found = Seq2Seq(**options).read(path)  # type: ignore[arg-type]
    return [(" ".join(pair.source), " ".join(pair.gold)) for pair in found]


def test_a_table_has_a_source_and_a_target_a_line(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv.xz"
    path.write_bytes(lzma.compress("\ufeffTea, please.\tDu thé.\n\nIt's late!\tIl est tard\r\n".encode()))
    assert pairs(path) == [("Tea , please .", "Du thé ."), ("It 's late !", "Il est tard")]
    assert pairs(path, tokens="whitespace") == [("Tea, please.", "Du thé."), ("It's late!", "Il est tard")]
    assert pairs(path, longest=2, limit=1) == [("Tea ,", "Du thé")]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a\tb\nno tab here\n", r"p.tsv:2: expected a source, a tab and a target, found 1 fields.*next or itself"),
        ("a\tb\tc\n", r"p.tsv:1: .* found 3 fields"),
        ("a\t \n", r"p.tsv:1: .* but one of them is empty"),
        ("\n", r"p.tsv: the file has no pairs"),
    ],
)
def test_a_line_that_is_no_pair_is_named(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "p.tsv").write_text(text)
    with pytest.raises(FormatError, match=problem):
        Seq2Seq().read(tmp_path / "p.tsv")


def test_pairs_are_made_of_running_text(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("It rains. We stay.\nTea is hot.\n")
    assert pairs(path, pairs="next") == [("It rains .", "We stay ."), ("We stay .", "Tea is hot .")]
    assert pairs(path, pairs="itself", limit=2) == [("It rains .", "It rains ."), ("We stay .", "We stay .")]


def test_a_title_is_to_be_said_for_the_text_below_it(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("# Tea\nA drink.\nIt is hot.\n# Empty\n# Rain\nIt is wet.\n")
    assert pairs(path, pairs="title") == [("A drink . It is hot .", "Tea"), ("It is wet .", "Rain")]
    path.write_text("A drink.\n# Tea\n")
    with pytest.raises(FormatError, match=r"text.txt:1: text above the first title. A title is '# Title'"):
        Seq2Seq(pairs="title").read(path)


def test_a_pair_without_a_target_cannot_be_judged() -> None:
    with pytest.raises(OptionError, match="'a b' has no gold labels"):
        Seq2Seq().score([Seq2SeqExample(("a", "b"))], [{"text": "a"}])


def test_titles_of_real_text(data: Path) -> None:
    corpus = data / "data" / "corpora" / "en-raw-sample.txt.xz"
    task = Seq2Seq(pairs="title", limit=20, longest=30)
    found = read_pairs(corpus, task.pairs, Tokenizer(), 30, 20)
    assert found == task.read(corpus)
    assert found[0].target == ("Ayn", "Rand")
    assert found[0].source[:4] == ("Ayn", "Rand", "(", ";")
    assert all(len(pair.source) <= 30 for pair in found)
