"""Segmenters of other libraries by name. Each library is imported, and its dictionary opened, on first use."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from firth.errors import MissingExtra

Split = Callable[[str], Iterable[str]]


@dataclass(frozen=True)
class Library:
    """A library that splits text into words.

    `extra` installs it. `whole` says that it reads whole sentences, else only the runs of scripts without spaces.
    `batched` says that it keeps line ends, so that many runs can be passed at a time.
    """

    extra: str
    open: Callable[[], Split]
    whole: bool = False
    batched: bool = False


def open_library(name: str) -> Split:
    """The function of a library from text to words. A library that is not installed is a MissingExtra."""
    library = LIBRARIES[name]
    try:
        return library.open()
    except ModuleNotFoundError as error:
        raise MissingExtra(f"the segmenter {name}", library.extra) from error


def open_icu() -> Split:
    """ICU: dictionaries of Chinese and Japanese, Thai, Lao, Khmer and Burmese."""
    breaker: Any = import_module("icu4py.breakers").WordBreaker

    def split(text: str) -> Iterable[str]:
        words: Iterable[str] = breaker(text, "und")
        return words

    return split


def open_jieba() -> Split:
    """jieba: Chinese."""
    jieba: Any = import_module("jieba")
    jieba.setLogLevel(logging.WARNING)
    split: Split = jieba.Tokenizer().lcut
    return split


def open_sudachi() -> Split:
    """SudachiPy: Japanese, with the short units (mode A) of its dictionary."""
    sudachi: Any = import_module("sudachipy")
    dictionary = sudachi.Dictionary()
    make = getattr(dictionary, "tokenizer", dictionary.create)  # before 0.7 it was called create
    local = threading.local()  # a tokenizer must not be shared by threads

    def split(text: str) -> Iterable[str]:
        if not hasattr(local, "tokenizer"):
            local.tokenizer = make(sudachi.SplitMode.A)
        return [word.surface() for word in local.tokenizer.tokenize(text)]

    return split


def open_kiwi() -> Split:
    """Kiwi: the morphemes of Korean words, as parts of the text."""
    kiwi: Any = import_module("kiwipiepy").Kiwi()

    def split(text: str) -> Iterable[str]:
        words, end = [], 0
        for token in kiwi.tokenize(text):  # contracted morphemes overlap: they stay one word
            start, stop = max(token.start, end), token.start + token.len
            if stop > start:
                words.append(text[start:stop])
                end = stop
        return words

    return split


def open_pythainlp() -> Split:
    """PyThaiNLP: Thai, by its dictionary and the newmm algorithm."""
    tokenize: Any = import_module("pythainlp.tokenize").word_tokenize

    def split(text: str) -> Iterable[str]:
        words: Iterable[str] = tokenize(text, engine="newmm")
        return words

    return split


LIBRARIES = {
    "icu": Library("segment", open_icu, batched=True),
    "jieba": Library("jieba", open_jieba),
    "sudachi": Library("sudachi", open_sudachi, whole=True),
    "kiwi": Library("kiwi", open_kiwi, whole=True),
    "pythainlp": Library("pythainlp", open_pythainlp),
}
