"""What a data file contains is found by reading it."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import pytest

from firth.catalog import CATALOG, FORMS, Form
from firth.datasets.forms import COUNTERS, count_items, digest
from firth.errors import FormatError

EXAMPLES: dict[Form, str] = {
    "pairs": "word1,word2,mean\ntea,coffee,9\n",
    "analogies": ": family\nman woman\nking queen\n",
    "categories": "drink tea\ndrink coffee\n",
    "senses": "bank\tF\tthe [bank] pays\tthe river [bank]\n",
    "wic": "board\tN\t0-1\tboard games\ta board\n",
    "scws": "\t".join("x" * 18) + "\n",
    "cosimlex": ("\t".join("x" * 13) + "\n") * 2,
    "squad": json.dumps({"data": [{"paragraphs": [{"context": "Tea.", "qas": [{"id": "1"}]}]}]}),
    "nli": "premise\thypothesis\tlabel\nIt rains.\tIt is wet.\te\n",
    "trees": "(3 (2 good) (3 tea))\n",
    "conll": "# text\nAda\tB-PER\nran\tO\n\n",
    "conll-u": "# text = tea\n" + "\t".join(["1", "tea", "tea", "NOUN", "NN", "_", "0", "root", "_", "_"]) + "\n",
    "semcor": "file\tsent\ttoken\tlemma\tpos\tsense_keys\nf\t1\ttea\ttea\tNN\t_\nf\t1\t.\t.\t.\t_\n",
    "text": "one sentence\n\nanother one\n",
}


def test_every_form_of_the_catalog_can_be_counted() -> None:
    assert set(COUNTERS) == set(FORMS) == {one.form for one in CATALOG.values()}


@pytest.mark.parametrize("form", EXAMPLES)
def test_a_file_of_its_form_is_counted(tmp_path: Path, form: Form) -> None:
    file = tmp_path / "file.txt"
    file.write_text(EXAMPLES[form])
    assert count_items(file, form) == (2 if form in ("analogies", "categories", "text") else 1)


@pytest.mark.parametrize("form", [form for form in COUNTERS if form != "text"])
def test_a_file_of_another_form_is_an_error_that_names_it(tmp_path: Path, form: Form) -> None:
    file = tmp_path / "poem.txt"
    file.write_text("Shall I compare thee\nto\n")
    with pytest.raises(FormatError, match=r"poem\.txt"):
        count_items(file, form)


def test_answers_are_checked_and_not_counted(tmp_path: Path) -> None:
    file = tmp_path / "dev.gold.txt"
    file.write_text("T\nF\n")
    assert count_items(file, "wic") == 0
    file.write_text("T\nyes\n")
    with pytest.raises(FormatError, match=r":2: expected T or F, found 'yes'"):
        count_items(file, "wic")


@pytest.mark.parametrize("form,name", [("documents", "a.conll"), ("wsd", "a.data.xml")])
def test_the_members_of_an_archive_are_counted(tmp_path: Path, form: Form, name: str) -> None:
    file = tmp_path / "set.tar.xz"
    with tarfile.open(file, "w:xz") as archive:
        for member in (name, "README.md"):
            archive.addfile(tarfile.TarInfo(member), io.BytesIO())
    assert count_items(file, form) == 1


def test_a_digest_depends_on_the_words_only(tmp_path: Path) -> None:
    made = []
    for number, text in enumerate(
        ("tea coffee 9\nsun rain 1\n", "Rain,sun,3\ncoffee,tea,4\n", "tea coffee 9\nsun moon 1\n")
    ):
        file = tmp_path / f"{number}.txt"
        file.write_text(text)
        made.append(digest(file))
    assert made[0] == made[1] != made[2]


def test_what_is_no_test_set_has_no_digest(tmp_path: Path) -> None:
    file = tmp_path / "file.bin"
    for content in (b"", b"\xff\xfe\x00", b"one line of some words that are no question\n"):
        file.write_bytes(content)
        assert digest(file) is None
