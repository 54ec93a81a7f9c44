"""Files of named entities: columns, tag schemes and letters."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from firth.errors import FormatError
from firth.tasks.ner.data import NerExample
from firth.tasks.ner.task import Ner
from firth.tasks.tags import Span

CONLL_2003 = """-DOCSTART- -X- O O

EU NNP I-NP I-ORG
rejects VBZ I-VP O
German JJ I-NP I-MISC
call NN I-NP O

Peter NNP I-NP I-PER
Blackburn NNP I-NP I-PER
Ann NNP I-NP B-PER
"""


def test_conll_2003_is_read_in_whatever_column_its_tags_are(tmp_path: Path) -> None:
    (tmp_path / "eng.train").write_text(CONLL_2003)
    expected = [
        NerExample(("EU", "rejects", "German", "call"), (Span("ORG", 0, 1), Span("MISC", 2, 3))),
        NerExample(("Peter", "Blackburn", "Ann"), (Span("PER", 0, 2), Span("PER", 2, 3))),
    ]
    assert Ner().read(tmp_path / "eng.train") == expected
    turned = "\n".join(" ".join(reversed(line.split())) for line in CONLL_2003.splitlines())
    (tmp_path / "turned").write_text(turned)
    assert Ner(word=-1, tag=0).read(tmp_path / "turned")[-2:] == expected


def test_a_column_without_tags_is_named(tmp_path: Path) -> None:
    (tmp_path / "eng.train").write_text(CONLL_2003)
    with pytest.raises(FormatError, match=r"eng.train:3: 'NNP' is not a tag.*Set the option tag to the column"):
        Ner(tag=1).read(tmp_path / "eng.train")
    with pytest.raises(FormatError, match=r"eng.train:3: there is no column 7"):
        Ner(tag=7).read(tmp_path / "eng.train")
    (tmp_path / "empty").write_text("\n\n")
    with pytest.raises(FormatError, match="the file has no sentences"):
        Ner().read(tmp_path / "empty")


def test_persian_is_read_like_english(data: Path) -> None:
    examples = Ner().read(data / "data/tasks/ner/parstwiner-fa-test.txt")
    assert len(examples) == 303
    assert Ner().learn_labels(examples) == {"kinds": ["EVE", "LOC", "NAT", "ORG", "PER", "POG"]}


def test_letters_are_unified_in_files_and_in_questions_and_no_word_is_lost(tmp_path: Path) -> None:
    file = tmp_path / "names.conll"
    file.write_text("علي B-PER\nدر O\n\u200c O\nتهران B-LOC\n", encoding="utf-8")
    [kept], [persian] = Ner().read(file), Ner(letters="persian").read(file)
    assert kept.words == ("علي", "در", "\u200c", "تهران")
    assert persian.words == ("علی", "در", "\u200c", "تهران")
    assert persian.entities == kept.entities == (Span("PER", 0, 1), Span("LOC", 3, 4))
    assert Ner(letters="persian").ask("علي در تهران")[0].words == ("علی", "در", "تهران")


@pytest.mark.parametrize("line", ["a O\n\n", "\n"])
def test_a_packed_bomb_is_refused_before_it_costs_much(tmp_path: Path, line: str) -> None:
    (tmp_path / "bomb.xz").write_bytes(lzma.compress(line.encode() * ((2 << 20) // len(line)), preset=0))
    with pytest.raises(FormatError, match=r"decompress to more than 100 times as many|more than 100,000 words"):
        Ner().read(tmp_path / "bomb.xz")
