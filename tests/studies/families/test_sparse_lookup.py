"""Sparse rows answer as the same rows do when they are dense."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from firth import evaluate
from firth.evaluate.lookup import Lookup
from firth.models.counts import Counts
from firth.runtime import Runtime
from firth.studies.families.sparse_lookup import SparseLookup
from firth.text.corpus import Corpus

WORDS = ["king", "queen", "man", "woman", "boy", "girl", "tea", "coffee", "rain", "snow"]


@pytest.mark.parametrize("restricted", [300_000, 6])
def test_sparse_rows_score_as_dense_ones(restricted: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    corpus = Corpus.of([" ".join(rng.choice(WORDS, 12)) for _ in range(40)])
    counts = Counts(kind="ppmi", window=2).fit(corpus, runtime=Runtime(1))
    pairs, asked = tmp_path / "pairs.txt", tmp_path / "asked.txt"
    pairs.write_text("".join(f"{a}\t{b}\t{i}\n" for i, (a, b) in enumerate(zip(WORDS, WORDS[3:]))) + "tea\tfog\t3\n")
    asked.write_text(": all\n" + "".join(f"{' '.join(rng.permutation(WORDS)[:4])}\n" for _ in range(30)))
    sparse = SparseLookup(counts, restrict_vocab=restricted)
    dense = Lookup(counts.vectors(), restrict_vocab=restricted)
    for word in WORDS:
        one, other = sparse.vector(word), dense.vector(word)
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            np.testing.assert_allclose(one, other, rtol=1e-5)
    assert evaluate.similarity(sparse, pairs).value == pytest.approx(evaluate.similarity(dense, pairs).value)
    scores = [evaluate.analogies(lookup, asked, runtime=Runtime(1)) for lookup in (sparse, dense)]
    assert scores[0].details["correct"] == scores[1].details["correct"]
    assert scores[0].used == scores[1].used > 0
