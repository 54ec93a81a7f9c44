"""Streams of sentences: the batches of the original, and laws for any text."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from firth.errors import OptionError
from firth.neural.training import streams as streams_module
from firth.neural.training.streams import LONGEST, StreamBatch, Streams, cut_long
from firth.text.corpus import Corpus
from firth.text.tokenfile import TokenFile
from firth.text.tokenize import Tokenizer

LINES = Tokenizer(mode="whitespace")


def tokenize(lines: list[str]) -> TokenFile:
    return Corpus.of(["\n".join(lines)], tokenizer=LINES).tokens()


def to_words(tokens: TokenFile, batch: StreamBatch) -> list[list[list[str]]]:
    """The inputs as words, row by row, forward and backward."""
    names = [*tokens.vocabulary.words, "<S>", "</S>"]
    both = [batch.words[part].T.tolist() for part in (batch.forward, batch.backward)]
    return [[[names[word] for word in row] for row in rows] for rows in both]


def test_batches_are_those_of_the_original() -> None:
    """bilm-tf's own test: three sentences in two rows of three steps; its second batch is in the text's second pass."""
    tokens = tokenize(["the unknown .", "th .", "the"] * 2)
    targets = tokens.vocabulary.ids(["the", "."])
    places = np.full(len(tokens.vocabulary) + 2, 2)  # <UNK>
    places[targets] = 3, 4
    places[-2:] = 0, 1
    streams = Streams(tokens, places, rows=2, steps=3)
    first, second = streams.batch(0), streams.batch(1)
    assert first.forward_targets.T.tolist() == [[3, 2, 4], [2, 4, 1]]
    assert first.backward_targets.T.tolist() == [[4, 2, 3], [4, 2, 0]]
    assert second.forward_targets.T.tolist() == [[1, 3, 1], [3, 2, 4]]
    assert second.backward_targets.T.tolist() == [[0, 3, 0], [4, 2, 3]]
    assert to_words(tokens, first) == [
        [["<S>", "the", "unknown"], ["<S>", "th", "."]],
        [["</S>", ".", "unknown"], ["</S>", ".", "th"]],
    ]
    assert to_words(tokens, second) == [
        [[".", "<S>", "the"], ["<S>", "the", "unknown"]],
        [["the", "</S>", "the"], ["</S>", ".", "unknown"]],
    ]
    assert second.fresh.T.tolist() == [[False, True, False], [True, False, False]]


def fill_rows(sentences: list[list[int]], rows: int, steps: int, batches: int, marks: tuple[int, int]) -> list:
    """The rows by a plain loop: (input, target) forward, as the original fills them, wrapping around at the end."""
    made: list[list[tuple[int, int]]] = [[] for _ in range(rows)]
    taken = 0
    for batch in range(batches):
        for row in made:
            while len(row) < (batch + 1) * steps:
                sentence = sentences[taken % len(sentences)]
                row += zip([marks[0], *sentence], [*sentence, marks[1]])
                taken += 1
    return made


@settings(max_examples=40)
@given(
    st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=9), min_size=1, max_size=30),
    st.integers(1, 4),
    st.integers(1, 5),
)
def test_rows_are_filled_as_a_plain_loop_fills_them(sentences: list[list[int]], rows: int, steps: int) -> None:
    tokens = tokenize([" ".join(f"w{word}" for word in sentence) for sentence in sentences])
    count = len(tokens.vocabulary)
    try:
        streams = Streams(tokens, np.arange(count + 2), rows=rows, steps=steps)
    except OptionError:
        assert sum(len(sentence) + 1 for sentence in sentences) < rows * steps
        return
    numbers = [tokens.sentence(number).tolist() for number in range(len(sentences))]
    expected = fill_rows(numbers, rows, steps, streams.batches, (count, count + 1))
    turned = fill_rows([one[::-1] for one in numbers], rows, steps, streams.batches, (count + 1, count))
    for number in range(streams.batches):
        batch = streams.batch(number)
        assert len(set(batch.words.tolist())) == len(batch.words)
        for row in range(rows):
            span = slice(number * steps, (number + 1) * steps)
            ahead = zip(batch.words[batch.forward[:, row]].tolist(), batch.forward_targets[:, row].tolist())
            behind = zip(batch.words[batch.backward[:, row]].tolist(), batch.backward_targets[:, row].tolist())
            assert list(ahead) == expected[row][span]
            assert list(behind) == turned[row][span]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=30), st.integers(1, 4), st.integers(1, 5))
@settings(max_examples=40)
def test_a_whole_text_has_every_word_once(lengths: list[int], rows: int, steps: int) -> None:
    tokens = tokenize([" ".join(f"w{k}x{i}" for i in range(length)) for k, length in enumerate(lengths)])
    streams = Streams(tokens, np.arange(len(tokens.vocabulary) + 2), rows=rows, steps=steps, whole=True)
    batches = list(streams.read(0, streams.batches))
    ends = [len(tokens.vocabulary) + 1] * len(lengths)
    starts = [len(tokens.vocabulary)] * len(lengths)
    for name, marks in (("forward_targets", ends), ("backward_targets", starts)):
        targets = [id for batch in batches for id in getattr(batch, name).flatten().tolist() if id >= 0]
        assert sorted(targets) == sorted(list(range(len(tokens.vocabulary))) + marks)


def test_the_order_of_sentences_is_drawn_anew_for_every_epoch_and_depends_on_the_seed_alone() -> None:
    tokens = tokenize([f"a{i} b{i} c{i}" for i in range(50)])
    targets = np.arange(len(tokens.vocabulary) + 2)

    def read_targets(number: int, seed: int = 1, **more: object) -> list[int]:
        streams = Streams(tokens, targets, rows=2, steps=10, seed=seed, shuffled=True, **more)  # type: ignore[arg-type]
        return streams.batch(number).forward_targets.flatten().tolist()

    assert Streams(tokens, targets, rows=2, steps=10).batches == 10
    assert read_targets(3) == read_targets(3)
    assert read_targets(3) != read_targets(13)
    assert read_targets(3) != read_targets(3, seed=2)
    epoch = [read_targets(number) for number in range(10)]
    assert len({word for batch in epoch for word in batch}) > 120  # all but those after the last batch


def test_the_rows_of_several_processes_are_the_rows_of_one() -> None:
    tokens = tokenize([f"a{i} b{i} c{i}" for i in range(50)])
    targets = np.arange(len(tokens.vocabulary) + 2)
    whole = Streams(tokens, targets, rows=4, steps=5, shuffled=True).batch(2)
    parts = [Streams(tokens, targets, rows=4, steps=5, shuffled=True, mine=slice(a, a + 2)).batch(2) for a in (0, 2)]
    assert np.hstack([part.forward_targets for part in parts]).tolist() == whole.forward_targets.tolist()
    assert np.hstack([part.words[part.backward] for part in parts]).tolist() == whole.words[whole.backward].tolist()


def test_distinct_words_come_by_the_length_of_their_spelling() -> None:
    tokens = tokenize(["ccc a bb a ccc dddd a"])
    lengths = np.array([len(word) for word in tokens.vocabulary] + [1, 1])
    words = Streams(tokens, np.arange(6), rows=1, steps=8, lengths=lengths).batch(0).words.numpy()
    assert lengths[words].tolist() == sorted(lengths[words])
    assert len(words) == 6


def test_one_endless_line_is_cut() -> None:
    tokens = tokenize([" ".join(f"w{i % 7}" for i in range(10 * LONGEST))])
    streams = Streams(tokens, np.arange(9), rows=4, steps=20)
    assert len(streams.edges_of(0)) == 11
    assert streams.batches == (10 * LONGEST + 10) // 80
    assert np.diff(cut_long(np.array([0, 5, 5, 2500]), 1000)).tolist() == [5, 0, 1000, 1000, 495]


def test_a_text_that_is_smaller_than_a_batch_is_an_error() -> None:
    with pytest.raises(OptionError, match="smaller than one batch: 4 words and sentence ends do not fill 8 rows of 5"):
        Streams(tokenize(["a b c"]), np.arange(5), rows=8, steps=5)


def test_a_large_text_is_shuffled_window_by_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams_module, "WINDOW", 50)
    tokens = tokenize([f"w{number} x{number}" for number in range(240)])
    count = len(tokens.vocabulary)
    streams = Streams(tokens, np.arange(count + 2), rows=4, steps=3, seed=1, shuffled=True)
    assert len(streams.windows) == 6
    assert streams.batches == int((streams.places_of // 12).sum()) == 60
    numbers = {word: int(word[1:]) for word in tokens.vocabulary.words}
    seen: list[set[int]] = []
    for number in range(streams.batches):
        batch = streams.batch(number)
        words = [tokens.vocabulary.words[id] for id in batch.words.tolist() if id < count]
        seen.append({numbers[word] // 48 for word in words})
        assert len(streams.layout(*streams.find_window(number)[:2]).edges) == 49  # memory holds one window
    assert all(len(windows) == 1 for windows in seen)  # a batch is of one window
    order = [next(iter(windows)) for windows in seen]
    turns = [window for place, window in enumerate(order) if place == 0 or window != order[place - 1]]
    assert sorted(turns) == [0, 1, 2, 3, 4]  # every window once
    assert turns != [0, 1, 2, 3, 4]
    parts = [
        Streams(tokens, np.arange(count + 2), rows=4, steps=3, seed=1, shuffled=True, mine=rows)
        for rows in (slice(0, 2), slice(2, 4))
    ]
    for number in (0, 13, 59, 60, 100):  # two processes read the rows of one, also in the second epoch
        whole, halves = streams.batch(number), [one.batch(number) for one in parts]
        joined = torch.cat([half.words[half.forward] for half in halves], 1)
        assert torch.equal(whole.words[whole.forward], joined)


def test_every_sentence_of_a_window_is_read_in_each_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams_module, "WINDOW", 6)
    tokens = tokenize([f"w{number}" for number in range(24)])
    streams = Streams(tokens, np.arange(26), rows=2, steps=2, seed=3, shuffled=True)
    for epoch in range(2):
        batches = [streams.batch(epoch * streams.batches + number) for number in range(streams.batches)]
        words = {int(word) for batch in batches for word in batch.words if word < 24}
        assert words == set(range(24))
