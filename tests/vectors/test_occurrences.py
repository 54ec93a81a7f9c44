"""Words where they occur."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from firth.bulk.index import index_file
from firth.errors import OptionError, UnknownWord
from firth.formats.registry import load, save
from firth.text.normalize import Normalizer
from firth.text.tokenize import Tokenizer
from firth.vectors.occurrences import Occurrences, find_marked_word
from firth.vectors.words import WordVectors

WHITESPACE = Tokenizer(mode="whitespace")
LINES = ["they play ball", "", "a play on stage", "ball on stage"]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(LINES) + "\n")
    return path


class Left:
    """A stand-in for a contextual model: a word's vector is its own letter count and that of the word before it."""

    def embed(self, sentences, *, layers, pooling):  # type: ignore[no-untyped-def]
        return [
            np.array([[len(b), len(a)] for a, b in zip(["", *words], words)], np.float32).reshape(-1, 2)
            for words in sentences
        ]


@pytest.mark.parametrize("block_tokens", [1, 4, 100])
def test_an_index_has_every_word_in_its_place(tmp_path: Path, text: Path, block_tokens: int) -> None:
    made = index_file(Left(), text, tmp_path / "index", tokenizer=WHITESPACE, block_tokens=block_tokens)
    found = [made.occurrence(row) for row in range(len(made))]
    wanted = [(i, j, word) for i, line in enumerate(LINES) for j, word in enumerate(line.split())]
    assert [(one.sentence, one.position, one.word) for one in found] == wanted
    assert found[4].words == ("a", "play", "on", "stage")
    assert made.rows.take([4]).tolist() == [[4, 1]]
    assert made.vocabulary.most_common(1)[0][1] == 2


def test_the_nearest_occurrence_is_the_one_used_alike(tmp_path: Path, text: Path) -> None:
    made = index_file(Left(), text, tmp_path / "index", tokenizer=WHITESPACE)
    assert made.nearest([4, 1], 1)[0].marked() == "a [play] on stage"
    assert [one.sentence for one in made.nearest([4, 1], word="play")] == [2, 0]
    assert [one.sentence for one in made.nearest([4, 4], word="play")] == [0, 2]
    with pytest.raises(UnknownWord):
        made.nearest([4, 1], word="opera")


def test_many_queries_give_what_single_ones_give() -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((4000, 16)).astype(np.float16)
    made = Occurrences(["a", "b"], rng.integers(0, 2, 4000), [0, 4000], rows)
    queries = rng.standard_normal((20, 16)).astype(np.float32)
    alone = [made.nearest(query, 5) for query in queries]
    together = made.nearest_each(queries, 5)
    assert [[one.position for one in some] for some in together] == [[one.position for one in some] for some in alone]


def test_an_index_of_some_words_has_their_places(tmp_path: Path, text: Path) -> None:
    made = index_file(Left(), text, tmp_path / "index", tokenizer=WHITESPACE, words=["play", "opera"], block_tokens=3)
    assert [made.occurrence(row).marked() for row in range(len(made))] == ["they [play] ball", "a [play] on stage"]
    assert made.nearest([4, 1], 5)[0].sentence == 2


def test_an_index_is_the_same_after_saving(tmp_path: Path, text: Path) -> None:
    made = index_file(Left(), text, tmp_path / "index", tokenizer=WHITESPACE, words=["play"])
    save(made, tmp_path / "again")
    again = load(tmp_path / "again")
    assert isinstance(again, Occurrences)
    assert again.metadata["layers"] == "top"
    assert np.array_equal(again.rows.block(0, 2), made.rows.block(0, 2))
    assert again.occurrence(1) == made.occurrence(1)


def test_word_vectors_can_be_indexed_and_empty_texts_too(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    made = index_file(WordVectors(["tea"], [[1.0, 2.0]]), tmp_path / "empty.txt", tmp_path / "index")
    assert (len(made), made.dim, made.nearest([1, 0])) == (0, 2, [])


def test_an_index_is_over_one_layer(tmp_path: Path, text: Path) -> None:
    with pytest.raises(OptionError, match="an index is over one layer"):
        index_file(Left(), text, tmp_path / "index", layers="all")


def test_parts_that_do_not_fit_are_refused() -> None:
    with pytest.raises(OptionError, match="2 occurrences need as many rows"):
        Occurrences(["a"], [0, 0], [0, 2], [[1.0]])
    with pytest.raises(OptionError, match="must begin with 0 and end with 2"):
        Occurrences(["a"], [0, 0], [0, 1], [[1.0], [2.0]])


@pytest.mark.parametrize(
    "context, words, place",
    [
        ("Olivia signed to do a Broadway [play]", 7, 6),
        ("[Play] it again.", 4, 0),
        ("can't [play] 'play'", 6, 2),
    ],
)
def test_the_word_in_brackets_is_found(context: str, words: int, place: int) -> None:
    split, found = find_marked_word(context, Tokenizer())
    assert (len(split), found) == (words, place)
    assert split[found].lower() == "play"


@pytest.mark.parametrize(
    "context, message",
    [("no word", "none is"), ("[a] and [b]", "2 are"), ("to [play ball]", "is not one word"), ("p[la]y", "one word")],
)
def test_brackets_around_anything_but_one_word_are_a_mistake(context: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        find_marked_word(context, Tokenizer())


def test_a_query_by_word_is_normalized_and_is_one_word() -> None:
    fold = {"tokenizer": Tokenizer(normalizer=Normalizer(fold_case=True)).as_dict()}
    text = Occurrences(["play", "ball"], [0, 1, 0], [0, 2, 3], [[0, 1], [1, 0], [0, 1]], metadata=fold)
    assert text.of("PLAY").tolist() == [0, 2]
    assert [near.word for near in text.nearest([0, 1], word="Play")] == ["play", "play"]
    with pytest.raises(OptionError, match="'play ball' is 2 words, but occurrences are those of one word"):
        text.of("play ball")
    with pytest.raises(UnknownWord, match="Near spellings: 'play'"):
        text.of("plays")
