"""The tokenizer of an export in the real `tokenizers` library: which words it finds, against firth's own tokenizer."""

from __future__ import annotations

import itertools
import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import firth
from firth.errors import OptionError
from firth.exchange.static_tokenizer import build_tokenizer, find_split_words, is_one_piece
from firth.text.normalize import Normalizer
from firth.text.tokenize import Tokenizer
from firth.vectors.words import WordVectors

tokenizers = pytest.importorskip("tokenizers", reason="needs tokenizers: pip install tokenizers")
ENGLISH = [
    *("the", "The", "tea", "Dr.", "Mr.", "U.S.", "e.g.", "can", "do", "not", "n't", "ca", "'s", "'ve", "it", "don't"),
    *("C++", "5.50", "$", "%", "(", ")", ",", ".", "!", "?", ";", ":", "...", "--", "well-known", "I", "he", "Watson"),
    *("pay", "or", "10", "O'Neill", "café", "1,000", '"', "'", "–", "…", "a"),
]
PERSIAN = ["چای", "می\u200cنوشم", "کتاب\u200cها", "را", "،", ".", "؟", "«", "»", "من", "۱۲", "خانه\u200cای"]


class Finder:
    """Both tokenizers of the same vectors."""

    def __init__(self, vectors: WordVectors) -> None:
        self.vectors = vectors
        table, self.further = build_tokenizer(vectors)
        self.tokenizer = tokenizers.Tokenizer.from_str(json.dumps(table))

    def theirs(self, text: str) -> list[str]:
        ids = self.tokenizer.encode(text, add_special_tokens=False).ids
        size = len(self.vectors)
        return [self.vectors.vocabulary[id if id < size else self.further[id - size]] for id in ids]

    def ours(self, text: str) -> list[str]:
        ids = self.vectors.ids(self.vectors.tokenizer.words(text))
        return [self.vectors.vocabulary[id] for id in ids.tolist() if id >= 0]


def make(words: list[str], tokenizer: Tokenizer | None = None) -> Finder:
    words = list(dict.fromkeys(words))
    vectors = WordVectors(words, np.random.default_rng(1).normal(size=(len(words), 4)))
    return Finder(vectors if tokenizer is None else vectors.with_tokenizer(tokenizer))


@pytest.mark.parametrize(
    "text",
    [
        "The tea, Dr. Watson!",
        "I can't pay $5.50 (or 10%)...",
        "It's not well-known; they don't pay. He's O'Neill.",
        "unknown words vanish: zzz the qqq tea",
        "Cannot? I cannot. The U.S. tea -- e.g. C++",
        '"the tea" – café … 1,000',
        "cafe\u0301 \u200fthe\u200e tea",
        "",
        "   \n\t ",
        "t e a ,,, aa aaa a",
    ],
)
@pytest.mark.parametrize("mode", ["running", "whitespace"])
def test_english_texts_give_the_same_words(text: str, mode: Any) -> None:
    finder = make(ENGLISH, Tokenizer(mode=mode))
    assert finder.theirs(text) == finder.ours(text)


@pytest.mark.parametrize(
    "text",
    [
        "من چای می‌نوشم.",
        "كتاب‌‌هاي را؟",
        "«چای»، ۱۲ 12 ١٢ چـــای",
        "ناشناخته چای، را",
        "خانه‌ای‌ را",
    ],
)
def test_persian_texts_give_the_same_words(text: str) -> None:
    finder = make(PERSIAN, Tokenizer(normalizer=Normalizer.persian(half_spaces=False)))
    assert finder.theirs(text) == finder.ours(text)
    assert finder.ours(text)


def test_folded_case_finds_the_words_of_capitals() -> None:
    finder = make(["the", "tea", "london"], Tokenizer(normalizer=Normalizer(fold_case=True)))
    assert finder.theirs("The TEA in London") == ["the", "tea", "london"]


def test_an_unknown_word_is_nothing_even_if_its_letters_are_words() -> None:
    finder = make(["a", "b", "ab", "ba"])
    assert finder.theirs("abba ab a bab b") == ["ab", "a", "b"]


def test_words_with_characters_for_private_use_and_invalid_bytes_do_not_disturb() -> None:
    finder = make(["\ue000", "tea", "\ue000tea", "caf\udce9", "\ue001x"])
    assert finder.theirs("tea \ue000 \ue001 caf") == ["tea", "\ue000"]


def test_words_that_the_pattern_splits_are_found_whole() -> None:
    finder = make(["Dr.", "and/or", "tea"], Tokenizer(mode="whitespace"))
    assert [finder.vectors.vocabulary[id] for id in find_split_words(finder.vectors)] == ["Dr.", "and/or"]
    assert finder.theirs("Dr. tea and/or tea") == ["Dr.", "tea", "and/or", "tea"]
    assert not is_one_piece("Dr.")


def test_a_segmented_text_cannot_be_exported() -> None:
    pytest.importorskip("icu4py", reason="needs pip install 'firth[segment]'")
    vectors = WordVectors(["東京"], [[1.0]]).with_tokenizer(Tokenizer(segment="icu"))
    with pytest.raises(OptionError, match="which no pattern can do"):
        build_tokenizer(vectors)


@pytest.mark.parametrize(
    "name,file,least",
    [("word2vec-en", "corpora/en-raw-sample.txt.xz", 0.94), ("fasttext-fa", "corpora/fa-01.txt.xz", 0.995)],
)
def test_most_texts_of_a_corpus_give_the_same_words(data: Path, name: str, file: str, least: float) -> None:
    path = data / "data" / file
    if not path.is_file():
        pytest.skip(f"needs {file} in the data folder")
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        texts = [line.strip() for line in itertools.islice(lines, 1000) if line.strip()]
    finder = Finder(firth.load(name))
    same = sum(finder.theirs(text) == finder.ours(text) for text in texts)
    assert same / len(texts) >= least
