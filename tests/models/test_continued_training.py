"""Training that goes on: what words and n-grams keep, what is new, and where it may start from."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import firth
from firth.cli.main import main
from firth.errors import OptionError
from firth.models.classifier import FastTextClassifier
from firth.models.classifier_model import Classifier
from firth.models.fasttext import FastText
from firth.models.quantization import quantize
from firth.models.word2vec import Word2Vec
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer
from firth.vectors.subwords import SubwordVectors
from firth.vectors.words import WordVectors

ONE = Runtime(1)
RECIPE = FastText(dim=12, min_count=1, subsample=0, epochs=3, buckets=400)
STILL = replace(RECIPE, learning_rate=0.0, epochs=1)


def corpus(*lines: str) -> Corpus:
    return Corpus.of(["\n".join(lines)], tokenizer=Tokenizer(mode="whitespace"))


OLD = corpus(*["tea cup milk", "milk cup tea", "rain wind storm", "storm wind rain"] * 40)
NEW = corpus(*["tea biscuit jam", "jam biscuit cup"] * 40)


@pytest.fixture(scope="module")
def old() -> SubwordVectors:
    return RECIPE.fit(OLD, runtime=ONE)


def own(vectors: SubwordVectors, word: str) -> list[float]:
    return vectors.rows.take([vectors.vocabulary.id(word)])[0].tolist()


def test_words_and_ngrams_that_the_new_text_has_not_keep_their_rows(old: SubwordVectors):
    grown = RECIPE.fit(NEW, runtime=ONE, start=old)
    assert set(grown.vocabulary) == set(old.vocabulary) | {"biscuit", "jam"}
    assert own(grown, "rain") == own(old, "rain")
    assert own(grown, "tea") != own(old, "tea")
    used = {row for word in NEW.vocabulary for row in RECIPE.subwords.rows(word.encode()).tolist()}
    buckets = [made.rows.block(len(made), len(made) + 400) for made in (old, grown)]
    for bucket in range(400):
        same = buckets[0][bucket].tolist() == buckets[1][bucket].tolist()
        assert same != (bucket in used)


def test_where_nothing_is_learnt_old_words_stay_and_untrained_ngrams_start_fresh(old: SubwordVectors):
    grown = STILL.fit(NEW, runtime=ONE, start=old)
    for word in ("rain", "wind", "milk"):
        assert grown[word].tolist() == old[word].tolist()
    fresh = STILL.fit(NEW, runtime=ONE)
    row = RECIPE.subwords.rows(b"biscuit")[0]
    assert not old.rows.take([len(old) + row]).any()
    assert grown.rows.take([len(grown) + row]).tolist() == fresh.rows.take([len(fresh) + row]).tolist()


@pytest.mark.parametrize("objective", ["negative-sampling", "softmax"])
def test_the_output_layer_goes_on_as_well(objective):
    recipe = replace(RECIPE, objective=objective)
    first = recipe.fit(OLD, runtime=ONE)
    grown = replace(recipe, learning_rate=0.0, epochs=1).fit(NEW, runtime=ONE, start=first)
    assert first.output is not None
    assert grown.output is not None
    for word in ("rain", "tea"):
        row = first.output.rows.take([first.vocabulary.id(word)])
        assert grown.output.rows.take([grown.vocabulary.id(word)]).tolist() == row.tolist()
    assert not grown.output.rows.take([grown.vocabulary.id("jam")]).any()


def test_going_on_lowers_the_first_loss(old: SubwordVectors):
    again, anew = (replace(RECIPE, epochs=1).fit(OLD, runtime=ONE, start=start) for start in (old, None))
    assert again.metadata["loss"][0] < anew.metadata["loss"][0]
    assert again.metadata["start"] == old.vocabulary.fingerprint


def test_a_tree_over_other_words_has_other_nodes_so_its_outputs_are_left_out():
    recipe = replace(RECIPE, objective="hierarchical-softmax")
    grown = recipe.fit(NEW, runtime=ONE, start=recipe.fit(OLD, runtime=ONE))
    assert grown.output is None
    assert {"rain", "jam"} <= set(grown.vocabulary)


def test_vectors_without_ngrams_become_the_words_vectors():
    start = WordVectors(["tea", "rain"], np.arange(24).reshape(2, 12).astype(np.float32))
    grown = STILL.fit(NEW, runtime=ONE, start=start)
    assert grown["tea"] == pytest.approx(start["tea"], abs=1e-5)
    assert grown["rain"] == pytest.approx(start["rain"], abs=1e-5)
    assert "teas" in grown


@pytest.mark.parametrize("name", ["old.bin", "old"])
def test_a_model_from_a_file_goes_on_to_the_same_bits(name, old: SubwordVectors, tmp_path: Path):
    firth.save(old, tmp_path / name)
    loaded = firth.load(tmp_path / name)
    first, second = (RECIPE.fit(NEW, runtime=ONE, start=start) for start in (old, loaded))
    assert first.rows.block(0, 400).tobytes() == second.rows.block(0, 400).tobytes()
    firth.save(second, tmp_path / "grown.bin")
    assert firth.load(tmp_path / "grown.bin")["teas"].tolist() == second["teas"].tolist()


@pytest.mark.parametrize("name", ["old.txt", "old.bin", "old"])
def test_word2vec_goes_on_from_any_file(name, tmp_path: Path):
    recipe = Word2Vec(dim=8, min_count=1, subsample=0)
    firth.save(recipe.fit(OLD, runtime=ONE), tmp_path / name)
    loaded = firth.load(tmp_path / name)
    grown = recipe.fit(NEW, runtime=ONE, start=loaded)
    assert set(grown.vocabulary) == set(loaded.vocabulary) | {"biscuit", "jam"}
    assert grown["rain"].tolist() == loaded["rain"].tolist()


def test_other_ngrams_and_pruned_models_are_refused_with_the_cure(old: SubwordVectors):
    with pytest.raises(OptionError, match="Use minn=3, maxn=6, buckets=400"):
        replace(RECIPE, buckets=500).fit(NEW, runtime=ONE, start=old)
    with pytest.raises(OptionError, match=r"dim is 8, but the vectors to start from have 12\. Use dim=12"):
        replace(RECIPE, dim=8).fit(NEW, runtime=ONE, start=old)
    with pytest.raises(OptionError, match="is pruned"):
        RECIPE.fit(NEW, runtime=ONE, start=quantize(old, cutoff=20))


def test_an_interrupted_run_that_goes_on_from_a_model_ends_in_the_same_bits(old: SubwordVectors, tmp_path: Path):
    whole = RECIPE.fit(NEW, runtime=ONE, start=old)
    RECIPE.fit(NEW, runtime=ONE, start=old, checkpoint=tmp_path / "c")
    again = RECIPE.fit(NEW, runtime=ONE, start=old, checkpoint=tmp_path / "c")
    assert again.rows.block(0, 400).tobytes() == whole.rows.block(0, 400).tobytes()
    with pytest.raises(OptionError, match="it differs in start"):
        RECIPE.fit(NEW, runtime=ONE, start=RECIPE.fit(NEW, runtime=ONE), checkpoint=tmp_path / "c")


def test_a_classifier_knows_words_that_only_the_vectors_to_start_from_have():
    rng = np.random.default_rng(0)
    drink, sky = rng.normal(size=(2, 8))
    words = {"tea": drink, "cocoa": drink, "sun": sky, "moon": sky}
    start = WordVectors(list(words), np.array(list(words.values()), np.float32))
    lines = corpus(*["__label__drink tea", "__label__sky sun"] * 30)
    model = FastTextClassifier(dim=8, learning_rate=0.2).fit(lines, runtime=ONE, start=start)
    assert model["cocoa"].tolist() == start["cocoa"].tolist()
    labels = [found[0][0] for found in Classifier(model).predict_all(["cocoa", "moon"])]
    assert labels == ["__label__drink", "__label__sky"]


def test_the_command_line_goes_on_and_watches_a_held_out_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    Path("old.txt").write_text("tea cup milk\nrain wind storm\n" * 40)
    Path("new.txt").write_text("tea biscuit jam\njam biscuit cup\n" * 40)
    Path("lines.txt").write_text("__label__drink tea\n__label__sky rain\n" * 20)
    flags = ["--dim", "8", "--min-count", "1", "--subsample", "0", "--threads", "1", "--json"]
    for name, more in (("word2vec", []), ("fasttext", ["--buckets", "100"])):
        main(["train", name, "old.txt", "--out", f"{name}-old", *more, *flags])
        capsys.readouterr()
        grow = ["--start", f"{name}-old", "--held-out", "old.txt", "--out", f"{name}-grown"]
        main(["train", name, "new.txt", *grow, *more, *flags])
        values = json.loads(capsys.readouterr().out)
        assert len(values["metadata"]["held_out_loss"]) == 5
        assert "on held-out text" in Path(values["card"]).read_text()
        assert {"rain", "jam"} <= set(firth.load(f"{name}-grown").vocabulary)
    main(["convert", "word2vec-old", "old.vec"])
    main(["train", "fasttext", "lines.txt", "--labels", "--start", "old.vec", "--dim", "8", "--out", "labels.bin"])
    assert "storm" in firth.load("labels.bin").vocabulary
