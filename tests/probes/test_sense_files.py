"""SemCor and the evaluation framework."""

from __future__ import annotations

import tarfile
from collections import Counter
from pathlib import Path

import pytest

from firth.errors import FormatError, OptionError
from firth.probes import sense_files as files
from firth.probes.wordnet import Lexeme

SEMCOR = """file\tsent\ttoken\tlemma\tpos\tsense_keys
a01\t1\tAda_King\tperson\tNNP\tperson%1:03:00::
a01\t1\ttook_part\ttake_part\tVB\ttake_part%2:41:00::
a01\t1\t``\t_\t_\t_
a01\t2\tPlays\tplay\tNN\tplay%1:10:01::;play%1:04:05::
a02\t2\tno\tno\tDT\t_
"""
XML = """<?xml version="1.0" encoding="UTF-8" ?>
<corpus lang="en"><text id="d000"><sentence id="senseval2.d000.s000"><wf lemma="the" pos="DET">The</wf>
<instance id="senseval2.d000.s000.t000" lemma="Old_Age" pos="NOUN">old age</instance><wf>&amp;</wf></sentence>
</text></corpus>"""


def test_semcor_is_read_sentence_by_sentence_with_its_marks(tmp_path: Path) -> None:
    path = tmp_path / "semcor.tsv"
    path.write_text(SEMCOR)
    first, second, third = files.read_semcor(path)
    assert first.words == ("Ada", "King", "took", "part", '"')
    assert first.annotations[0].keys == ()  # a name, and no use of the word person
    assert first.annotations[1] == files.Annotation(2, 4, "take_part", "VERB", ("take_part%2:41:00::",))
    assert second.annotations[0].keys == ("play%1:10:01::", "play%1:04:05::")
    assert (third.document, third.annotations[0].pos) == ("a02", "DT")
    assert len(list(files.read_semcor(path, 1))) == 1
    assert files.count_senses(files.read_semcor(path), {Lexeme("play", "NOUN")}) == {
        "play%1:10:01::": 1,
        "play%1:04:05::": 1,
    }


def test_a_table_with_other_columns_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "semcor.tsv"
    path.write_text(SEMCOR + "a02\t3\n")
    with pytest.raises(FormatError, match=":7: expected 6 columns, found 2"):
        list(files.read_semcor(path))
    path.write_text("word\ttag\n")
    with pytest.raises(FormatError):
        list(files.read_semcor(path))


def write_framework(folder: Path, xml: str = XML) -> Path:
    (folder / "ALL").mkdir(parents=True)
    (folder / "ALL" / "ALL.data.xml").write_text(xml)
    (folder / "ALL" / "ALL.gold.key.txt").write_text("senseval2.d000.s000.t000 old_age%1:28:00:: x%1:00:00::\n")
    return folder


def test_the_framework_is_read_from_a_folder_and_from_an_archive(tmp_path: Path) -> None:
    folder = write_framework(tmp_path / "framework")
    with tarfile.open(tmp_path / "framework.tar.xz", "w:xz") as archive:
        archive.add(folder / "ALL", "ALL")
    [sentence] = files.read_framework(folder)
    assert sentence.words == ("The", "old", "age", "&")
    [annotation] = sentence.annotations
    assert (annotation.start, annotation.stop, annotation.lexeme) == (1, 3, Lexeme("old_age", "NOUN"))
    assert annotation.keys == ("old_age%1:28:00::", "x%1:00:00::")
    assert files.read_framework(tmp_path / "framework.tar.xz") == [sentence]


@pytest.mark.parametrize(
    "declared",
    [
        '<!DOCTYPE corpus [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>',
        '<!DOCTYPE corpus SYSTEM "file:///etc/passwd">',
        "<!doctype corpus>",
    ],
)
def test_xml_that_declares_entities_is_refused(tmp_path: Path, declared: str) -> None:
    folder = write_framework(tmp_path / "framework", XML.replace("<corpus", declared + "<corpus"))
    with pytest.raises(FormatError, match="declares a document type"):
        files.read_framework(folder)


def test_broken_and_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="not XML"):
        files.read_framework(write_framework(tmp_path / "one", XML[:-9]))
    with pytest.raises(OptionError, match="no such file"):
        files.read_framework(tmp_path)
    (tmp_path / "no.tar").write_bytes(b"nothing of the kind")
    with pytest.raises(FormatError, match="the archive cannot be read"):
        files.read_framework(tmp_path / "no.tar")


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST", 100)
    with pytest.raises(FormatError, match="at most"):
        files.read_framework(write_framework(tmp_path / "one"))


def test_an_instance_without_a_gold_sense_is_named(tmp_path: Path) -> None:
    folder = write_framework(tmp_path / "one")
    (folder / "ALL" / "ALL.gold.key.txt").write_text("")
    with pytest.raises(FormatError, match=r"no gold sense for 'senseval2\.d000"):
        files.read_framework(folder)


def test_all_five_sets_are_the_sets_one_by_one(data: Path) -> None:
    everything = [annotation for one in files.read_framework(data / files.FRAMEWORK) for annotation in one.annotations]
    counts = Counter(annotation.id.partition(".")[0] for annotation in everything)
    assert counts == {
        "senseval2": 2282,
        "senseval3": 1850,
        "semeval2007": 455,
        "semeval2013": 1644,
        "semeval2015": 1022,
    }
    alone = [
        annotation
        for one in files.read_framework(data / files.FRAMEWORK, "semeval2007")
        for annotation in one.annotations
    ]
    assert [annotation.keys for annotation in everything if annotation.id.startswith("semeval2007")] == [
        annotation.keys for annotation in alone
    ]


def test_blank_lines_of_a_gold_file_have_no_meaning(tmp_path: Path) -> None:
    (tmp_path / "ALL").mkdir()
    (tmp_path / "ALL" / "ALL.gold.key.txt").write_text("\nsenseval2.d000.s000.t000 old_age%1:28:00::\n \n")
    (tmp_path / "ALL" / "ALL.data.xml").write_text(XML)
    [sentence] = files.read_framework(tmp_path)
    assert sentence.annotations[0].keys == ("old_age%1:28:00::",)
