"""What gensim's models share: options, the choice of words, texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from firth.compat.gensim import Word2Vec
from firth.compat.gensim_training import list_words
from firth.errors import OptionError

TEXT = [["tea", "with", "milk"], ["tea", "and", "rain"], ["rain"]]


def test_the_vocabulary_is_that_of_gensim():
    peer = pytest.importorskip("gensim.models.word2vec")
    counts = {"a": 9, "b": 5, "c": 5, "d": 1}
    for options in ({"min_count": 5}, {"max_final_vocab": 2, "min_count": 1}, {"max_final_vocab": 3, "min_count": 1}):
        models = Word2Vec(**options), peer.Word2Vec(**options)
        for model in models:
            model.build_vocab_from_freq(counts)
        assert set(models[0].wv.key_to_index) == set(models[1].wv.key_to_index)
        assert models[0].effective_min_count == models[1].effective_min_count
    kept = Word2Vec(min_count=5, trim_rule=lambda word, count, least: {"a": 1, "d": 2}.get(word, 0))
    kept.build_vocab_from_freq(counts)
    assert set(kept.wv) == {"b", "c", "d"}


def test_words_are_scanned_chosen_and_reported_as_in_gensim():
    peer = pytest.importorskip("gensim.models.word2vec")
    for options in ({"min_count": 2}, {"min_count": 1, "max_vocab_size": 3}, {"min_count": 1, "max_vocab_size": 2}):
        ours, theirs = Word2Vec(**options), peer.Word2Vec(**options)
        assert ours.scan_vocab(TEXT) == theirs.scan_vocab(TEXT)
        assert ours.raw_vocab == dict(theirs.raw_vocab)
        told, expected = ours.prepare_vocab(), theirs.prepare_vocab()
        assert told == {name: expected[name] for name in told}


def test_a_vocabulary_is_taken_from_another_model():
    model, other = Word2Vec(min_count=1, vector_size=4), Word2Vec(min_count=1, vector_size=4)
    other.build_vocab(TEXT)
    model.reset_from(other)
    assert model.wv.key_to_index == other.wv.key_to_index


def test_wrong_options_and_texts_are_errors(tmp_path: Path):
    with pytest.raises(OptionError, match="speed: not supported by Word2Vec"):
        Word2Vec(speed=3)
    with pytest.raises(OptionError, match="nothing would be trained"):
        Word2Vec(negative=0)
    for wrong in ({"corpus_iterable": 11}, {"corpus_file": 11}, {"corpus_iterable": TEXT, "corpus_file": "a"}, {}):
        with pytest.raises(TypeError, match=r"but must be|give either"):
            Word2Vec().build_vocab(**wrong)
    with pytest.raises(OptionError, match=r"'hot tea'\.split\(\)"):
        Word2Vec(["hot tea"])
    assert list_words(("hot", "tea")) == ["hot", "tea"]


def test_a_file_has_a_sentence_on_each_line(tmp_path: Path):
    (tmp_path / "text.txt").write_text("\n".join(map(" ".join, TEXT)), encoding="utf-8")
    model = Word2Vec(corpus_file=tmp_path / "text.txt", epochs=1, min_count=1, vector_size=4)
    assert (model.corpus_count, model.corpus_total_words) == (3, 7)
