"""gensim's `Doc2Vec` over our recipe, for code that is ported from gensim.

Tags that are whole numbers stay so: `dv[3]` is the vector of the document with the tag 3, and neighbors are numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from firth.compat.gensim import KeyedVectors
from firth.compat.gensim_text import TaggedDocument, TrimRule
from firth.compat.gensim_training import KEPT, SingleOutputModel, check_iterable, list_words
from firth.errors import OptionError
from firth.files import Name
from firth.formats.registry import load, save
from firth.models.doc2vec import Doc2Vec, DocumentVectors
from firth.models.document_network import DocumentNetwork, count_word_rows
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.vocabulary import Vocabulary
from firth.vectors.words import WordVectors

Tag = str | int
NUMBERED = "integer_tags"  # in the metadata of a model: whether tags of digits are numbers
WHOLE = (int, np.integer)


class DocumentKeys(KeyedVectors):
    """The vectors of documents by their tags. Numbered documents come first, in the order of their numbers.

    >>> vectors = DocumentKeys.of(WordVectors(["1", "0", "tea"], [[1, 0], [0, 1], [2, 1]]), numbered=True)
    >>> vectors[0].tolist(), vectors["tea"].tolist(), vectors.most_similar(0, topn=1)[0][0], vectors.key_to_index
    ([0.0, 1.0], [2.0, 1.0], 'tea', {'tea': 2})
    """

    numbered = False

    @classmethod
    def of(cls, documents: WordVectors, numbered: bool) -> DocumentKeys:
        """The vectors of documents, in gensim's order."""
        keys = cls(documents.dim)
        keys.adopt(documents, numbered)
        return keys

    def adopt(self, documents: WordVectors, numbered: bool) -> None:
        """Takes the vectors of a training."""
        names, self.numbered = list(documents.vocabulary), numbered
        if numbered:
            order = sorted(range(len(names)), key=lambda i: (0, int(names[i])) if names[i].isdecimal() else (1, i))
            documents = WordVectors(
                documents.vocabulary.take(order), documents.rows.pick(order), metadata=documents.metadata
            )
        self.words = documents

    def to_name(self, key: Any) -> Any:
        """The name of a tag in the model: a number becomes text, or names the tag with this index."""
        if not isinstance(key, WHOLE):
            return key
        return str(int(key)) if self.numbered else self.words.vocabulary[self.get_index(int(key))]

    def to_tag(self, name: str) -> Tag:
        """The tag of a name: a number, where documents are numbered."""
        return int(name) if self.numbered and name.isdecimal() else name

    @property
    def index_to_key(self) -> list[Tag]:
        """The tags in their order."""
        return [self.to_tag(name) for name in self.words.vocabulary]

    @property
    def key_to_index(self) -> dict[str, int]:
        """The index of each tag that is text."""
        tags = enumerate(self.index_to_key)
        return {tag: index for index, tag in tags if isinstance(tag, str)}

    def __iter__(self) -> Iterator[Tag]:  # type: ignore[override]
        return iter(self.index_to_key)

    def __contains__(self, key: object) -> bool:
        if isinstance(key, WHOLE) and not self.numbered:
            return 0 <= int(key) < len(self.words)
        return self.to_name(key) in self.words

    def get_vector(self, key: Any, norm: bool = False) -> NDArray[np.float32]:
        """The vector of a tag."""
        return super().get_vector(self.to_name(key), norm)

    def get_index(self, key: Any, default: int | None = None) -> int:
        """The index of a tag."""
        return super().get_index(str(int(key)) if self.numbered and isinstance(key, WHOLE) else key, default)

    def most_similar(
        self,
        positive: Any = None,
        negative: Any = None,
        topn: int | None = 10,
        clip_start: int = 0,
        clip_end: int | None = None,
        **options: Any,
    ) -> Any:
        """The nearest documents, with their cosines."""
        sides = (self._names(positive), self._names(negative))
        near = super().most_similar(*sides, topn, clip_start, clip_end, **options)
        return near if topn is None else [(self.to_tag(name), cosine) for name, cosine in near]

    def _names(self, query: Any) -> Any:
        if isinstance(query, (list, tuple)):
            return [self.to_name(one) for one in query]
        return self.to_name(query)

    def similarity(self, a: Tag, b: Tag) -> float:
        """The cosine of two documents."""
        return self.words.similarity(self.to_name(a), self.to_name(b))

    def distance(self, a: Tag, b: Tag) -> float:
        """1 - the cosine of two documents."""
        return 1 - self.similarity(a, b)

    def n_similarity(self, first: Sequence[Tag], second: Sequence[Tag]) -> float:
        """The cosine of the means of two sets of documents."""
        return self.words.n_similarity(self._names(list(first)), self._names(list(second)))

    def doesnt_match(self, docs: Sequence[Tag]) -> Tag:
        """The document farthest from the mean of all of these."""
        names: list[str] = self._names(list(docs))
        return docs[names.index(self.words.doesnt_match(names))]

    def similar_by_key(self, key: Tag, topn: int = 10) -> list[tuple[Tag, float]]:
        """The nearest documents of one."""
        near: list[tuple[Tag, float]] = self.most_similar(key, topn=topn)
        return near


class GensimDoc2Vec(SingleOutputModel):
    """gensim's doc2vec. It has either hierarchical softmax or negative sampling.

    >>> documents = [TaggedDocument(["hot", "tea"], [0]), TaggedDocument(["cold", "rain"], [1])] * 20
    >>> model = GensimDoc2Vec(documents, vector_size=8, min_count=1, dm=0, epochs=2, workers=1)
    >>> len(model.dv), model.dv.most_similar(0)[0][0], model.infer_vector(["hot", "tea"]).shape
    (2, 1, (8,))
    """

    defaults = {**SingleOutputModel.defaults, "epochs": 10, "dm": 1, "dm_mean": None, "dm_concat": 0, "dbow_words": 0}
    defaults |= {"dm_tag_count": 1}
    dm: int
    dm_mean: int | None
    dm_concat: int
    dbow_words: int

    def __init__(
        self, documents: Iterable[TaggedDocument] | None = None, corpus_file: Name | None = None, **options: Any
    ) -> None:
        self.dv, self.numbered = DocumentKeys(options.get("vector_size", 100)), False
        self.tags: dict[str, int] = {}  # in order of appearance, with the number of their documents
        self.places = 1  # tags of a document, at most
        super().__init__(documents, corpus_file, **options)

    def recipe(self, **changes: Any) -> Doc2Vec:
        """The recipe of these options."""
        options = self.shared_options()
        if options["objective"] == "both":
            raise OptionError("Doc2Vec cannot have hs and negative together. Use negative=0 with hs=1")
        options |= {
            "architecture": "pv-dm" if self.dm else "pv-dbow",
            "train_words": bool(self.dbow_words),
            "combination": "concatenation" if self.dm_concat else "sum" if self.dm_mean == 0 else "mean",
        }
        return Doc2Vec(**{**options, **changes})

    def open_texts(self, texts: Any, corpus_file: Name | None) -> Corpus:
        """Tagged documents, or a file with a document on each line, whose tag is its number."""
        if corpus_file is not None or texts is None:
            return super().open_texts(texts, corpus_file)
        documents = list(check_iterable(texts))
        numbered = any(isinstance(tag, WHOLE) for document in documents for tag in document.tags)
        names = [[to_text(tag, numbered) for tag in document.tags] for document in documents]
        return Corpus.of([list_words(document.words) for document in documents]).with_tags(names)

    def build_vocab(
        self,
        corpus_iterable: Any = None,
        corpus_file: Name | None = None,
        update: bool = False,
        trim_rule: TrimRule | None = None,
        **ignored: Any,
    ) -> None:
        """Counts the words, and collects the tags of the documents."""
        self.numbered = corpus_file is not None
        if corpus_iterable is not None:
            corpus_iterable = list(check_iterable(corpus_iterable))
            self.numbered = any(isinstance(tag, WHOLE) for document in corpus_iterable for tag in document.tags)
        corpus = self.open_texts(corpus_iterable, corpus_file)
        tags = corpus.tags
        lists: list[Any] = [[str(i)] for i in range(len(corpus.tokens().documents) - 1)] if tags is None else list(tags)
        self.tags = self.tags if update else {}
        for one in lists:
            for name in [one] if isinstance(one, str) else one:
                self.tags[name] = self.tags.get(name, 0) + 1
        self.places = max((1 if isinstance(one, str) else len(one) for one in lists), default=1)
        super().build_vocab(corpus_iterable, corpus_file, update, trim_rule)

    def start_vectors(self) -> None:
        """Gives words and documents random vectors; output vectors begin with zeros."""
        recipe, size = self.recipe(), len(self.vocabulary)
        if not size:
            self.dv.adopt(WordVectors(list(self.tags), np.zeros((len(self.tags), self.vector_size))), self.numbered)
            return
        first = count_word_rows(recipe, size)
        rows = self.random_vectors(first + len(self.tags), 1.0 / self.vector_size)
        outputs = DocumentNetwork(recipe, self.vocabulary, rows[:1], places=self.places).outputs
        tags = Vocabulary(self.tags, list(self.tags.values()))
        metadata: dict[str, Any] = {"recipe": {"name": "doc2vec", **recipe.as_dict()}}
        words = self.vocabulary, rows[:first], outputs
        self.adopt(DocumentVectors(tags, rows[first:], *words, metadata=metadata))

    def adopt(self, model: Any) -> None:
        """Takes the vectors of a training. PV-DBOW alone trains no words: theirs are zero."""
        self.model = model
        model.metadata[NUMBERED] = self.numbered
        has_words = model.recipe.has_words
        blank = np.zeros((len(model.word_list), 1), np.float32)
        rows = np.broadcast_to(blank, (len(model.word_list), model.dim))
        self.wv.words = model.words if has_words else WordVectors(model.word_list, rows)
        self.dv.adopt(model.documents, self.numbered)

    def fit(self, recipe: Any, corpus: Corpus, runtime: Runtime, on_epoch: Any) -> Any:
        """Trains from the vectors of words and documents so far."""
        return recipe.fit(corpus, runtime=runtime, vocabulary=self.vocabulary, start=self.model, on_epoch=on_epoch)

    def _output_rows(self) -> NDArray[np.float32]:
        outputs: NDArray[np.float32] = self.model.outputs
        return outputs

    def __getitem__(self, tag: Any) -> NDArray[np.float32]:
        """The vector of a word or, for other names, of a document; the vectors of several."""
        if isinstance(tag, (str, *WHOLE)):
            return self.wv[tag] if isinstance(tag, str) and tag in self.wv else self.dv[tag]
        return np.stack([self[one] for one in tag])

    def infer_vector(
        self,
        doc_words: Sequence[str],
        alpha: float | None = None,
        min_alpha: float | None = None,
        epochs: int | None = None,
    ) -> NDArray[np.float32]:
        """The vector of a new document, a list of words."""
        if isinstance(doc_words, str):
            raise TypeError("doc_words is text, but must be a list of words")
        vector: NDArray[np.float32] = self.model.infer([list(doc_words)], epochs=epochs, learning_rate=alpha)[0]
        return vector

    def similarity_unseen_docs(self, doc_words1: Sequence[str], doc_words2: Sequence[str], **options: Any) -> float:
        """The cosine of the vectors of two new documents."""
        first, second = (self.infer_vector(words, **options).astype(np.float64) for words in (doc_words1, doc_words2))
        return float(first @ second / np.linalg.norm(first) / np.linalg.norm(second))

    def save_word2vec_format(
        self,
        fname: Name,
        doctag_vec: bool = False,
        word_vec: bool = True,
        prefix: str = "*dt_",
        binary: bool = False,
    ) -> None:
        """Saves words, documents or both in word2vec's format; the tags of documents have a prefix."""
        documents = [f"{prefix}{tag}" for tag in self.dv.index_to_key]
        parts = [(list(self.wv), self.wv.words.matrix)] * word_vec + [(documents, self.dv.words.matrix)] * doctag_vec
        if not parts:
            raise OptionError("neither words nor documents are to be saved. Use word_vec or doctag_vec")
        vectors = WordVectors(
            [name for names, _ in parts for name in names], np.concatenate([rows for _, rows in parts])
        )
        save(vectors, fname, format="word2vec-binary" if binary else "word2vec")

    @classmethod
    def load(cls, path: Name, mmap: str | None = None) -> Self:
        """Opens a model that `save` wrote; its arrays are always memory-mapped."""
        opened = load(path)
        if not isinstance(opened, DocumentVectors):
            raise OptionError(f"{path}: holds a {type(opened).__name__}, not a doc2vec model")
        model, recipe = cls(), opened.recipe
        model.restore_options(recipe.as_dict(), opened.metadata.get(KEPT, {}))
        model.dm, model.dbow_words = int(recipe.architecture == "pv-dm"), int(recipe.train_words)
        model.dm_concat, model.dm_mean = int(recipe.combination == "concatenation"), int(recipe.combination == "mean")
        model.vocabulary, model.numbered = opened.word_list, bool(opened.metadata.get(NUMBERED, False))
        model.tags = dict(zip(opened.vocabulary, np.asarray(opened.vocabulary.counts).tolist()))
        model.adopt(opened)
        return model


def to_text(tag: Any, numbered: bool) -> str:
    """A tag as text. Where some tags are numbers, one that is text must not look like a number.

    >>> to_text(3, True), to_text("tea", True)
    ('3', 'tea')
    """
    if isinstance(tag, WHOLE):
        return str(int(tag))
    if numbered and str(tag).isdecimal():
        raise OptionError(f"the tag {tag!r} is text and looks like a number, while other tags are numbers. Rename it")
    return str(tag)
