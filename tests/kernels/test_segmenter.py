"""The best split against all splits."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np

from firth.models.segmenter import Trie
from firth.text.code_points import code_points


def make_trie(words: dict[str, float]) -> Trie:
    codes = [code_points(word) for word in words]
    ends = np.cumsum([len(word) for word in codes], dtype=np.int64)
    return Trie.of(np.concatenate(codes), np.append(0, ends)[:-1], ends, np.array(list(words.values())))


def test_the_best_split_is_the_best_of_all_splits() -> None:
    rng = np.random.default_rng(1)
    letters = "天地玄"
    strings = ["".join(one) for size in (1, 2, 3) for one in product(letters, repeat=size)]
    for _ in range(20):
        scores = {word: float(rng.normal()) for word in strings if len(word) == 1 or rng.random() < 0.6}
        text = "".join(rng.choice(list(letters), 7))

        def value(cuts: tuple[bool, ...], text: str = text, scores: dict[str, float] = scores) -> float:
            places = [0, *(at + 1 for at, cut in enumerate(cuts) if cut), len(text)]
            return sum(scores.get(text[a:b], -np.inf) for a, b in pairwise(places))

        best = max(value(cuts) for cuts in product([False, True], repeat=len(text) - 1))
        codes = code_points(text)
        starts, ends, counts = make_trie(scores).split(codes, np.array([0]), np.array([len(text)]), -100.0)
        assert counts.tolist() == [len(starts)]
        assert [starts[0], ends[-1]] == [0, len(text)]
        assert starts[1:].tolist() == ends[:-1].tolist()
        assert abs(sum(scores[text[a:b]] for a, b in zip(starts, ends)) - best) < 1e-9


def test_runs_are_split_one_by_one() -> None:
    trie = make_trie({"天地": 2.0, "天": 0.0, "地": 0.0})
    codes = code_points("天地x天地天")
    starts, ends, counts = trie.split(codes, np.array([0, 3]), np.array([2, 6]), -1.0)
    assert list(zip(starts.tolist(), ends.tolist())) == [(0, 2), (3, 5), (5, 6)]
    assert counts.tolist() == [1, 2]
