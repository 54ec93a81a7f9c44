"""The tags of documents: each document has one or several, and documents may share them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.text.corpus import check_words
from firth.text.vocabulary import Vocabulary

TagList = Iterable[str | Iterable[str]]  # for each document a tag, or several


@dataclass(frozen=True, eq=False)
class DocumentTags:
    """The tags of document d are ids[starts[d] : starts[d + 1]] in `vocabulary`, which counts the documents of each.

    >>> tags = DocumentTags.of(["tea", ["rain", "tea"]], documents=2)
    >>> tags.vocabulary.words, tags.starts.tolist(), tags.ids.tolist(), tags.most
    (('tea', 'rain'), [0, 1, 3], [0, 1, 0], 2)
    >>> DocumentTags.of(None, documents=3).vocabulary.words  # without tags the number of a document is its tag
    ('0', '1', '2')
    """

    vocabulary: Vocabulary
    starts: NDArray[np.int64]
    ids: NDArray[np.uint32]

    @classmethod
    def of(cls, tags: TagList | None, documents: int) -> DocumentTags:
        """The tags of so many documents, in order of appearance."""
        if tags is None:
            numbers = Vocabulary(map(str, range(documents)), np.ones(documents, np.int64))
            return cls(numbers, np.arange(documents + 1), np.arange(documents, dtype=np.uint32))
        lists = [check_tags(one, place) for place, one in enumerate(tags)]
        if len(lists) != documents:
            raise OptionError(f"there are tags for {len(lists):,} documents, but the text has {documents:,}")
        every = [tag for one in lists for tag in one]
        numbers_of = {tag: number for number, tag in enumerate(dict.fromkeys(every))}
        ids = np.fromiter((numbers_of[tag] for tag in every), np.uint32, len(every))
        starts = np.concatenate([[0], np.cumsum([len(one) for one in lists], dtype=np.int64)])
        return cls(Vocabulary(numbers_of, np.bincount(ids, minlength=len(numbers_of))), starts, ids)

    @property
    def most(self) -> int:
        """The number of tags of the document that has the most."""
        return int(np.diff(self.starts).max(initial=0))

    @property
    def fewest(self) -> int:
        """The number of tags of the document that has the fewest."""
        return int(np.diff(self.starts).min(initial=self.most))

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the tags of all documents."""
        digest = hashlib.sha256(self.vocabulary.fingerprint.encode())
        digest.update(self.starts.tobytes() + self.ids.tobytes())
        return digest.hexdigest()[:16]


def check_tags(tags: str | Iterable[str], place: int) -> list[str]:
    """The different tags of a document.

    >>> check_tags(["a", "b", "a"], 0)
    ['a', 'b']
    >>> check_tags([], 4)
    Traceback (most recent call last):
    firth.errors.OptionError: document 4 has no tag. Give it one, such as its number
    """
    names = [tags] if isinstance(tags, str) else check_words(tags, "the tags of document", place)
    if not names:
        raise OptionError(f"document {place} has no tag. Give it one, such as its number")
    if "" in names:
        raise OptionError(f"document {place} has an empty tag. Remove it")
    return list(dict.fromkeys(names))
