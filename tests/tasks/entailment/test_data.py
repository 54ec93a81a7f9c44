"""Files of pairs as they lie on disk: every form gives the same pairs, every broken line is named."""

from __future__ import annotations

import json
import lzma
from collections import Counter
from pathlib import Path

import pytest

from firth.errors import FormatError
from firth.tasks.entailment.data import TextPair, read_pairs

PAIRS = [
    TextPair("A dog runs.", "An animal moves.", "entailment"),
    TextPair('He says "no".', "He agrees.", "contradiction"),
]


def write(folder: Path, text: str, name: str = "pairs.txt") -> Path:
    file = folder / name
    file.write_bytes(text.encode("utf-8"))
    return file


@pytest.mark.parametrize(
    "text",
    [
        'entailment\tA dog runs.\tAn animal moves.\ncontradiction\tHe says "no".\tHe agrees.\n',
        'sentence1\tsentence2\tgold_label\nA dog runs.\tAn animal moves.\tentailment\n"He says ""no""."\tHe agrees.\t'
        "contradiction\n",
        "\ufeffpremise\thypothesis\tlabel\thard\r\nA dog runs.\tAn animal moves.\te\t0\r\n"
        'He says "no".\tHe agrees.\tc\t1\r\n',
        "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
        '1\tA dog runs.\tAn animal moves.\t4\tENTAILMENT\n\n2\tHe says "no".\tHe agrees.\t2\tCONTRADICTION',
        "\n".join(
            json.dumps({"gold_label": label, "sentence1": premise, "sentence2": hypothesis, "pairID": "7"})
            for premise, hypothesis, label in [*PAIRS, TextPair("Two disagree.", "Whatever.", "-")]
        ),
    ],
    ids=["bare", "quoted", "farstail", "sick", "snli"],
)
def test_every_form_gives_the_same_pairs(tmp_path: Path, text: str) -> None:
    assert read_pairs(write(tmp_path, text)) == PAIRS


def test_a_packed_file_is_unpacked(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv.xz"
    file.write_bytes(lzma.compress(b"neutral\tA dog.\tA cat.\n"))
    assert read_pairs(file) == [TextPair("A dog.", "A cat.", "neutral")]


def test_a_quoted_text_may_hold_a_tab(tmp_path: Path) -> None:
    file = write(tmp_path, 'premise\thypothesis\tlabel\n"one\ttwo"\tthree\tn\n')
    assert read_pairs(file) == [TextPair("one\ttwo", "three", "neutral")]


def test_a_quotation_mark_that_only_means_itself_stays(tmp_path: Path) -> None:
    file = write(tmp_path, 'neutral\t"Stop" says a sign.\t"A sign.\n')
    assert read_pairs(file) == [TextPair('"Stop" says a sign.', '"A sign.', "neutral")]


def test_a_table_without_labels_can_be_asked_about(tmp_path: Path) -> None:
    assert read_pairs(write(tmp_path, "sentence1\tsentence2\nA dog.\tA cat.\n"))[0].label is None


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("neutral\tA dog.\tA cat.\nneutral\tA dog.\n", 2, "expected 3 tab-separated fields, found 2"),
        ("premise\thypothesis\tlabel\nA dog.\tA cat.\t\n", 2, "the label is empty"),
        ('{"sentence1": "A", "sentence2": "B", "gold_label": "neutral"}\n{"sentence1": "A"}\n', 2, "two texts"),
        ('{"premise": "A", "hypothesis": "B", "label": 2}\n', 1, "the label is 2"),
        ('{"premise": "A"\n', 1, "is not JSON"),
        ("", None, "the file has no pairs"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, text: str, line: int | None, problem: str) -> None:
    with pytest.raises(FormatError, match=problem) as caught:
        read_pairs(write(tmp_path, text))
    assert caught.value.line == line


def test_bytes_that_are_not_text_are_named(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_bytes(b"neutral\tA dog.\tA c\xfft.\n")
    with pytest.raises(FormatError, match=r"pairs\.tsv:1: byte 0xff at column 19 is not UTF-8"):
        read_pairs(file)


@pytest.mark.parametrize(
    ("name", "pairs", "entailments"),
    [
        ("snli-dev.tsv", 9842, 3329),
        ("snli-test.tsv", 9824, 3368),
        ("snli-counterfactual-train.tsv", 8330, 2770),
        ("sick-train.txt", 4500, 1299),
        ("sick-test.txt", 4927, 1414),
        ("farstail-fa-train.csv", 7266, 2429),
        ("farstail-fa-test.csv", 1564, 519),
    ],
)
def test_the_sets_have_the_published_sizes(data: Path, name: str, pairs: int, entailments: int) -> None:
    found = read_pairs(data / "data" / "tasks" / "entailment" / name)
    labels = Counter(pair.label for pair in found)
    assert len(found) == pairs
    assert labels["entailment"] == entailments
    assert set(labels) == {"entailment", "neutral", "contradiction"}
    assert all(pair.premise and pair.hypothesis for pair in found)


@pytest.mark.parametrize("value", ["[" * 100_000, '{"sentence1": ' + "1" * 5000 + "}"])
def test_deep_nesting_and_endless_numbers_are_named(tmp_path: Path, value: str) -> None:
    first = json.dumps({"sentence1": "A", "sentence2": "B", "gold_label": "neutral"})
    with pytest.raises(FormatError, match=r"pairs\.txt:2: is not JSON"):
        read_pairs(write(tmp_path, f"{first}\n{value}\n"))
