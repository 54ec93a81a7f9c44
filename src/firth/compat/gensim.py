"""gensim's `KeyedVectors` over `WordVectors`, for code that is ported from gensim.

Most names are methods of `WordVectors` itself (`doesnt_match`, `wmdistance`, `similarity`); this class adds those that
change the vectors or return gensim's tuples. The models (`Word2Vec`, `FastText`, `Doc2Vec`, `Phrases`) are in files of
their own and can be imported from here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.special import stdtr

from firth.arguments import checked
from firth.errors import FormatError, OptionError, UnknownWord
from firth.evaluate.analogy_search import solve
from firth.evaluate.intrinsic import similarity
from firth.evaluate.lookup import Lookup
from firth.evaluate.questions import read_analogies
from firth.files import Name, read_bytes, write_bytes
from firth.formats.registry import FORMATS, load, save
from firth.models.huffman import HuffmanTree
from firth.text.vocabulary import Vocabulary, to_bytes
from firth.vectors.neighbors import Near, unit_rows
from firth.vectors.rows import DenseRows
from firth.vectors.words import WordVectors

Correlation = tuple[float, float]  # the coefficient and its two-sided p-value
Section = dict[str, Any]
METHODS = {"most_similar": "3cosadd", "most_similar_cosmul": "3cosmul"}  # by gensim's name of the function
MODELS = {  # names of other files
    "Word2Vec": "gensim_word2vec:GensimWord2Vec",
    "FastText": "gensim_fasttext:GensimFastText",
    "FastTextKeyedVectors": "gensim_fasttext:FastTextKeyedVectors",
    "load_facebook_model": "gensim_fasttext:load_facebook_model",
    "load_facebook_vectors": "gensim_fasttext:load_facebook_vectors",
    "save_facebook_model": "gensim_fasttext:save_facebook_model",
    "Doc2Vec": "gensim_doc2vec:GensimDoc2Vec",
    "Phrases": "gensim_phrases:GensimPhrases",
    "FrozenPhrases": "gensim_phrases:FrozenPhrases",
    "TaggedDocument": "gensim_text:TaggedDocument",
    "LineSentence": "gensim_text:LineSentence",
    "PathLineSentences": "gensim_text:PathLineSentences",
}


def __getattr__(name: str) -> Any:
    if name not in MODELS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    file, _, found = MODELS[name].partition(":")  # which imports this file
    return getattr(import_module(f"firth.compat.{file}"), found)


@checked
class KeyedVectors:
    """Word vectors that can be changed, with gensim's names. Names that are not here are those of `WordVectors`.

    >>> vectors = KeyedVectors(2)
    >>> vectors.add_vectors(["tea", "coffee"], [[1, 0.1], [1, 0.2]])
    >>> vectors["rain"] = [0, 1]
    >>> vectors.most_similar("tea", topn=1)[0][0], vectors.vector_size, len(vectors)
    ('coffee', 2, 3)
    """

    def __init__(self, vector_size: WordVectors | int) -> None:
        """The length of the vectors, or vectors to begin with."""
        if isinstance(vector_size, int) and not 1 <= vector_size < 1 << 31:
            raise OptionError(f"the length of a vector is {vector_size}, but must be at least 1")
        if isinstance(vector_size, int):
            vector_size = WordVectors([], np.zeros((0, vector_size), np.float32))
        self.words: WordVectors = vector_size
        self.vectors_lockf = np.ones(1, np.float32)  # one number for all words, or one for each: 0 keeps its vector

    @classmethod
    def load(cls, path: Name, mmap: str | None = None) -> Self:
        """Opens vectors in any format that `firth.load` knows; those of firth itself are always memory-mapped."""
        return cls(open_vectors(path))

    @classmethod
    def load_word2vec_format(
        cls,
        fname: Name,
        fvocab: Name | None = None,
        binary: bool = False,
        encoding: str = "utf8",
        unicode_errors: str = "strict",
        limit: int | None = None,
        datatype: DTypeLike = np.float32,
        no_header: bool = False,
    ) -> Self:
        """Opens a word2vec or GloVe file, or its first `limit` words. Whether it is binary is seen from its content.

        `fvocab` is a file of words and counts. `datatype` float16 halves the memory; float64 stays float32.
        """
        vectors = open_vectors(fname, limit)
        words = [to_bytes(word).decode(encoding, unicode_errors) for word in vectors.vocabulary]
        counts = None if fvocab is None else read_word_counts(fvocab, encoding, unicode_errors)
        if words != list(vectors.vocabulary) or counts is not None:
            found = None if counts is None else [counts.get(word, 0) for word in words]
            vectors = WordVectors(Vocabulary(words, found), vectors.rows, metadata=vectors.metadata)
        return cls(vectors.quantize("float16") if np.dtype(datatype) == np.float16 else vectors)

    def save_word2vec_format(
        self, fname: Name, fvocab: Name | None = None, binary: bool = False, *, write_header: bool = True
    ) -> None:
        """Saves the vectors as word2vec text, without its header line if asked, or as word2vec binary.

        `fvocab` is a file to write the words and their counts to.
        """
        if binary and not write_header:
            raise OptionError("a binary file needs its header. Use binary=False, or write_header=True")
        text = "word2vec" if write_header else "glove"
        save(self.words, fname, format="word2vec-binary" if binary else text)
        if fvocab is not None:
            with write_bytes(fvocab) as file:
                for word, count in zip(self.words, self._counts.tolist()):
                    file.write(to_bytes(f"{word} {count}") + b"\n")

    def save(self, path: Name, **ignored: Any) -> None:
        """Saves the vectors: a known ending of the name selects the format, others a folder in firth's own format."""
        known = {ending for format in FORMATS.values() for ending in format.endings}
        save(self.words, path, format=None if Path(path).suffix in known else "native")

    def __getattr__(self, name: str) -> Any:
        if name == "words":  # not set yet, while the object is copied
            raise AttributeError(name)
        return getattr(self.words, name)

    def __getitem__(self, key: Any) -> NDArray[np.float32]:
        """The vector of a word or of an index, or the vectors of several."""
        if isinstance(key, (str, int, np.integer)):
            return self.get_vector(key if isinstance(key, str) else int(key))
        return np.stack([self.get_vector(one) for one in key]) if len(key) else self.words[[]]

    def __setitem__(self, words: str | Sequence[str], rows: Any) -> None:
        self.add_vectors(words, rows, replace=True)

    def __contains__(self, word: object) -> bool:
        return word in self.words

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"KeyedVectors({self.words!r})"

    @property
    def vectors(self) -> NDArray[Any]:
        """All vectors as one array."""
        rows = self.words.rows
        is_stored = isinstance(rows, DenseRows) and len(rows.array) == len(self.words)
        return rows.array if is_stored else self.words.matrix  # type: ignore[attr-defined]

    @property
    def vector_size(self) -> int:
        """The length of a vector."""
        return self.words.dim

    @property
    def expandos(self) -> dict[str, NDArray[Any]]:
        """The counts of the words, under gensim's name."""
        return {"count": self._counts}

    @property
    def norms(self) -> NDArray[np.float32]:
        """The lengths of the vectors."""
        return np.asarray(np.linalg.norm(self.words.matrix, axis=1))

    def get_vector(self, key: str | int, norm: bool = False) -> NDArray[np.float32]:
        """The vector of a word, or of an index; scaled to length 1 if `norm` is on. It cannot be changed in place."""
        vector = self.words.of([key]) if isinstance(key, str) else self.words.take([self.get_index(key)])
        found: NDArray[np.float32] = (unit_rows(vector) if norm else vector)[0]
        found.flags.writeable = False
        return found

    def get_normed_vectors(self) -> NDArray[np.float32]:
        """All vectors, scaled to length 1."""
        return self.words.unit

    def unit_normalize_all(self) -> None:
        """Scales all vectors to length 1; the old ones are gone."""
        self.words = WordVectors(self.words.vocabulary, self.words.unit, metadata=self.words.metadata)

    def get_index(self, key: str | int, default: int | None = None) -> int:
        """The index of a word; an index is itself. A word without one is an error, unless there is a default."""
        if not isinstance(key, str):
            if not 0 <= int(key) < len(self.words):
                raise OptionError(f"the index is {int(key)}, but must be from 0 to {len(self.words) - 1}")
            return int(key)
        id = int(self.words.vocabulary.ids([key])[0])
        if id >= 0 or default is not None:
            return id if id >= 0 else int(default or 0)
        raise UnknownWord(key, self.words.vocabulary.near(key))

    def has_index_for(self, key: str) -> bool:
        """Whether a word is in the vocabulary; subword vectors of other words do not count."""
        return key in self.words.vocabulary

    def add_vector(self, key: str, vector: Any) -> int:
        """Adds the vector of one word, or replaces it; returns the id of the word."""
        self.add_vectors([key], [vector], replace=True)
        return self.words.vocabulary.id(key)

    def add_vectors(
        self, keys: str | Sequence[str], weights: Sequence[Any] | NDArray[Any], *, replace: bool = False
    ) -> None:
        """Adds vectors of words. Words that are known keep their vectors, unless `replace` is on."""
        words: list[str] = [keys] if isinstance(keys, str) else list(keys)
        rows: list[Any] = [weights] if isinstance(keys, str) else list(weights)
        if len(words) != len(rows):
            raise OptionError(f"{len(words)} words need as many vectors, but there are {len(rows)}")
        if not replace:
            chosen = [place for place, word in enumerate(words) if word not in self.words.vocabulary]
            words, rows = [words[place] for place in chosen], [rows[place] for place in chosen]
        if words:
            self.words = self.words.add(words, rows)

    def vectors_for_all(
        self, keys: Iterable[str], allow_inference: bool = True, copy_vecattrs: bool = False
    ) -> KeyedVectors:
        """The vectors of these words, each once; words without a vector are skipped.

        Subword vectors are composed for words outside the vocabulary, unless `allow_inference` is off. Counts are those
        of the words with `copy_vecattrs`, or else 0.
        """
        words = list(dict.fromkeys(keys))
        if not allow_inference:
            words = [word for word in words if word in self.words.vocabulary]
        found = self.words.vectors_for_all(words)
        known = copy_vecattrs and all(word in self.words.vocabulary for word in found)
        counts = [self.get_vecattr(word, "count") if known else 0 for word in found]
        return KeyedVectors(WordVectors(Vocabulary(found.vocabulary, counts), found.rows, metadata=found.metadata))

    def most_similar(
        self,
        positive: Any = None,
        negative: Any = None,
        topn: int | None = 10,
        clip_start: int = 0,
        clip_end: int | None = None,
        **options: Any,
    ) -> Any:
        """The nearest words, among those from index `clip_start` to before `clip_end`; see `WordVectors`."""
        if topn is None:
            return self.words.most_similar(positive, negative, topn=None)
        if clip_start or clip_end is not None:
            options["allowed"] = self.words.vocabulary[clip_start:clip_end]
        near: Near = self.words.most_similar(positive, negative, int(topn), **options)
        return near

    def most_similar_to_given(self, key1: str, keys_list: Sequence[str]) -> str:
        """The word of a list that is nearest to a word."""
        return keys_list[int(np.argmax([self.words.similarity(key1, key) for key in keys_list]))]

    def get_vecattr(self, key: str, attr: str) -> Any:
        """The count of a word, or its `code` or `point`: the turns and inner nodes of its path in the Huffman tree.

        As in gensim, vectors from a file without counts have falling numbers in their place.
        """
        counts, id = self._counts, self.get_index(key)
        if attr in ("code", "point"):
            tree = HuffmanTree.of_counts(counts)
            return (tree.turns if attr == "code" else tree.nodes)[tree.starts[id] : tree.starts[id + 1]]
        check_attribute(attr)
        return int(counts[id])

    @property
    def _counts(self) -> NDArray[np.int64]:
        counts = self.words.vocabulary.counts
        return np.arange(len(self.words), 0, -1) if counts is None else np.asarray(counts)

    @staticmethod
    def cosine_similarities(vector_1: NDArray[Any], vectors_all: NDArray[Any]) -> NDArray[np.float32]:
        """The cosines of a vector with the rows of an array."""
        return np.asarray(unit_rows(vectors_all) @ unit_rows(np.asarray(vector_1)[None])[0], np.float32)

    def set_vecattr(self, key: str, attr: str, val: int) -> None:
        """Sets the count of a word."""
        check_attribute(attr)
        numbers = np.array(self._counts)
        numbers[self.get_index(key)] = val
        words = Vocabulary(self.words.vocabulary, numbers)
        self.words = WordVectors(words, self.words.rows, metadata=self.words.metadata)

    def evaluate_word_pairs(
        self,
        pairs: Name,
        delimiter: str = "\t",
        encoding: str = "utf8",
        restrict_vocab: int = 300_000,
        case_insensitive: bool = True,
        dummy4unknown: bool = False,
    ) -> tuple[Correlation, Correlation, float]:
        """Pearson's and Spearman's correlation with human ratings, each with its p-value, and the unknown pairs in %.

        `pairs` is a file or a named test set. Its delimiter is seen from the file, which has to be UTF-8.
        """
        if encoding.lower().replace("-", "") not in ("utf8", "utf_8"):
            raise OptionError(f"encoding is {encoding!r}, but files of pairs are UTF-8. Convert the file first")
        score = similarity(self._lookup(restrict_vocab, case_insensitive), pairs, dummy4unknown=dummy4unknown)
        count = score.total if dummy4unknown else score.used
        unknown = 100 * (score.total - score.used) / score.total if score.total else 0.0
        return with_p_value(score.details["pearson"], count), with_p_value(score.value, count), unknown

    def evaluate_word_analogies(
        self,
        analogies: Name,
        restrict_vocab: int = 300_000,
        case_insensitive: bool = True,
        dummy4unknown: bool = False,
        similarity_function: str = "most_similar",
    ) -> tuple[float, list[Section]]:
        """The accuracy of the best answers, and the questions of each section that are right and wrong.

        `similarity_function` is most_similar (3CosAdd) or most_similar_cosmul (3CosMul).

        `analogies` is a file or a named test set. The last section has all questions. Questions with an unknown word
        are left out, or wrong with `dummy4unknown`.
        """
        if similarity_function not in METHODS:
            raise OptionError(f"similarity_function is {similarity_function!r}, but must be one of {list(METHODS)}")
        method: Any = METHODS[similarity_function]
        sections = read_analogies(analogies)
        questions = [question for section in sections.values() for question in section]
        answers = solve(self._lookup(restrict_vocab, case_insensitive), questions, (method,))
        outcomes = zip(answers.known.tolist(), answers.correct(method).tolist())
        result: list[Section] = []
        for name, section in sections.items():
            lists: dict[bool, list[tuple[str, ...]]] = {True: [], False: []}
            for question, (known, correct) in zip(section, outcomes):
                if known or dummy4unknown:
                    lists[correct].append(tuple(word.upper() if case_insensitive else word for word in question))
            result.append({"section": name, "correct": lists[True], "incorrect": lists[False]})
        total = {
            "section": "Total accuracy",
            "correct": [question for section in result for question in section["correct"]],
            "incorrect": [question for section in result for question in section["incorrect"]],
        }
        used = len(total["correct"]) + len(total["incorrect"])
        return len(total["correct"]) / used if used else math.nan, [*result, total]

    def _lookup(self, restrict_vocab: int, case_insensitive: bool) -> Lookup:
        options = {"case_insensitive": case_insensitive, "normalize": False, "compose": False}
        return Lookup(self.words, restrict_vocab=restrict_vocab, **options)


def check_attribute(attr: str) -> None:
    """Raises OptionError for another attribute than the count."""
    if attr != "count":
        raise OptionError(f"attr is {attr!r}, but only 'count' is stored")


def open_vectors(path: Name, limit: int | None = None) -> WordVectors:
    """The word vectors in a file; another model is an error."""
    vectors = load(path, limit=limit)
    if not isinstance(vectors, WordVectors):
        raise OptionError(f"{path}: holds no word vectors but a {type(vectors).__name__}")
    return vectors


def read_word_counts(path: Name, encoding: str = "utf8", errors: str = "strict") -> dict[str, int]:
    """The words and counts of a file of lines `word count`.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "counts.txt").write_text("tea 3\\nrain 1\\n")
    ...     read_word_counts(Path(folder, "counts.txt"))
    {'tea': 3, 'rain': 1}
    """
    counts = {}
    for line in read_bytes(path).splitlines():
        word, _, count = line.decode(encoding, errors).rpartition(" ")
        if not word or not count.isdecimal():
            raise FormatError(path, f"{line!r:.60} is no word with its count")
        counts[word] = int(count)
    return counts


def with_p_value(correlation: float | None, count: int) -> Correlation:
    """A correlation of `count` pairs and the probability of a larger one, in absolute value, by chance (Student's t).

    >>> [round(value, 4) for value in with_p_value(0.5, 18)]
    [0.5, 0.0346]
    """
    if correlation is None:
        return math.nan, math.nan
    if count < 3 or abs(correlation) >= 1:
        return correlation, 1.0 if count < 3 else 0.0
    freedom = count - 2
    t = correlation * math.sqrt(freedom / (1 - correlation**2))
    return correlation, float(2 * stdtr(freedom, -abs(t)))
