"""Paragraph vectors, doc2vec: a vector for each document, trained as word2vec is (Le and Mikolov, 2014).

A document has one or several tags, and each tag has a row. In PV-DM the rows of the tags and of the words around a word
predict it; in PV-DBOW the rows of the tags alone do. The network is in `document_network.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from firth.arguments import checked
from firth.errors import OptionError, UnknownWord
from firth.files import Name
from firth.kernels.simd_float import matrix
from firth.models.continued_training import copy_known_rows
from firth.models.document_network import DocumentNetwork, count_word_rows, fits_outputs
from firth.models.document_tags import DocumentTags, TagList
from firth.models.trained_recipe import OnEpoch
from firth.models.window_network import WindowOptions, WindowRecipe, cut_vocabulary, random_rows
from firth.options import option, redefine
from firth.progress import Report, silent
from firth.runtime import Runtime
from firth.serialization import Parts
from firth.show import notebook
from firth.show.bar import shows_progress
from firth.text.corpus import Corpus, Source, check_list
from firth.text.coverage import Coverage, measure, report_coverage
from firth.text.mapped_tokens import Words
from firth.text.model_tokenizer import ModelTokenizer, TextLike
from firth.text.tokenfile import TokenFile
from firth.text.vocabulary import Vocabulary, make_printable
from firth.training.checkpoints import SAVE_SECONDS
from firth.training.schedule import BlockSchedule
from firth.vectors.neighbors import Neighbors, unit_rows
from firth.vectors.rows import Floats, Ids, Rows, rows_from, rows_of, rows_to
from firth.vectors.words import WordVectors


@dataclass(frozen=True)
class Doc2Vec(WindowRecipe["DocumentNetwork", "DocumentVectors"]):
    """doc2vec: vectors of documents, also called paragraph vectors (PV-DM and PV-DBOW).

    >>> texts = ["hot tea with milk", "tea and milk and sugar", "rain and wind", "wind brings rain"] * 20
    >>> model = Doc2Vec(dim=8, min_count=1, epochs=3).fit(texts)
    >>> len(model), model["79"].shape, model.infer(["milk with sugar"]).shape
    (80, (8,), (1, 8))
    >>> tagged = Doc2Vec(dim=8, min_count=1).fit(texts, tags=["tea", "tea", "rain", "rain"] * 20)
    >>> tagged.vocabulary.words, round(tagged.similarity("tea", "tea"), 3)
    (('tea', 'rain'), 1.0)
    """

    commands = (
        "firth train doc2vec lines.txt --out documents/                  # a document a line; its tag is its number",
        "firth train doc2vec tagged.tsv --documents tagged-line --out documents/       # TAG[,TAG...] TAB TEXT",
        "firth neighbors documents/ 17",
    )
    name = "doc2vec"
    no_examples = "no document has a word to learn from. In a small text subsample may drop too many words; 0 keeps all"

    architecture: Literal["pv-dm", "pv-dbow"] = option(  # type: ignore[assignment]
        "pv-dm",
        "Prediction task: pv-dm predicts each word from its document and the words around it, pv-dbow from its "
        "document alone.",
    )
    combination: Literal["mean", "sum", "concatenation"] = option(
        "mean",
        "pv-dm: how the vectors of the document and of the context words are combined. concatenation keeps their order "
        "and has windows of a fixed size; every document must have the same number of tags.",
    )
    train_words: bool = option(False, "pv-dbow: train word vectors by skip-gram, interleaved with the documents.")
    learning_rate: float = option(0.025, "Initial learning rate; decays linearly to 0.", minimum=0)
    epochs: int = redefine(WindowOptions, "epochs", 10)
    seed: int = option(1, "Seed of the random numbers.", minimum=0, maximum=2**32)

    @property
    def is_concatenated(self) -> bool:
        """Whether the vectors of a context are concatenated."""
        return self.architecture == "pv-dm" and self.combination == "concatenation"

    @property
    def has_words(self) -> bool:
        """Whether words have vectors. In PV-DBOW they are only predicted, unless `train_words` is on."""
        return self.architecture == "pv-dm" or self.train_words

    @shows_progress
    def fit(  # type: ignore[override]  # held-out documents have no vectors, so their loss is not defined
        self,
        corpus: Source,
        *,
        tags: TagList | None = None,
        runtime: Runtime | None = None,
        report: Report = silent,
        progress: bool = False,
        checkpoint: Name | None = None,
        checkpoint_seconds: float = SAVE_SECONDS,
        resume: bool = True,
        start: WordVectors | DocumentVectors | None = None,
        vocabulary: Words | None = None,
        on_epoch: OnEpoch | None = None,
    ) -> DocumentVectors:
        """Trains on the documents of a corpus: texts, lists of tokens, files or the lines of files.

        `tags` has a tag or a list of tags for each document; the default is those of the corpus (`Corpus.with_tags`, or
        tagged lines), or else the number of the document. Windows extend over the sentences of a document.

        `start` are word vectors to begin with, or a doc2vec model: documents with known tags are trained further, with
        the words and output vectors of that model, and the result also has its other documents. `checkpoint` names a
        folder: an interrupted training continues from there, unless `resume` is False. `vocabulary` and `on_epoch` are
        those of `Word2Vec.fit`.
        """
        corpus = Corpus.of(corpus)
        corpus = corpus if tags is None else corpus.with_tags(tags)
        saving = {"checkpoint": checkpoint, "checkpoint_seconds": checkpoint_seconds, "resume": resume}
        words = {"start": start, "held_out": None, "vocabulary": vocabulary}
        return self._fit(corpus, runtime=runtime, report=report, on_epoch=on_epoch, **saving, **words)  # type: ignore[arg-type]

    def _prepare(
        self, corpus: Corpus, tokens: TokenFile, start: WordVectors | DocumentVectors | None, runtime: Runtime
    ) -> tuple[DocumentNetwork, BlockSchedule]:
        vocabulary = cut_vocabulary(tokens.vocabulary, self.min_count, self.max_vocabulary)
        tags = DocumentTags.of(corpus.tags, len(tokens.documents) - 1)
        if self.is_concatenated and tags.fewest != tags.most:
            problem = f"concatenation needs the same number of tags for each document, but there are {tags.fewest}"
            raise OptionError(f"Doc2Vec: {problem} to {tags.most}. Use the combination mean or sum")
        if isinstance(start, WordVectors) and not self.has_words:
            raise OptionError("Doc2Vec: pv-dbow has no word vectors to start from. Use train_words, or pv-dm")
        offsets = np.asarray(tokens.sentences)[np.asarray(tokens.documents).astype(np.int64)]
        count = count_word_rows(self, len(vocabulary)) + len(tags.vocabulary)
        rows = random_rows(count, self.dim, 1.0 / self.dim, self.seed, runtime)
        network = DocumentNetwork(self, vocabulary, rows, tags, offsets, tags.most)
        if isinstance(start, DocumentVectors):
            copy_documents(network, start)
        elif start is not None:
            copy_known_rows(rows[: len(vocabulary)], vocabulary, start)
        return network, BlockSchedule(tokens.ids, offsets, self.epochs, self.learning_rate, seed=self.seed)

    def _identity(self, network: DocumentNetwork) -> Mapping[str, Any]:
        return {} if network.tags is None else {"tags": network.tags.fingerprint}

    def _finish(
        self,
        network: DocumentNetwork,
        tokens: TokenFile,
        start: WordVectors | DocumentVectors | None,
        metadata: Mapping[str, Any],
    ) -> DocumentVectors:
        assert network.tags is not None
        first = count_word_rows(self, len(network.vocabulary))
        rows = np.ascontiguousarray(network.inputs[:, : self.dim])
        words = network.vocabulary, rows[:first], network.outputs
        tags, documents = network.tags.vocabulary, rows[first:]
        if isinstance(start, DocumentVectors):
            others = np.flatnonzero(tags.ids(start.vocabulary) < 0)
            documents = np.concatenate([documents, start.rows.take(others)])
            counts = np.concatenate([np.asarray(tags.counts), np.asarray(start.vocabulary.counts)[others]])
            tags = Vocabulary([*tags, *start.vocabulary.take(others)], counts)
        return DocumentVectors(tags, documents, *words, metadata=metadata)


def copy_documents(network: DocumentNetwork, start: DocumentVectors) -> None:
    """Copies the rows of known words and tags of `start`, and its output vectors where they mean the same."""
    assert network.tags is not None
    recipe, words = network.recipe, network.vocabulary
    if start.recipe.has_words and recipe.has_words:
        copy_known_rows(network.inputs[: len(words)], words, start.words)
    first = count_word_rows(recipe, len(words))
    copy_known_rows(network.inputs[first:], network.tags.vocabulary, start.documents)
    same_counts = start.word_list == words and np.array_equal(np.asarray(start.word_list.counts), network.counts)
    is_sampled = recipe.objective == start.recipe.objective == "negative-sampling"
    has_same_tree = recipe.objective == start.recipe.objective and same_counts
    if start.outputs.shape[1] == network.outputs.shape[1] and (is_sampled or has_same_tree):
        ids = start.word_list.ids(words)
        known = np.flatnonzero(ids >= 0)
        network.outputs[known] = start.outputs[ids[known]]


@checked
class DocumentVectors(Neighbors, notebook.FactSheet):
    """The vectors of documents, by tag, and what the vector of a new document is inferred from.

    `Doc2Vec(...).fit(corpus)` makes one, `firth.load` opens one. Queries (`most_similar`, `similarity`, …) are about
    tags; `words` are the word vectors.

    >>> texts = ["hot tea with milk", "tea and milk and sugar", "rain and wind", "wind brings rain"] * 50
    >>> recipe = Doc2Vec(architecture="pv-dbow", dim=16, min_count=1, epochs=20, subsample=0)
    >>> model = recipe.fit(texts, tags=["tea", "tea", "rain", "rain"] * 50)
    >>> model.most_similar(model.infer(["milk and tea"])[0], topn=1)[0][0]
    'tea'
    """

    kind = "document-vectors"

    def __init__(
        self,
        tags: Vocabulary,
        rows: Rows | Floats,
        word_list: Vocabulary,
        word_rows: Floats,
        outputs: Floats,
        *,
        metadata: Mapping[str, Any],
    ) -> None:
        self.vocabulary, self.rows = tags, rows_of(rows)
        self.word_list, self.word_rows, self.outputs = word_list, word_rows, outputs
        self.metadata = dict(metadata)
        recipe = {name: value for name, value in self.metadata["recipe"].items() if name != "name"}
        self.recipe = Doc2Vec.from_dict(recipe)
        expected = count_word_rows(self.recipe, len(word_list))
        shapes = self.rows.shape, word_rows.shape, len(outputs)
        if shapes != ((len(tags), self.recipe.dim), (expected, self.recipe.dim), len(word_list)):
            raise OptionError("the rows do not fit the tags and words. Make or download the model again")
        if not fits_outputs(self.recipe, outputs.shape[1]):
            raise OptionError("the output vectors do not fit the options. Make or download the model again")

    @property
    def dim(self) -> int:
        """The length of a vector."""
        return self.rows.shape[1]

    @property
    def known(self) -> Rows:
        """The rows of the tags, by id."""
        return self.rows

    @property
    def documents(self) -> WordVectors:
        """The tags and their vectors alone, for example to save them in a format of word vectors."""
        return WordVectors(self.vocabulary, self.rows, metadata=self.metadata)

    @cached_property
    def words(self) -> WordVectors:
        """The word vectors."""
        if not self.recipe.has_words:
            raise OptionError("this model has no word vectors: pv-dbow trains them only with train_words")
        return WordVectors(self.word_list, self.word_rows[: len(self.word_list)], metadata=self.metadata)

    def __len__(self) -> int:
        return len(self.vocabulary)

    def __iter__(self) -> Iterator[str]:
        return iter(self.vocabulary)

    def __contains__(self, tag: object) -> bool:
        return tag in self.vocabulary

    def __getitem__(self, tags: str | Iterable[str]) -> Floats:
        if isinstance(tags, str):
            row: Floats = self.of([tags])[0]
            return row
        return self.of(list(tags))

    def ids(self, words: Iterable[str]) -> Ids:
        """The ids of tags, -1 for a tag that no document has."""
        return self.vocabulary.ids(list(words))

    def of(self, words: Iterable[str]) -> Floats:
        """The vectors of tags, one row each; an unknown tag raises `UnknownWord`."""
        tags = list(words)
        ids = self.ids(tags)
        if (ids < 0).any():
            tag = tags[int(np.argmax(ids < 0))]
            raise UnknownWord(tag, self.vocabulary.near(tag))
        return self.rows.take(ids)

    def encode(self, texts: str | Iterable[TextLike], *, normalize: bool = False) -> Floats:
        """The inferred vectors of texts, (texts, dim), scaled to length 1 if `normalize` is on; see `infer`."""
        vectors = self.infer([texts] if isinstance(texts, str) else texts)
        vectors = unit_rows(vectors) if normalize else vectors
        return vectors[0] if isinstance(texts, str) else vectors

    def infer(
        self,
        documents: Iterable[TextLike],
        *,
        epochs: int | None = None,
        learning_rate: float | None = None,
        runtime: Runtime | None = None,
    ) -> Floats:
        """The vectors of new documents, (documents, dim): texts, which are tokenized as in training, or lists of words.

        The row of each document is trained for `epochs` passes at `learning_rate` (default: those of the recipe), while
        the model stays as it is. A document has the same vector every time, alone or among others; one without a known
        word has a row of zeros.
        """
        if isinstance(documents, str):
            raise OptionError("infer takes a list of documents, but this is one text. Pass [text]")
        check_list(documents, "the documents are")
        words = [self.word_tokenizer.words(document) for document in documents]
        report_coverage(self.coverage(words))
        found = [self.word_tokenizer.find(one, self.word_list)[1] for one in words]
        lists = [ids[ids >= 0].astype(np.uint32) for ids in found]
        passes = self.recipe.epochs if epochs is None else epochs
        rate = self.recipe.learning_rate if learning_rate is None else learning_rate
        vectors, network = np.zeros((len(lists), self.dim), np.float32), self._network

        def fill(share: slice) -> None:
            for place in range(share.start, share.stop):
                if len(lists[place]):
                    vectors[place] = network.infer(lists[place], passes, rate)

        runtime = runtime or Runtime.from_env()
        runtime.map(fill, runtime.shares(len(lists)))
        return vectors

    @cached_property
    def word_tokenizer(self) -> ModelTokenizer:
        """Splits texts as those of the training were split."""
        return ModelTokenizer.of(self.metadata, self.word_list)

    def coverage(self, documents: Iterable[TextLike]) -> Coverage:
        """How many words of documents were not in the training text."""
        words = (self.word_tokenizer.words(document) for document in documents)
        return measure(words, lambda distinct: self.word_tokenizer.find(distinct, self.word_list)[1])

    @cached_property
    def _network(self) -> DocumentNetwork:
        inputs = matrix(max(1, len(self.word_rows)), self.dim)
        inputs[: len(self.word_rows), : self.dim] = self.word_rows
        network = DocumentNetwork(self.recipe, self.word_list, inputs)
        outputs = matrix(*self.outputs.shape)
        outputs[:] = self.outputs
        network.outputs = outputs
        return network

    def to_parts(self) -> Parts:
        """The config, arrays and vocabularies to save."""
        config, arrays = rows_to(self.rows)
        arrays = {**arrays, "words": self.word_rows, "outputs": self.outputs}
        lists = {"vocab": self.vocabulary, "words": self.word_list}
        return Parts(self.kind, {"rows": config, "metadata": self.metadata}, arrays, lists)

    @classmethod
    def from_parts(cls, parts: Parts) -> DocumentVectors:
        """Inverse of `to_parts`."""
        arrays = dict(parts.arrays)
        words, outputs = parts.array("words", "f", None, None), parts.array("outputs", "f", None, None)
        del arrays["words"], arrays["outputs"]
        rows = rows_from(parts.table("rows"), arrays)
        tags, word_list = parts.vocabulary, parts.vocabularies["words"]
        return cls(tags, rows, word_list, words, outputs, metadata=parts.metadata)

    def _facts(self) -> list[notebook.Fact]:
        return [
            ("documents", f"{len(self):,}"),
            ("dim", str(self.dim)),
            ("from", notebook.describe_origin(self.metadata)),
            ("first", ", ".join(map(make_printable, self.vocabulary[:6])) + (", …" if len(self) > 6 else "")),
        ]

    def _repr_html_(self) -> str:
        """The facts, and the loss of each epoch."""
        return super()._repr_html_() + notebook.html_losses(self.metadata)

    def __repr__(self) -> str:
        words = f"{len(self.word_list):,} words"
        return f"DocumentVectors({len(self):,} tags × {self.dim}, {self.recipe.architecture}, {words})"
