"""The recipe and its artifact: what they learn, what they refuse, and that one thread gives the same bits."""

from __future__ import annotations

import lzma
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from firth.errors import OptionError, UnknownWord
from firth.formats.registry import load, save
from firth.models.doc2vec import Doc2Vec, DocumentVectors
from firth.models.word2vec import Word2Vec
from firth.progress import Progress
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.vectors.neighbors import unit_rows

ONE = Runtime(1)
TOPICS = [["tea", "cup", "milk", "sugar", "kettle"], ["rain", "cloud", "wind", "storm", "thunder"]]
MODES = {
    "pv-dbow": {"architecture": "pv-dbow"},
    "pv-dbow with words": {"architecture": "pv-dbow", "train_words": True},
    "pv-dm": {},
    "pv-dm sum": {"combination": "sum"},
    "pv-dm concatenation": {"combination": "concatenation"},
}
SMALL = {"dim": 16, "min_count": 1, "subsample": 0, "epochs": 10, "learning_rate": 0.1}


def documents(count: int = 200, length: int = 8) -> list[list[str]]:
    """Documents about tea (even numbers) and about rain (odd ones)."""
    rng = np.random.default_rng(0)
    return [rng.choice(TOPICS[i % 2], length).tolist() for i in range(count)]


def with_articles(texts: list[list[str]]) -> list[list[str]]:
    """The words with an article before each, so that with a window of 1 only the document says what comes next."""
    return [[word for pair in zip(["the"] * len(text), text) for word in pair] for text in texts]


@pytest.fixture(scope="module")
def model() -> DocumentVectors:
    return Doc2Vec(architecture="pv-dbow", **SMALL).fit(documents(), runtime=ONE)


@pytest.mark.parametrize("mode", MODES)
def test_documents_about_one_topic_become_neighbors_and_new_ones_are_placed_among_them(mode):
    found = Doc2Vec(**{**SMALL, "epochs": 30}, window=1, **MODES[mode]).fit(with_articles(documents()), runtime=ONE)
    near = [{int(tag) % 2 for tag, _ in found.most_similar(str(i), topn=3)} for i in range(20)]
    assert sum(one == {i % 2} for i, one in enumerate(near)) >= 19
    new = found.infer(with_articles([["milk", "cup", "tea", "tea"], ["storm", "wind", "wind"]]), runtime=ONE)
    assert [int(found.most_similar(row, topn=1)[0][0]) % 2 for row in new] == [0, 1]
    assert found.metadata["loss"][-1] < found.metadata["loss"][0]


@pytest.mark.parametrize("objective", ["hierarchical-softmax", "softmax"])
def test_every_objective_trains_and_infers(objective):
    recipe = Doc2Vec(objective=objective, **{**SMALL, "epochs": 30}, window=1)
    found = recipe.fit(with_articles(documents()), runtime=ONE)
    new = found.infer(with_articles([["milk", "cup", "tea", "tea"]]), runtime=ONE)[0]
    assert int(found.most_similar(new, topn=1)[0][0]) % 2 == 0


def test_one_thread_gives_the_same_bits_and_another_seed_others(model: DocumentVectors):
    recipe = model.recipe
    assert np.array_equal(recipe.fit(documents(), runtime=ONE).rows.block(0, 200), model.rows.block(0, 200))
    other = Doc2Vec(**{**recipe.as_dict(), "seed": 2}).fit(documents(), runtime=ONE)
    assert not np.array_equal(other["0"], model["0"])


@pytest.mark.parametrize("mode", ["pv-dbow", "pv-dm"])
def test_an_interrupted_training_ends_in_the_same_bits(mode, tmp_path: Path):
    texts = documents(1200, 50)  # several blocks an epoch
    recipe = Doc2Vec(**{**SMALL, "epochs": 2}, **MODES[mode])
    whole = recipe.fit(texts, runtime=ONE)

    def stop_in_the_second_epoch(progress: Progress) -> None:
        if progress.values.get("epoch") == 2:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        recipe.fit(texts, runtime=ONE, checkpoint=tmp_path / "c", report=stop_in_the_second_epoch)
    resumed = recipe.fit(texts, runtime=ONE, checkpoint=tmp_path / "c")
    assert np.array_equal(whole.rows.block(0, 1200), resumed.rows.block(0, 1200))
    assert np.array_equal(whole.outputs, resumed.outputs)
    with pytest.raises(OptionError, match="another training: it differs in tags"):
        recipe.fit(texts, tags=["same"] * 1200, runtime=ONE, checkpoint=tmp_path / "c")


def test_documents_may_have_several_tags_and_share_them():
    tags = [[["tea", "rain"][i % 2], f"doc{i}"] for i in range(200)]
    found = Doc2Vec(architecture="pv-dbow", **SMALL).fit(documents(), tags=tags, runtime=ONE)
    assert len(found) == 202
    assert found.vocabulary.counts is not None
    assert found.vocabulary.counts[found.vocabulary.id("tea")] == 100
    assert found.similarity("tea", "doc4") > found.similarity("tea", "doc5")


def test_a_saved_model_infers_the_same_vectors(model: DocumentVectors, tmp_path: Path):
    save(model, tmp_path / "documents")
    opened = load(tmp_path / "documents")
    assert isinstance(opened, DocumentVectors)
    assert opened.recipe == model.recipe
    new = [["milk", "tea"], ["rain", "storm"]]
    assert np.array_equal(opened.infer(new), model.infer(new))
    assert opened.most_similar("3", topn=2) == model.most_similar("3", topn=2)
    assert not list((tmp_path / "documents").glob("*.pkl"))
    save(model.documents, tmp_path / "documents.txt")
    assert load(tmp_path / "documents.txt")["3"] == pytest.approx(model["3"])


def test_a_document_has_the_same_vector_alone_and_among_others(model: DocumentVectors):
    three = model.infer([["milk", "tea"], ["never", "seen"], "wind and storm"], runtime=Runtime(2))
    assert np.array_equal(model.infer(["wind and storm"])[0], three[2])
    assert not three[1].any()
    assert three[0].any()
    assert not np.array_equal(model.infer([["milk", "tea"]], epochs=3)[0], three[0])


def test_a_single_text_and_an_unknown_tag_are_errors(model: DocumentVectors):
    with pytest.raises(OptionError, match="must be a list"):
        model.infer("milk and tea")
    with pytest.raises(UnknownWord, match="'teaa' is not in the vocabulary"):
        model["teaa"]
    assert "7" in model
    assert "teaa" not in model
    assert len(list(model)) == len(model) == 200
    assert model[["1", "2"]].shape == (2, 16)


def test_only_what_is_trained_has_vectors(model: DocumentVectors):
    with pytest.raises(OptionError, match="pv-dbow trains them only with train_words"):
        _ = model.words
    trained = Doc2Vec(architecture="pv-dbow", train_words=True, **SMALL).fit(documents(), runtime=ONE)
    assert {word for word, _ in trained.words.most_similar("tea", topn=4)} == {"cup", "milk", "sugar", "kettle"}


def test_concatenation_refuses_documents_with_different_numbers_of_tags():
    with pytest.raises(OptionError, match="the same number of tags for each document, but there are 1 to 2"):
        Doc2Vec(**SMALL, combination="concatenation").fit(documents(2), tags=["a", ["b", "c"]])


def test_word_vectors_can_be_given_to_start_with():
    start = Word2Vec(dim=16, min_count=1, subsample=0).fit(documents(), runtime=ONE)
    begun = Doc2Vec(**{**SMALL, "learning_rate": 1e-9, "epochs": 1}).fit(documents(), start=start, runtime=ONE)
    assert begun.words["tea"] == pytest.approx(start["tea"], abs=1e-6)
    with pytest.raises(OptionError, match="pv-dbow has no word vectors to start from"):
        Doc2Vec(architecture="pv-dbow", **SMALL).fit(documents(), start=start)


def test_the_lines_of_a_file_are_documents_and_may_have_tags(tmp_path: Path):
    path = tmp_path / "tagged.tsv"
    path.write_text("drink, a\thot tea\n\nsky\tcold rain\r\n", encoding="utf-8")
    corpus = Corpus(path, documents="tagged-line")
    assert corpus.tags == [("drink", "a"), ("sky",)]
    assert list(corpus.texts()) == ["hot tea", "cold rain"]
    found = Doc2Vec(dim=4, min_count=1, subsample=0).fit(corpus)
    assert found.vocabulary.words == ("drink", "a", "sky")
    assert set(found.word_list) == {"hot", "tea", "cold", "rain"}


def test_a_recipe_can_be_written_in_toml(tmp_path: Path):
    (tmp_path / "r.toml").write_text('architecture = "pv-dbow"\ntrain_words = true\n', encoding="utf-8")
    assert Doc2Vec.from_toml(tmp_path / "r.toml") == Doc2Vec(architecture="pv-dbow", train_words=True)


def read_paragraphs(path: Path, articles: int) -> tuple[list[list[str]], list[int]]:
    """The paragraphs of the first articles of a text of WikiText, and the number of the article of each."""
    paragraphs: list[list[str]] = []
    labels: list[int] = []
    article = 0
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words[:1] == ["="] and words[1:2] != ["="]:
                article += 1
            elif len(words) > 20 and article <= articles:
                paragraphs.append(words)
                labels.append(article)
    return paragraphs, labels


def share_of_right_neighbors(vectors: np.ndarray, labels: list[int]) -> float:
    """How many of the documents have the label of their nearest neighbor."""
    cosines = unit_rows(vectors) @ unit_rows(vectors).T
    np.fill_diagonal(cosines, -2)
    return float((np.array(labels)[cosines.argmax(axis=1)] == np.array(labels)).mean())


def test_paragraphs_find_their_articles_as_often_as_with_gensim(data: Path):
    peer = pytest.importorskip("gensim.models.doc2vec")
    paragraphs, labels = read_paragraphs(data / "data/corpora/wikitext103-valid.tokens.xz", 5)
    tagged = [peer.TaggedDocument(words, [place]) for place, words in enumerate(paragraphs)]
    options = {"vector_size": 50, "min_count": 2, "epochs": 25, "workers": 1, "seed": 1, "alpha": 0.05}
    theirs = share_of_right_neighbors(peer.Doc2Vec(tagged, dm=0, **options).dv.vectors, labels)
    recipe = Doc2Vec(architecture="pv-dbow", dim=50, min_count=2, epochs=25, learning_rate=0.05)
    ours = share_of_right_neighbors(recipe.fit(paragraphs, runtime=ONE).documents.matrix, labels)
    assert theirs > 0.6  # by chance: 0.3
    assert ours > theirs - 0.08


@pytest.mark.parametrize("mode", ["pv-dbow", "pv-dm", "pv-dm concatenation"])
def test_documents_are_trained_further_from_a_model_and_its_others_stay(mode):
    recipe = Doc2Vec(**SMALL, **MODES[mode])
    start = recipe.fit(documents(40), tags=[f"d{i}" for i in range(40)], runtime=ONE)
    small = Doc2Vec(**{**SMALL, "epochs": 1, "learning_rate": 1e-7}, **MODES[mode])
    found = small.fit(documents(3), tags=["d0", "d1", "new"], start=start, runtime=ONE)
    assert len(found) == 41
    assert np.array_equal(found["d9"], start["d9"])
    assert np.allclose(found["d0"], start["d0"], atol=1e-5)
    afresh = small.fit(documents(3), tags=["d0", "d1", "new"], runtime=ONE)
    assert found.metadata["loss"][0] < afresh.metadata["loss"][0]  # words and outputs are those of the model


def test_arrays_of_a_file_that_do_not_fit_are_refused(model: DocumentVectors):
    parts = model.to_parts()
    for name, array in (
        ("outputs", parts.arrays["outputs"].astype(np.int64)),
        ("outputs", parts.arrays["outputs"][:, :1]),
        ("words", parts.arrays["words"].reshape(-1)),
        ("words", parts.arrays["words"][:, :1]),
    ):
        with pytest.raises(OptionError):
            DocumentVectors.from_parts(replace(parts, arrays={**parts.arrays, name: array}))


def test_a_notebook_shows_facts_and_losses() -> None:
    model = Doc2Vec(dim=4, min_count=1, epochs=2).fit(["hot tea", "cold rain"] * 5)
    page = model._repr_html_()
    assert "<th>documents</th>" in page
    assert "training: 2 epochs" in page
