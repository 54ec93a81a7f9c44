"""What the components share: documents in batches, errors, and writing the model with the pipeline."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import Any, Self

import srsly
from spacy.tokens import Doc
from spacy.util import minibatch, raise_error

from firth.errors import FirthError, OptionError
from firth.temporary import TemporaryFolder
from firth.text.tokenize import Tokenizer

ErrorHandler = Callable[[str, Any, list[Doc], Exception], None]
MODEL = "model"  # the folder of the model in that of the component
FILE = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9._-]{0,99}/){0,5}[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")  # names of its files


class FirthComponent:
    """Base of components with a model, which is opened when it is first needed.

    Its name or path is in the config of the pipeline. A pipeline on disk has a copy of the model, which is opened
    instead, so the path need not exist there.
    """

    def __init__(self, name: str, model: str) -> None:
        self.name, self.model_name = name, model
        self.opened: Any = None
        self.folder: TemporaryFolder | None = None  # with the files of a model that came as bytes
        self.error_handler: ErrorHandler = raise_error

    @property
    def firth_model(self) -> Any:
        """The model. spaCy asks each component in a pipeline whether it has a `model`, which would open it."""
        if self.opened is None:
            try:
                self.opened = self.open(self.model_name)
            except FirthError as error:
                raise OptionError(f"the component {self.name!r} has no model: {error}") from error
        return self.opened

    def open(self, model: str | Path) -> Any:
        """The model of a name or a path."""
        raise NotImplementedError

    def write(self, folder: Path) -> None:
        """Writes the model and what it needs."""
        raise NotImplementedError

    def read(self, folder: Path) -> Any:
        """The model that `write` wrote."""
        raise NotImplementedError

    def annotate(self, docs: Sequence[Doc]) -> None:
        """Writes the results into documents."""
        raise NotImplementedError

    def __call__(self, doc: Doc) -> Doc:
        self.annotate([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """The documents of a stream with their results, computed in batches.

        Where a batch fails, its documents run one by one, and only those that fail go to the error handler.
        """
        for docs in minibatch(stream, batch_size):
            try:
                self.annotate(docs)
            except Exception:
                yield from self._one_by_one(docs)
            else:
                yield from docs

    def _one_by_one(self, docs: Iterable[Doc]) -> Iterator[Doc]:
        for doc in docs:
            try:
                self.annotate([doc])
            except Exception as error:
                self.error_handler(self.name, self, [doc], error)
            else:
                yield doc

    def set_error_handler(self, error_handler: ErrorHandler) -> None:
        """Sets the function that is called with documents that fail; the default one raises the error."""
        self.error_handler = error_handler

    def get_error_handler(self) -> ErrorHandler:
        """The function that is called with documents that fail."""
        return self.error_handler

    def to_disk(self, path: str | PathLike[str], *, exclude: Iterable[str] = ()) -> None:
        """Writes the model into a folder."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        self.write(folder)

    def from_disk(self, path: str | PathLike[str], *, exclude: Iterable[str] = ()) -> Self:
        """Opens the model that `to_disk` wrote."""
        self.opened = self.read(Path(path))
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The files of `to_disk` as bytes."""
        with TemporaryFolder("spacy") as folder:
            self.to_disk(folder.path)
            paths = sorted(path for path in folder.path.rglob("*") if path.is_file())
            files = {path.relative_to(folder.path).as_posix(): path.read_bytes() for path in paths}
        packed: bytes = srsly.msgpack_dumps(files)
        return packed

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> Self:
        """Opens the model in bytes of `to_bytes`. Its files stay in a temporary folder as long as the component."""
        files = unpack_files(data, self.name)
        folder = TemporaryFolder("spacy")
        try:
            for name, content in files.items():
                path = folder.path / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            self.from_disk(folder.path)
        except BaseException:
            folder.close()
            raise
        if self.folder is not None:
            self.folder.close()
        self.folder = folder
        return self


def unpack_files(data: bytes, component: str) -> dict[str, bytes]:
    """The files in bytes of `to_bytes`, by their paths in the folder of the component.

    Only what `to_bytes` writes is read: srsly's decoder of arrays would make NumPy types that the bytes describe.
    """
    try:
        files = srsly.msgpack.unpackb(data, raw=False, object_pairs_hook=dict)
    except (TypeError, ValueError, RecursionError) as error:
        raise OptionError(f"the bytes of the component {component!r} are damaged: {error}") from error
    if not isinstance(files, dict) or not all(isinstance(content, bytes) for content in files.values()):
        raise OptionError(f"the bytes of the component {component!r} are damaged: they are no files by name")
    for name in files:
        if not isinstance(name, str) or FILE.fullmatch(name) is None:
            raise OptionError(f"the bytes of the component {component!r} have a file {name!r:.80} outside its folder")
        if any(above.as_posix() in files for above in PurePosixPath(name).parents):
            raise OptionError(f"the bytes of the component {component!r} are damaged: {name!r:.80} is in a file")
    return files


def split_doc(doc: Doc) -> list[list[int]]:
    """The numbers of the tokens of each sentence; tokens of white space are in none.

    Sentences are those of the document, where a component before has set them, and else those of firth's tokenizer.

    >>> import spacy
    >>> split_doc(spacy.blank("en")("Hot tea.\\n Cold rain."))
    [[0, 1, 2], [4, 5, 6]]
    """
    if doc.has_annotation("SENT_START"):
        starts = [sentence.start for sentence in doc.sents]
        places: list[int] = list(range(len(doc)))
    else:
        starts = [tokens[0].start for tokens in Tokenizer().sentences(doc.text)]
        places = [token.idx for token in doc]
    sentences: dict[int, list[int]] = {}
    for token, place in zip(doc, places):
        if not token.is_space:
            sentences.setdefault(max(0, bisect_right(starts, place) - 1), []).append(token.i)
    return [sentences[number] for number in sorted(sentences)]
