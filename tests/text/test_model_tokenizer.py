"""One rule for the texts that a user passes to a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from firth.errors import OptionError, UnknownWord
from firth.models.count_matrix import CountMatrix
from firth.models.counts import Counts
from firth.models.ngram import Ngram
from firth.models.phrases import Phrases
from firth.models.word2vec import Word2Vec
from firth.tasks.located_text import LocatedText
from firth.text.corpus import Corpus
from firth.text.model_tokenizer import ModelTokenizer
from firth.text.normalize import Normalizer
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary
from firth.vectors.words import WordVectors

SPLIT = Tokenizer(mode="whitespace")
FOLD = Tokenizer(normalizer=Normalizer(fold_case=True))


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "book.txt"
    path.write_text("Strong tea. Weak tea.\n", encoding="utf-8")
    return path


def test_a_string_is_tokenized_as_the_training_text_and_a_list_stays() -> None:
    split = ModelTokenizer.of({"tokenizer": FOLD.as_dict()})
    assert split.words("It's Late.") == ["it", "'s", "late", "."]
    for tokens in (["It's", "Late."], ("It's", "Late."), iter(["It's", "Late."])):
        assert split.words(tokens) == ["It's", "Late."]


def test_a_model_without_a_tokenizer_has_the_standard_one() -> None:
    assert ModelTokenizer.of({}).words("It's Late.") == ["It", "'s", "Late", "."]


def test_a_model_of_tokenized_text_keeps_the_words_that_it_knows() -> None:
    split = ModelTokenizer.of({"tokenizer": SPLIT.as_dict()}, Vocabulary(["late.", "it"]))
    assert split.words("it is late. So late!") == ["it", "is", "late.", "So", "late", "!"]
    assert ModelTokenizer.of({"tokenizer": SPLIT.as_dict()}).words("late.") == ["late", "."]


def test_a_path_is_a_file(book: Path) -> None:
    split = ModelTokenizer.of({})
    assert split.words(book) == ["Strong", "tea", ".", "Weak", "tea", "."]
    assert list(split.sentences(book)) == [["Strong", "tea", "."], ["Weak", "tea", "."]]
    assert list(split.sentences(Corpus(book))) == list(split.sentences(book.read_text()))
    with pytest.raises(OptionError, match="also the name of a file"):
        list(split.sentences(str(book)))


@pytest.mark.parametrize(
    "sentences, problem",
    [
        (b"bytes", "must be a text or a list of texts"),
        (None, "must be a text or a list of texts"),
        ([["tea"], 5], "sentence 1 is 5"),
        ([["tea", None]], "sentence 0"),
        ([b"tea"], "sentence 0"),
    ],
)
def test_what_is_no_text_is_refused(sentences: object, problem: str) -> None:
    with pytest.raises(OptionError, match=problem):
        list(ModelTokenizer.of({}).sentences(sentences))  # type: ignore[arg-type]


@pytest.mark.parametrize("text", [b"tea", None, 5, ["tea", 5]])
def test_what_is_no_text_of_words_is_refused(text: object) -> None:
    with pytest.raises(OptionError, match=r"the text is .* but must be text or a list of words"):
        ModelTokenizer.of({}).words(text)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore::firth.errors.CoverageWarning")
def test_vectors_embed_a_text_by_its_words() -> None:
    vectors = WordVectors(["tea", "hot"], [[1, 0], [0, 1]])
    (array,) = vectors.embed(["hot tea"])
    assert array.tolist() == [[0, 1], [1, 0]]
    assert [len(one) for one in vectors.embed("Hot tea. Yes.")] == [3, 2]


def test_ngram_models_take_texts_and_tokens_alike(book: Path) -> None:
    model = Ngram(order=2).fit(book)
    assert model.score("Strong tea").words == ("Strong", "tea")
    assert model.score("Strong tea") == model.score(["Strong", "tea"])
    assert model.match_lengths("Strong tea") == model.match_lengths(["Strong", "tea"])
    assert model.probability("tea", "Strong") == model.probability("tea", ["Strong"])
    assert model.predict("Strong") == model.predict(["Strong"])
    assert model.sample("Strong", seed=3) == model.sample(["Strong"], seed=3)
    whole = model.perplexity(Corpus(book))
    assert model.perplexity(book) == model.perplexity(book.read_text()) == whole
    assert model.perplexity(["Strong tea.", ["Weak", "tea", "."]]) == whole
    with pytest.raises(OptionError, match="also the name of a file"):
        model.perplexity(str(book))


def test_recipes_fit_lists_of_tokens_iterators_texts_and_paths(book: Path) -> None:
    lists = [["hot", "tea"], ["cold", "tea"]] * 20
    recipe = Word2Vec(dim=4, min_count=1, epochs=1, subsample=0)
    expected = recipe.fit(Corpus.of(lists)).matrix.tolist()
    assert recipe.fit(lists).matrix.tolist() == recipe.fit(iter(lists)).matrix.tolist() == expected
    assert len(recipe.fit(book)) == len(recipe.fit(book.read_text())) == 4
    assert Counts(kind="co-occurrence").fit(lists).value("hot", "tea") == 20  # type: ignore[union-attr]
    model = Phrases(threshold=0.0).fit(lists)
    assert model.apply("hot tea") == model.apply(["hot", "tea"])
    with pytest.raises(OptionError, match="the corpus is 5, but must be"):
        recipe.fit(5)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match=r"no word occurs 5 times.*Lower min_count"):
        Word2Vec().fit([["a", "b"]])


def test_tasks_take_texts_and_tokens(book: Path) -> None:
    sentences = LocatedText.split_all(["Tea? Yes.", ["No", "more."]], Tokenizer())
    assert [one.words for one in sentences] == [("Tea", "?"), ("Yes", "."), ("No", "more.")]
    sentences = LocatedText.split(book, Tokenizer())
    assert [one.words for one in sentences] == [("Strong", "tea", "."), ("Weak", "tea", ".")]
    assert LocatedText.of(iter(["a", "b"]), Tokenizer()).words == ("a", "b")
    with pytest.raises(OptionError, match="the text is 5"):
        LocatedText.split(5, Tokenizer())  # type: ignore[arg-type]


def test_folded_counts_and_ngrams_answer_in_any_case() -> None:
    corpus = Corpus.of(["Strong tea. Strong coffee."], tokenizer=FOLD)
    counts, model = Counts(kind="co-occurrence", window=1).fit(corpus), Ngram(order=2).fit(corpus)
    assert isinstance(counts, CountMatrix)
    assert (counts.value("STRONG", "Tea"), counts["Tea"].tolist(), "Tea" in counts) == (1, counts["tea"].tolist(), True)
    assert "Rain" not in counts
    with pytest.raises(UnknownWord, match="'Rain' is not in the vocabulary"):
        counts["Rain"]
    assert model.probability("Tea", ["STRONG"]) == model.probability("tea", ["strong"])
    assert model.score(["Strong", "Tea"]).unknown == 0
    assert model.perplexity([["Strong", "Tea"]]) == model.perplexity(["strong tea"])


def test_pieces_that_are_remembered_have_the_same_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firth.text.model_tokenizer.REMEMBERED", 3)
    vocabulary = Vocabulary(["late.", "it"])
    split = ModelTokenizer.of({"tokenizer": SPLIT.as_dict()}, vocabulary)
    texts = ["it is late.", "So late! so LATE!", "x" * 100 + "!", "", "it's late. it is"]
    for text in texts * 3:
        assert split.words(text) == ModelTokenizer.of({"tokenizer": SPLIT.as_dict()}, vocabulary).words(text)
    assert "x" * 100 + "!" not in split._remembered
    assert len(split._remembered) <= 3 + len(texts)  # a full table is started again
    words = split.words("it is")
    words.append("changed")
    assert split.words("it is") == ["it", "is"]
