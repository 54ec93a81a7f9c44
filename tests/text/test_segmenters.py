"""Segmenters of other libraries, where they are installed."""

from __future__ import annotations

import itertools
import sys

import pytest

from firth.errors import MissingExtra
from firth.text.segmenters import LIBRARIES, open_library
from firth.text.tokenize import Tokenizer

MODULES = {
    "icu": "icu4py",
    "jieba": "jieba",
    "sudachi": "sudachipy",
    "kiwi": "kiwipiepy",
    "pythainlp": "pythainlp",
}


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_library_that_is_not_installed_is_an_error_with_the_line_that_installs_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in list(sys.modules):
        if module.partition(".")[0] == MODULES[name]:
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, MODULES[name], None)
    with pytest.raises(MissingExtra, match=rf"segmenter {name} .*pip install 'firth\[{LIBRARIES[name].extra}\]'"):
        open_library(name)


def test_icu_splits_chinese_japanese_thai_lao_khmer_and_burmese() -> None:
    pytest.importorskip("icu4py")
    split = Tokenizer(segment="icu").words
    assert split("我们在北京大学学习。") == ["我们", "在", "北京", "大学", "学习", "。"]
    assert split("東京に行きました。")[:3] == ["東京", "に", "行き"]
    assert split("ฉันรักภาษาไทย 2 ครั้ง") == ["ฉัน", "รัก", "ภาษา", "ไทย", "2", "ครั้ง"]
    assert len(split("ຂ້ອຍຮັກພາສາລາວ")) > 2
    assert len(split("ខ្ញុំស្រឡាញ់ភាសាខ្មែរ")) > 2
    assert len(split("ကျွန်တော်မြန်မာစကားပြောတယ်")) > 2


def test_icu_leaves_other_scripts_to_the_tokenizer() -> None:
    pytest.importorskip("icu4py")
    tokenizer = Tokenizer(segment="icu")
    assert tokenizer.words("Dr. Watson can't go. It's 3.14") == Tokenizer().words("Dr. Watson can't go. It's 3.14")
    assert tokenizer.words("我们去Dr. Watson的家，") == ["我们", "去", "Dr.", "Watson", "的", "家", "，"]


def test_jieba_splits_chinese() -> None:
    pytest.importorskip("jieba")
    assert Tokenizer(segment="jieba").words("我来到北京清华大学。") == ["我", "来到", "北京", "清华大学", "。"]


def test_sudachi_splits_japanese_into_short_units() -> None:
    pytest.importorskip("sudachipy")
    pytest.importorskip("sudachidict_core")
    assert Tokenizer(segment="sudachi").words("国家公務員です。") == ["国家", "公務", "員", "です", "。"]


def test_kiwi_splits_korean_words_into_morphemes_without_overlaps() -> None:
    pytest.importorskip("kiwipiepy")
    text = "나는 학교에 갔다."
    spans = Tokenizer(segment="kiwi").spans(text)
    assert [token.text for token in spans][:4] == ["나", "는", "학교", "에"]
    assert all(before.end <= after.start for before, after in itertools.pairwise(spans))
    assert all(text[token.start : token.end] == token.text for token in spans)


def test_pythainlp_splits_thai() -> None:
    pytest.importorskip("pythainlp")
    assert Tokenizer(segment="pythainlp").words("ผมรักเมืองไทย")[:2] == ["ผม", "รัก"]
