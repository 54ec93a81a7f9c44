"""Which document a word of a block belongs to."""

from __future__ import annotations

import numpy as np

from firth.models.doc2vec import Doc2Vec
from firth.runtime import Runtime
from firth.text.corpus import Corpus


def test_words_find_their_document_in_every_block_although_some_documents_are_empty():
    """Each document repeats a word of its own, and only its own word is predicted from its row."""
    texts = [[], ["a"] * 40, [], [], ["b"] * 30, ["c"] * 50, []]
    recipe = Doc2Vec(architecture="pv-dbow", dim=4, min_count=1, subsample=0, epochs=1)
    corpus = Corpus.of(texts)
    network, schedule = recipe._prepare(corpus, corpus.tokens(), None, Runtime(1))
    small = type(schedule)(schedule.ids, schedule.sentences, 1, 0.05, size=45)
    found = []
    network._run_tagged = lambda block, windows, targets, objective, tags: (  # type: ignore[method-assign]
        found.append((windows[0].tolist(), tags[0].tolist())) or (1.0, 1)
    )
    for block in small.blocks():
        network.train(block)
    words, documents = (np.concatenate(column) for column in zip(*found))
    names = np.array([corpus.vocabulary[int(word)] for word in words])
    assert {name: set(documents[names == name].tolist()) for name in "abc"} == {"a": {1}, "b": {4}, "c": {5}}
    assert len(found) == 4  # a; b; c, cut in two
