"""Segmenters in the tokenizer: functions, names, offsets, sentences, and what is stored."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firth.errors import OptionError
from firth.models.segmenter import SegmenterModel
from firth.text.corpus import Corpus
from firth.text.segmentation import FUNCTIONS, RunSegmenter, find_segmenter, name_segment
from firth.text.tokenize import Tokenizer


def pairs(text: str) -> list[str]:
    return [text[at : at + 2] for at in range(0, len(text), 2)]


class CallableRuns(RunSegmenter):
    """A segmenter of runs that an option accepts."""

    def __call__(self, text: str) -> Iterable[str]:
        return self.split(text)


def test_a_function_splits_each_sentence() -> None:
    asked: list[str] = []

    def split(text: str) -> list[str]:
        asked.append(text)
        return pairs(text)

    sentences = Tokenizer(segment=split).sentences("我爱北京。他走！\n再见")
    assert asked == ["我爱北京。", "他走！", "再见"]
    assert [[token.text for token in sentence] for sentence in sentences] == [
        ["我爱", "北京", "。"],
        ["他走", "！"],
        ["再见"],
    ]


def test_spans_are_places_in_the_source_also_if_the_normalizer_changes_the_text() -> None:
    text = "\u200f我爱\u200b 北京"
    for token in Tokenizer(segment=pairs).spans(text):
        assert text[token.start : token.end] == token.text


def test_white_space_that_a_function_returns_is_no_token() -> None:
    assert Tokenizer(segment=lambda text: list(text)).words("我 爱") == ["我", "爱"]


def test_a_segmenter_of_runs_gets_only_scripts_without_spaces() -> None:
    asked: list[str] = []

    def split(text: str) -> list[str]:
        asked.append(text)
        return pairs(text)

    words = Tokenizer(segment=CallableRuns(split)).words("我爱北京 and Dr. Watson，東京タワーは3月。")
    assert asked == ["我爱北京", "東京タワーは", "月"]
    assert words == ["我爱", "北京", "and", "Dr.", "Watson", "，", "東京", "タワ", "ーは", "3", "月", "。"]


@pytest.mark.parametrize("batched", [True, False])
def test_runs_are_the_same_one_by_one_and_in_one_call(batched: bool) -> None:
    def split(text: str) -> Iterable[str]:
        for number, line in enumerate(text.split("\n")):
            yield from ["\n"] * (number > 0)
            yield from pairs(line)

    words = Tokenizer(segment=CallableRuns(split, batched)).words("我爱北京。你好吗 我们3天")
    assert words == ["我爱", "北京", "。", "你好", "吗", "我们", "3", "天"]


@pytest.mark.parametrize("returned", [["上海"], [3], "我爱", None])
def test_what_a_function_must_return_is_checked(returned: Any) -> None:
    with pytest.raises(OptionError, match="the segmenter returned"):
        Tokenizer(segment=lambda text: returned).words("我爱北京")


def test_an_unknown_name_is_an_error_that_lists_the_names() -> None:
    with pytest.raises(OptionError, match=r"no segmenter is called .jeiba., and no folder is\. Names: icu, jieba"):
        Tokenizer(segment="jeiba").words("我")


def test_a_folder_of_another_model_is_an_error(tmp_path: Path) -> None:
    import firth

    firth.save(firth.WordVectors(["tea"], np.ones((1, 2))), tmp_path / "vectors")
    with pytest.raises(OptionError, match="contains a WordVectors, not a segmenter"):
        Tokenizer(segment=str(tmp_path / "vectors")).words("我")


def test_tokenized_text_is_not_segmented() -> None:
    with pytest.raises(OptionError, match="segment is for running text"):
        Tokenizer(mode="whitespace", segment="icu")


def test_a_stored_function_is_found_again_in_this_process_only() -> None:
    stored = Tokenizer(segment=pairs).as_dict()
    assert Tokenizer.from_dict(stored).words("我爱北京") == ["我爱", "北京"]
    FUNCTIONS.pop(stored["segment"])
    with pytest.raises(OptionError, match=r"split into words by the function .*pairs, which is not stored"):
        Tokenizer.from_dict(stored).words("我爱北京")


def test_two_functions_of_one_name_are_not_confused() -> None:
    def make(size: int) -> Any:
        return lambda text: [text[:size], text[size:]]

    names = {name_segment(make(size)) for size in (1, 2)}
    assert len(names) == 1
    with pytest.raises(OptionError, match="not stored with the model"):
        find_segmenter(names.pop())


def test_a_corpus_is_segmented_in_threads_as_in_one() -> None:
    model = SegmenterModel(["北京", "我", "爱"], np.array([2, 1, 1], np.float32))
    texts = ["我爱北京。", "北京爱我 and tea"] * 50
    corpora = [Corpus.of(texts, tokenizer=Tokenizer(segment=model), threads=threads) for threads in (1, 3)]
    assert corpora[0].fingerprint == corpora[1].fingerprint
    assert corpora[0].vocabulary.words[:3] == ("北京", "我", "爱")


def test_a_function_is_not_cached(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("我爱北京")
    with pytest.raises(OptionError, match="cannot be cached"):
        Corpus(path, tokenizer=Tokenizer(segment=pairs), cache=tmp_path / "cache").tokens()


def test_text_without_spaces_that_is_read_without_a_segmenter_gives_a_hint() -> None:
    for text in ("我爱北京天安门", "ฉันรักภาษาไทย"):
        with pytest.warns(UserWarning, match=r"100 % of the tokens are not words.*segment='icu'"):
            Corpus.of([text]).tokens()


@pytest.mark.parametrize("text", ["strong tea, said 王 in Beijing", "", "안녕하세요 여러분"])
def test_other_text_gives_no_hint(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Corpus.of([text]).tokens()
        Corpus.of(["我爱北京"], tokenizer=Tokenizer(segment=pairs)).tokens()
        Corpus.of([["我", "爱"]]).tokens()
