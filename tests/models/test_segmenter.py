"""Unsupervised segmentation: counts and entropies by hand, a language with known words, and the file."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import firth
from firth.errors import FormatError, OptionError
from firth.models.segmenter import (
    Segmenter,
    SegmenterModel,
    branching_entropy,
    count_strings,
    normalize,
    read_characters,
)
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer

WORDS = ["天地", "玄黄", "宇宙", "洪荒", "日月", "盈昃", "辰", "宿", "列", "张"]


def make_text(sentences: int = 600) -> list[list[str]]:
    """Sentences of random words of a small language."""
    rng = np.random.default_rng(1)
    return [[WORDS[at] for at in rng.integers(0, len(WORDS), 8)] for _ in range(sentences)]


@pytest.fixture(scope="module")
def model() -> SegmenterModel:
    return Segmenter().fit(["".join(words) for words in make_text()])


def test_the_words_of_a_small_language_are_found(model: SegmenterModel) -> None:
    held_out = make_text(700)[600:]
    found = [model.split("".join(words)) for words in held_out]
    right = sum(one == other for one, other in zip(found, held_out))
    assert right >= 95


def test_strings_are_counted_as_by_hand() -> None:
    text = "abcabcab|bca"
    numbers = np.array([-1 if letter == "|" else ord(letter) - 97 for letter in text], np.int32)
    levels = count_strings(numbers, 3, 3, 2)
    for length, level in enumerate(levels, 1):
        places = [text[at : at + length] for at in range(len(text) - length + 1)]
        expected = {one: count for one, count in Counter(places).items() if "|" not in one and count >= 2}
        found = {text[at : at + length]: count for at, count in zip(level.firsts.tolist(), level.counts.tolist())}
        assert found == expected
        for at, id in enumerate(level.ids.tolist()):
            if id >= 0:
                first = int(level.firsts[id])
                assert text[at : at + length] == text[first : first + length]


def test_branching_entropy_is_that_of_the_next_character() -> None:
    # a is followed by b twice, by c twice, and once by the edge
    numbers = np.array([0, 1, -1, 0, 1, -1, 0, 2, -1, 0, 2, -1, 0, -1], np.int32)
    level, longer = count_strings(numbers, 3, 2, 2)
    entropy = branching_entropy(level, level.ids[longer.firsts], longer.counts)
    assert entropy[0] == pytest.approx(-2 * (0.4 * math.log(0.4)) - 0.2 * math.log(0.2))


def test_values_are_normalized_over_the_text() -> None:
    values = normalize(np.array([1.0, 3.0]), np.array([3, 1]))
    assert values.tolist() == pytest.approx([-1 / math.sqrt(3), math.sqrt(3)])


@pytest.mark.filterwarnings("ignore:.* of the tokens are not words:UserWarning")
def test_only_scripts_without_spaces_are_read() -> None:
    alphabet, text = read_characters(Corpus.of(["我们3天 tea 我。\n东"]).tokens(), 1000)
    letters = [chr(code) for code in alphabet]
    assert "".join("|" if number < 0 else letters[number] for number in text) == "我们|天|我|东|"


@pytest.mark.filterwarnings("ignore:.* of the tokens are not words:UserWarning")
def test_a_long_text_is_read_in_evenly_spaced_parts() -> None:
    tokens = Corpus.of(["我们去\n" * 5000]).tokens()
    _, text = read_characters(tokens, 2000)
    assert 1500 <= len(text) <= 2500


def test_training_is_deterministic_for_any_number_of_threads() -> None:
    texts = ["".join(words) for words in make_text(100)]
    models = [Segmenter().fit(Corpus.of(texts, threads=threads)) for threads in (1, 3)]
    assert models[0].vocabulary.words == models[1].vocabulary.words
    assert models[0].scores.tolist() == models[1].scores.tolist()


def test_unknown_characters_stay_together_and_no_word_begins_with_a_mark(model: SegmenterModel) -> None:
    assert model.split("ฉันรัก") == ["ฉันรัก"]
    thai = SegmenterModel(["ที", "่"], np.array([1, 5], np.float32))
    assert thai.split("ที่ที") == ["ที่", "ที"]


def test_a_model_is_saved_and_used_by_the_name_of_its_folder(model: SegmenterModel, tmp_path: Path) -> None:
    firth.save(model, tmp_path / "words")
    text = "".join(make_text(1)[0])
    loaded = firth.load(tmp_path / "words")
    assert isinstance(loaded, SegmenterModel)
    assert loaded.split(text) == model.split(text)
    assert Tokenizer(segment=str(tmp_path / "words")).words(text) == model.split(text)
    assert loaded.metadata["recipe"]["name"] == "segmenter"


def test_a_model_that_was_trained_with_a_named_segmenter_answers_with_it(model: SegmenterModel, tmp_path: Path) -> None:
    firth.save(model, tmp_path / "words")
    texts = ["".join(words) for words in make_text(60)]
    corpus = Corpus.of(texts, tokenizer=Tokenizer(segment=str(tmp_path / "words")))
    counts = firth.Ngram(order=2).fit(corpus)
    firth.save(counts, tmp_path / "ngram")
    loaded = firth.load(tmp_path / "ngram")
    assert isinstance(loaded, firth.NgramModel)
    assert loaded.metadata["tokenizer"]["segment"] == str(tmp_path / "words")
    assert list(loaded.score("天地日月").words) == ["天地", "日月"]


def test_a_relative_segmenter_is_found_beside_the_model_from_any_folder(
    model: SegmenterModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    elsewhere.mkdir()
    monkeypatch.chdir(here)
    firth.save(model, "words")
    corpus = Corpus.of(["".join(words) for words in make_text(60)], tokenizer=Tokenizer(segment="words"))
    firth.save(firth.Ngram(order=2).fit(corpus), "ngram")
    monkeypatch.chdir(elsewhere)
    loaded = firth.load("../here/ngram")
    assert isinstance(loaded, firth.NgramModel)
    assert list(loaded.score("天地日月").words) == ["天地", "日月"]
    (here / "words").rename(here / "moved")
    with pytest.raises(firth.FirthError, match="put it here or beside the model"):
        firth.load("../here/ngram").score("天地日月")


def test_a_model_that_was_trained_with_a_function_says_on_saving_what_is_lost(tmp_path: Path) -> None:
    corpus = Corpus.of(["我爱北京"], tokenizer=Tokenizer(segment=lambda text: [text[:2], text[2:]]))
    counts = firth.Ngram(order=1).fit(corpus)
    with pytest.warns(UserWarning, match=r"split into words by the function .*, which is not stored"):
        firth.save(counts, tmp_path / "ngram")


def test_a_text_without_such_scripts_is_an_error() -> None:
    with pytest.raises(OptionError, match="no text in a script without spaces"):
        Segmenter().fit(["only English"])


def test_a_damaged_folder_is_an_error(model: SegmenterModel, tmp_path: Path) -> None:
    broken = SegmenterModel(model.vocabulary, np.full(len(model), np.nan, np.float32))
    firth.save(broken, tmp_path / "broken")
    with pytest.raises(FormatError, match="scores"):
        firth.load(tmp_path / "broken")
