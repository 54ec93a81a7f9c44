"""Persian from end to end: text in, half-spaces intact, vectors of three families, every file format, test sets."""

from __future__ import annotations

import itertools
import json
import lzma
from pathlib import Path

import numpy as np
import pytest

import firth
from firth import evaluate
from firth.cli.main import main
from firth.models.fasttext import FastText
from firth.models.glove import Glove
from firth.models.word2vec import Word2Vec
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.normalize import Normalizer
from firth.text.tokenize import Tokenizer
from firth.vectors.subwords import SubwordVectors
from firth.vectors.words import WordVectors

ONE = Runtime(1)
ZWNJ = "\u200c"
NEWS = 50_200, 58_000  # lines of news articles
RECIPES = {
    "word2vec": Word2Vec(dim=40, min_count=5, epochs=4),
    "fasttext": FastText(dim=40, min_count=5, epochs=2, buckets=20_000),
    "glove": Glove(dim=40, min_count=5, epochs=10, window=8, x_max=10),
}


@pytest.fixture(scope="module")
def text(data: Path) -> str:
    with lzma.open(data / "data" / "corpora" / "fa-01.txt.xz", "rt", encoding="utf-8") as file:
        return "".join(itertools.islice(file, *NEWS))


@pytest.fixture(scope="module")
def corpus(text: str) -> Corpus:
    return Corpus.of([text], tokenizer=Tokenizer(normalizer=Normalizer.persian()))


@pytest.fixture(scope="module", params=RECIPES)
def trained(request: pytest.FixtureRequest, corpus: Corpus) -> WordVectors:
    vectors: WordVectors = RECIPES[request.param].fit(corpus, runtime=ONE)  # type: ignore[attr-defined]
    return vectors


def test_words_with_half_spaces_are_words_of_the_model(trained: WordVectors, text: str):
    joined = [word for word in trained.vocabulary if ZWNJ in word]
    assert {"می‌شود", "می‌کند", "آن‌ها"} <= set(joined)
    assert len(joined) > 100
    assert all(word.strip(ZWNJ) == word for word in joined)
    assert all(word.replace(ZWNJ, "") for word in joined)
    assert not any(letter in word for word in trained.vocabulary for letter in "كي")


def test_verbs_stand_near_verbs(trained: WordVectors):
    near = [word for word, _ in trained.most_similar("می‌شود", topn=10)]
    assert sum(word.startswith(("می‌", "نمی‌")) or word in ("شد", "است", "شده", "خواهد", "شود") for word in near) >= 3


@pytest.mark.parametrize("name", ["model", "model.bin", "model.txt", "model.vec", "model.glove", "model.txt.gz"])
def test_every_format_brings_the_words_back(trained: WordVectors, name: str, tmp_path: Path):
    firth.save(trained, tmp_path / name)
    loaded = firth.load(tmp_path / name)
    assert tuple(loaded.vocabulary) == tuple(trained.vocabulary)
    assert np.array_equal(loaded["آن‌ها"], trained["آن‌ها"])
    assert loaded.most_similar("تهران", topn=3)[0][0] == trained.most_similar("تهران", topn=3)[0][0]


def test_an_unseen_word_with_a_half_space_has_a_vector_near_its_kin(corpus: Corpus):
    vectors = RECIPES["fasttext"].fit(corpus, runtime=ONE)
    assert isinstance(vectors, SubwordVectors)
    word = "دانشگاه‌هایمان"
    assert word not in vectors.vocabulary
    assert ZWNJ in "".join(share.ngram for share in vectors.explain(word))
    assert vectors.similarity(word, "دانشگاه") > 0.5


def test_the_persian_sets_are_answered_with_their_coverage(trained: WordVectors, data: Path):
    pairs = evaluate.similarity(trained, "fa/similarity-semeval2017")
    questions = evaluate.analogies(trained, "fa/analogy-sbu")
    groups = evaluate.categories(trained, "fa/categories-sbu")
    assert pairs.total == 500
    assert pairs.used > 50
    assert questions.total > 19_000
    assert questions.used > 500
    assert groups.used > 50
    assert -1 <= pairs.value <= 1
    assert 0 <= questions.value <= 1
    assert 0 < groups.value <= 1


def test_the_command_line_trains_on_persian_text_and_shows_neighbors(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "fa.txt").write_text(text[:400_000], encoding="utf-8")
    flags = ["--language", "persian", "--dim", "20", "--epochs", "2", "--threads", "1", "--json"]
    main(["train", "word2vec", str(tmp_path / "fa.txt"), *flags, "--out", str(tmp_path / "fa.bin")])
    capsys.readouterr()
    main(["neighbors", str(tmp_path / "fa.bin"), "می‌شود", "--json"])
    shown = json.loads(capsys.readouterr().out)
    assert len(shown["neighbors"]) == 10
