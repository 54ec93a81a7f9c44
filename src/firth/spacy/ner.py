"""The component `firth_ner`: named entities by a model of firth's task."""

# spaCy reads the types of a factory when it is defined: no annotations from __future__ here.
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Span

from firth.errors import FirthError, OptionError
from firth.files import Name
from firth.formats.registry import load, save
from firth.spacy.component import MODEL, FirthComponent, split_doc
from firth.tasks.model import open_task
from firth.tasks.ner.data import NerExample
from firth.tasks.sources import Sources
from firth.tasks.tags import decode_spans

SOURCES = "sources"  # the folder of word vectors and a biLM that the model needs


class NerComponent(FirthComponent):
    """Writes the entities of a model of the task `ner` into `doc.ents`.

    `doc.spans[spans_key]` has them too; its `attrs["scores"]` are their probabilities. Entities below `threshold` are
    left out. spaCy's tokens go to the model as they are.
    """

    def __init__(
        self,
        name: str = "firth_ner",
        model: str = "ner",
        threshold: float = 0.0,
        overwrite: bool = True,
        spans_key: str = "firth_ner",
        device: str | None = None,
    ) -> None:
        super().__init__(name, model)
        self.threshold, self.overwrite, self.spans_key, self.device = threshold, overwrite, spans_key, device

    @property
    def labels(self) -> tuple[str, ...]:
        """The types of entities that the model knows; none where it cannot be opened, as before `from_disk`."""
        try:
            return tuple(self.firth_model.labels["kinds"])
        except FirthError:
            return ()

    def open(self, model: Name) -> Any:
        """The model in a folder, or the one that ships."""
        return self._check(open_task(model), model)

    def _check(self, model: Any, name: Name) -> Any:
        if model.task.name != "ner":
            raise OptionError(f"{name}: holds a model of {model.task.name}, but firth_ner needs one of ner")
        return model if self.device is None else model.to(self.device)

    def write(self, folder: Path) -> None:
        """Writes the model, and its word vectors and biLM, which it only names, beside it."""
        sources = self.firth_model.inputs.sources
        for number, source in enumerate([*sources.static, *([] if sources.bilm is None else [sources.bilm])]):
            save(source, folder / SOURCES / str(number))
        save(self.firth_model, folder / MODEL)

    def read(self, folder: Path) -> Any:
        """Opens the model of `write` with the sources beside it."""
        return self._check(open_task(folder / MODEL, sources=read_sources(folder / SOURCES)), folder)

    def annotate(self, docs: Sequence[Doc]) -> None:
        """Finds the entities of all sentences of the documents at once."""
        sentences = [(doc, tokens) for doc in docs for tokens in split_doc(doc)]
        examples = [NerExample(tuple(doc[number].text for number in tokens)) for doc, tokens in sentences]
        answers = self.firth_model.answer(examples)
        found: dict[int, list[tuple[Span, float]]] = {id(doc): [] for doc in docs}
        for (doc, tokens), answer in zip(sentences, answers):
            for (label, start, end), score in zip(decode_spans(answer["tags"]), answer["probabilities"], strict=True):
                if score >= self.threshold:
                    span = Span(doc, tokens[start], tokens[end - 1] + 1, label=label)
                    found[id(doc)].append((span, score))
        for doc in docs:
            self._set_entities(doc, found[id(doc)])

    def _set_entities(self, doc: Doc, found: list[tuple[Span, float]]) -> None:
        spans, kept = [span for span, _ in found], [] if self.overwrite else list(doc.ents)
        doc.spans[self.spans_key] = spans
        doc.spans[self.spans_key].attrs["scores"] = np.array([score for _, score in found], np.float32)
        taken = {number for span in kept for number in range(span.start, span.end)}
        doc.set_ents([*kept, *(span for span in spans if taken.isdisjoint(range(span.start, span.end)))])


def read_sources(folder: Path) -> Sources | None:
    """The word vectors and the biLM in the folders 0, 1, … of a folder; None if there are none."""
    models: list[Any] = []
    while (path := folder / str(len(models))).is_dir():
        models.append(load(path))
    return Sources.of(models) if models else None


@Language.factory(
    "firth_ner",
    assigns=["doc.ents", "token.ent_iob", "token.ent_type", "doc.spans"],
    default_config={
        "model": "ner",
        "threshold": 0.0,
        "overwrite": True,
        "spans_key": "firth_ner",
        "device": None,
    },
)
def make_ner(
    nlp: Language, name: str, model: str, threshold: float, overwrite: bool, spans_key: str, device: str | None
) -> NerComponent:
    """The component `firth_ner` from the config of a pipeline."""
    return NerComponent(name, model, threshold, overwrite, spans_key, device)
