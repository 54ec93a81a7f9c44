"""Coreference: which words of a document name the same thing.

Files have the columns of CoNLL-2012 (see `coreference_columns.py`), the network ranks spans (`coreference_network.py`),
and answers are judged by the mean of three measures (`coreference_scores.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from torch import nn

from firth.errors import OptionError
from firth.files import Name
from firth.options import option
from firth.tasks.coref.data import Document, read_documents
from firth.tasks.coref.network import SpanRanker
from firth.tasks.coref.score import drop_singletons, score_clusters
from firth.tasks.inputs import Sizes
from firth.tasks.task import Labels, Task
from firth.text.tokenize import Tokenizer

Answer = Sequence[Sequence[Sequence[int]]]  # clusters of mentions, each [first word, word behind the last]


@dataclass(frozen=True)
class Coref(Task):
    """Coreference resolution: find the mentions that refer to the same entity.

    Files have the columns of CoNLL-2012. An answer is a list of clusters; a mention is [start, end], counted in words
    of the document.

    >>> task = Coref()
    >>> document, = task.ask("Mary went to the store. She bought some milk.")
    >>> answer = [[[0, 1], [6, 7]]]
    >>> task.describe(document, answer)["text"]
    '[Mary]1 went to the store . [She]1 bought some milk .'
    >>> true = Document(document.sentences, (((0, 1), (6, 7)), ((3, 5),)))
    >>> task.score([true], [answer])["average"]  # the store stands alone, and does not count
    1.0
    """

    name: ClassVar[str] = "coref"
    question: ClassVar[str] = "which words speak of the same thing?"
    sample: ClassVar[tuple[str, ...]] = ("Mary went to the store. She bought some milk.",)
    commands: ClassVar[tuple[str, ...]] = (
        "firth task coref --train train.conll --dev dev.conll --out model/",
        "firth task coref --train litbank-conll.tar.xz:train --dev litbank-conll.tar.xz:dev --device cuda",
    )
    documents: ClassVar[bool] = True
    # The network drops words itself: what a biLM says is not to be dropped twice.
    defaults: ClassVar[dict[str, Any]] = {"characters": 150, "epochs": 60, "patience": 10, "dropout": 0.0}

    hidden: int = option(200, "cells of the biLSTM, in each direction", minimum=1)
    layers: int = option(1, "layers of the biLSTM", minimum=1)
    feedforward: int = option(150, "units of both hidden layers that score mentions, and pairs of them", minimum=1)
    features: int = option(20, "numbers that stand for a width, a distance, a speaker or a genre", minimum=1)
    widest: int = option(10, "words of the longest mention", minimum=1)
    kept: float = option(0.4, "λ: so many mentions are kept for each word of a document", minimum=0)
    antecedents: int = option(50, "so many mentions before one may be what it refers to", minimum=1)
    choice: Literal["nearest", "best"] = option("best", "which these are: the nearest, or the best by a quick look")
    sentences: int = option(50, "training reads so many sentences of a document at a time", minimum=1)
    word_dropout: float = option(0.5, "share of the numbers of words that training leaves out", minimum=0, maximum=0.99)
    dropout: float = option(0.2, "share of all other numbers that training leaves out", minimum=0, maximum=0.99)
    speakers: bool = option(True, "use who speaks, where a file tells it")
    genres: bool = option(True, "use the genre of a document, where its name tells it")
    guided: bool = option(True, "training keeps the true mentions whatever their scores, so that it gets going")
    mention_loss: float = option(0.3, "how much telling mentions from other spans counts beside antecedents", minimum=0)
    singletons: bool = option(False, "mentions that nothing else refers to are found, and count")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.singletons and not self.mention_loss:
            raise OptionError("Coref: mention_loss is 0, but mentions that stand alone are learnt by it alone")

    def read(self, path: Name) -> list[Document]:
        """The documents of a file, a folder or a tar archive; PATH:dev is a part of it."""
        return read_documents(path)

    def learn_labels(self, examples: Sequence[Document]) -> Labels:
        """The genres that there are."""
        return {"genres": sorted({example.genre for example in examples if example.genre and self.genres})}

    def network(self, sizes: Sizes, labels: Labels) -> nn.Module:
        """The span ranker."""
        return SpanRanker(self, sizes, labels["genres"])

    def score(self, examples: Sequence[Document], answers: Sequence[Answer]) -> dict[str, float]:
        """MUC, B³ and CEAF-φ4, their mean first, and how well mentions are found."""
        truths = [[list(cluster) for cluster in known(example)] for example in examples]
        found = [[[(start, end) for start, end in cluster] for cluster in answer] for answer in answers]
        if not self.singletons:
            return score_clusters([drop_singletons(one) for one in truths], [drop_singletons(one) for one in found])
        return score_clusters(truths, found)

    def ask(self, *texts: str) -> list[Document]:
        """Each text is a document."""
        tokenizer = Tokenizer()
        found = [
            tuple(tuple(token.text for token in sentence) for sentence in tokenizer.sentences(text)) for text in texts
        ]
        return [Document(sentences or ((),)) for sentences in found]

    def describe(self, example: Document, answer: Answer) -> dict[str, Any]:
        """The text with its mentions in brackets, and the mentions of each cluster."""
        words = example.words
        clusters = [[" ".join(words[start:end]) for start, end in cluster] for cluster in answer]
        return {"text": bracket_mentions(words, answer), "clusters": clusters}


def known(example: Document) -> tuple[tuple[tuple[int, int], ...], ...]:
    """The clusters of a document, which must be known if it is to be learnt from or judged by."""
    if example.clusters is None:
        raise OptionError(f"the document {example.name!r} has no clusters: it can be answered, but not be judged")
    return example.clusters


def bracket_mentions(words: Sequence[str], clusters: Answer) -> str:
    """A text whose mentions stand in brackets, each with the number of its cluster.

    >>> bracket_mentions("his sister saw him".split(), [[[0, 1], [3, 4]], [[0, 2]]])
    '[[his]1 sister]2 saw [him]1'
    """
    opening, closing = [""] * len(words), [""] * len(words)
    mentions = [(start, end, number) for number, cluster in enumerate(clusters, 1) for start, end in cluster]
    for start, end, number in sorted(mentions, key=lambda mention: (mention[0], -mention[1])):
        opening[start] += "["
        closing[end - 1] = f"]{number}" + closing[end - 1]
    return " ".join(before + word + behind for before, word, behind in zip(opening, words, closing))
