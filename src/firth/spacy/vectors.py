"""Word vectors in the vocabulary of a pipeline: a function, and the component `firth_vectors`."""

# spaCy reads the types of a factory when it is defined: no annotations from __future__ here.
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vectors import Vectors
from spacy.vocab import Vocab

from firth.errors import FirthError, OptionError
from firth.files import Name
from firth.formats.registry import load, save
from firth.spacy.component import MODEL, FirthComponent
from firth.vectors.subwords import SubwordVectors
from firth.vectors.words import WordVectors


def add_vectors(vocab: Vocab, vectors: WordVectors | Name, *, limit: int | None = None) -> WordVectors:
    """Replaces the vectors of a vocabulary by those of firth: `token.vector`, `similarity` and the rest use them.

    `vectors` are open, or a name or a path in any format; `limit` keeps the first words. They are returned.

    >>> import spacy
    >>> nlp = spacy.blank("en")
    >>> vectors = add_vectors(nlp.vocab, "glove-en")
    >>> tea, coffee, rain = nlp("tea coffee rain")
    >>> tea.similarity(coffee) > tea.similarity(rain), len(tea.vector) == vectors.dim
    (True, True)
    """
    opened = vectors if isinstance(vectors, WordVectors) else open_vectors(vectors, limit)
    words = list(opened.vocabulary[:limit])
    keys = np.array([vocab.strings.add(word) for word in words], np.uint64)
    matrix = np.array(opened.known.block(0, len(words)), np.float32)
    vocab.vectors = Vectors(strings=vocab.strings, data=matrix, keys=keys, name="firth")
    return opened


def open_vectors(name: Name, limit: int | None) -> WordVectors:
    """The word vectors of a name or a path; `limit` keeps the first words of those without subwords."""
    opened = load(name)
    if not isinstance(opened, WordVectors):
        raise OptionError(f"{name}: holds a {type(opened).__name__}, but word vectors are needed, such as glove-en")
    return opened if limit is None or isinstance(opened, SubwordVectors) else load(name, limit=limit)


class VectorsComponent(FirthComponent):
    """Fills the vocabulary with word vectors when the pipeline is made, and composes those of unseen words.

    Unseen words have vectors only if the model has subwords, as fastText does. A word that is not in the vocabulary is
    also looked up as the training text was normalized: in lower case, if it was.
    """

    def __init__(self, vocab: Vocab, name: str, model: str, limit: int | None = None) -> None:
        super().__init__(name, model)
        self.vocab, self.limit = vocab, limit
        with suppress(FirthError):  # raised at the first document, unless the pipeline is read from disk before
            add_vectors(vocab, self.firth_model, limit=limit)

    def open(self, model: Name) -> WordVectors:
        """The word vectors of a name or a path."""
        return open_vectors(model, self.limit)

    def annotate(self, docs: Sequence[Doc]) -> None:
        """Adds the vectors of words that have none yet to the vocabulary."""
        if self.opened is None and self.vocab.vectors_length:
            return  # vectors without subwords, which were read with the vocabulary
        for word in {token.text for doc in docs for token in doc if not token.has_vector and not token.is_space}:
            if word in self.firth_model:
                self.vocab.set_vector(word, self.firth_model[word])

    def write(self, folder: Path) -> None:
        """Writes vectors with subwords; others are in the vocabulary, which spaCy writes."""
        if isinstance(self.firth_model, SubwordVectors):
            save(self.firth_model, folder / MODEL)

    def read(self, folder: Path) -> Any:
        """Opens the vectors of `write`; None where they are in the vocabulary."""
        return self.open(folder / MODEL) if (folder / MODEL).exists() else None


@Language.factory(
    "firth_vectors",
    assigns=["token.vector", "doc.vector"],
    default_config={"model": "word2vec-en", "limit": None},
)
def make_vectors(nlp: Language, name: str, model: str, limit: int | None) -> VectorsComponent:
    """The component `firth_vectors` from the config of a pipeline."""
    return VectorsComponent(nlp.vocab, name, model, limit)
