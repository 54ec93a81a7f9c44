"""The component `firth_elmo`: contextual vectors of tokens."""

# spaCy reads the types of a factory when it is defined: no annotations from __future__ here.
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Span, Token

from firth.errors import OptionError
from firth.files import Name
from firth.formats.registry import load, save
from firth.spacy.component import MODEL, FirthComponent, split_doc

NAME = "firth_elmo"


class ElmoComponent(FirthComponent):
    """Writes the vectors of a biLM into documents.

    `doc._.elmo` has a row for each token, `token._.elmo` is that row, `span._.elmo` are the rows of a span, and
    `doc.tensor` are the rows of a document. spaCy's tokens go to the biLM as they are; a token of white space has a row
    of zeros. With `layers="all"`, `doc._.elmo` is (layers, tokens, dim), and `doc.tensor` is the mean of the layers.
    """

    def __init__(
        self,
        name: str = NAME,
        model: str = "elmo-en",
        layers: str | int = "mix",
        attribute: str = "elmo",
        device: str | None = None,
    ) -> None:
        super().__init__(name, model)
        self.layers, self.attribute, self.device = layers, attribute, device
        add_extensions(attribute)

    def open(self, model: Name) -> Any:
        """The biLM of a name or a path."""
        bilm = load(model)
        if type(bilm).__name__ != "BiLM":
            raise OptionError(f"{model}: holds a {type(bilm).__name__}, but firth_elmo needs a biLM, such as elmo-en")
        return bilm if self.device is None else bilm.to(self.device)

    def write(self, folder: Path) -> None:
        """Writes the biLM in firth's own format."""
        save(self.firth_model, folder / MODEL)

    def read(self, folder: Path) -> Any:
        """Opens the biLM of `write`."""
        return self.open(folder / MODEL)

    def annotate(self, docs: Sequence[Doc]) -> None:
        """Embeds all sentences of the documents at once."""
        split = [split_doc(doc) for doc in docs]
        words = [[doc[number].text for number in tokens] for doc, parts in zip(docs, split) for tokens in parts]
        arrays = iter(self.firth_model.embed(words, layers=self.layers))
        dim, layers = 2 * self.firth_model.architecture.dim, self.firth_model.architecture.layers + 1
        for doc, sentences in zip(docs, split):
            vectors = np.zeros((layers, len(doc), dim) if self.layers == "all" else (len(doc), dim), np.float32)
            for tokens in sentences:
                vectors[..., tokens, :] = next(arrays)
            doc._.set(self.attribute, vectors)
            doc.tensor = vectors.mean(axis=0) if vectors.ndim == 3 else vectors


@dataclass(frozen=True)
class RowsOf:
    """A getter of spaCy: the rows of a token or a span. spaCy sends it to other processes: no local function can go."""

    attribute: str

    def __call__(self, part: Token | Span) -> Any:
        vectors = part.doc._.get(self.attribute)
        place = part.i if isinstance(part, Token) else slice(part.start, part.end)
        return None if vectors is None else vectors[..., place, :]


def add_extensions(attribute: str) -> None:
    """Declares `doc._.NAME`, `token._.NAME` and `span._.NAME`. A name that another package uses is an error."""
    rows = RowsOf(attribute)
    for kind, getter in ((Doc, None), (Token, rows), (Span, rows)):
        if not kind.has_extension(attribute):
            kind.set_extension(attribute, **({"default": None} if getter is None else {"getter": getter}))
        elif getter is not None and not isinstance(kind.get_extension(attribute)[2], RowsOf):
            problem = f"{kind.__name__}._.{attribute} belongs to another extension"
            raise OptionError(f'firth_elmo: {problem}. Use another name: config={{"attribute": "vectors"}}')


@Language.factory(
    NAME,
    assigns=["doc.tensor", "doc._.elmo", "token._.elmo", "span._.elmo"],
    default_config={"model": "elmo-en", "layers": "mix", "attribute": "elmo", "device": None},
)
def make_elmo(
    nlp: Language, name: str, model: str, layers: int | str, attribute: str, device: str | None
) -> ElmoComponent:
    """The component `firth_elmo` from the config of a pipeline."""
    return ElmoComponent(name, model, layers, attribute, device)
