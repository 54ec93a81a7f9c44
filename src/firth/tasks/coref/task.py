"""Coreference resolution: which mentions of a document refer to the same entity."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from math import prod
from typing import Any, ClassVar, Literal

from torch import nn

from firth.errors import OptionError
from firth.files import Name
from firth.options import option
from firth.tasks.coref.data import Document, read_documents
from firth.tasks.coref.network import SpanRanker
from firth.tasks.coref.score import drop_singletons, score_clusters
from firth.tasks.coref.swap import balance_genders
from firth.tasks.inputs import Sizes
from firth.tasks.located_text import AnswerSpan, LocatedText, span_row
from firth.tasks.task import Labels, Task
from firth.text.model_tokenizer import TextLike
from firth.text.tokenize import Tokenizer

Clusters = Sequence[Sequence[Sequence[int]]]  # of mentions, each [start, end]
Answer = Mapping[str, Any]


@dataclass(frozen=True)
class Coref(Task):
    """Coreference resolution: find the mentions that refer to the same entity.

    Files have the columns of CoNLL-2012. An answer has `clusters`; a mention is [start, end], counted in words of
    the document. `probabilities` has one for each mention: that its antecedent is in its cluster or, for the first of a
    cluster, that it has none. That of a cluster is their product.

    >>> task = Coref()
    >>> document, = task.ask("Mary went to the store. She bought some milk.")
    >>> answer = {"clusters": [[[0, 1], [6, 7]]], "probabilities": [[1.0, 0.5]]}
    >>> task.describe(document, answer)["bracketed"]
    '[Mary]1 went to the store . [She]1 bought some milk .'
    >>> task.describe(document, answer)["clusters"][0]["mentions"][1]["text"]
    'She'
    >>> gold = Document(document.sentences, (((0, 1), (6, 7)), ((3, 5),)))
    >>> task.score([gold], [answer])["average"]  # the store is a singleton, and does not count
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
    columns: ClassVar[tuple[str, ...]] = ("input", "sentence", "cluster", *AnswerSpan.columns)
    no_answer: ClassVar[Answer] = {"clusters": [], "probabilities": []}
    # No dropout of ELMo: the network has dropout on its input.
    defaults: ClassVar[dict[str, Any]] = {"characters": 150, "epochs": 60, "patience": 10, "dropout": 0.0}

    hidden: int = option(200, "Units of the biLSTM, in each direction.", minimum=1)
    layers: int = option(1, "Layers of the biLSTM.", minimum=1)
    feedforward: int = option(150, "Units of both hidden layers of the mention scorer and the pair scorer.", minimum=1)
    features: int = option(20, "Size of the embeddings of width, distance, speaker and genre.", minimum=1)
    widest: int = option(10, "Maximum length of a mention, in words.", minimum=1, maximum=1_000)
    kept: float = option(0.4, "Candidate mentions to keep for each word of a document (λ).", minimum=0, maximum=10)
    antecedents: int = option(50, "Candidate antecedents of each mention.", minimum=1)
    choice: Literal["nearest", "best"] = option(
        "best", "Candidate antecedents: the nearest mentions, or the best by a bilinear score."
    )
    sentences: int = option(50, "Maximum number of sentences of a document in a training step.", minimum=1)
    word_dropout: float = option(0.5, "Dropout of the word vectors.", minimum=0, maximum=0.99)
    dropout: float = option(0.2, "Dropout of all other layers.", minimum=0, maximum=0.99)
    speakers: bool = option(True, "Use the speaker of each word, where a file has it.")
    genres: bool = option(True, "Use the genre of a document, where its name has it.")
    guided: bool = option(True, "Always keep the gold mentions in training, whatever their scores.")
    mention_loss: float = option(0.3, "Weight of the mention detection loss beside the antecedent loss.", minimum=0)
    singletons: bool = option(False, "Find and score mentions that nothing else refers to.")

    balanced: bool = option(
        False, "Exchange the genders of some training documents, so that he and she are about equally frequent."
    )
    gendered: bool = option(True, "Keep mentions of different gender (he, she, it, king, queen) in different clusters.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.singletons and not self.mention_loss:
            raise OptionError("Coref: mention_loss is 0, but must be higher with singletons, which only it trains")

    def read(self, path: Name) -> list[Document]:
        """The documents of a file, a folder or a tar archive; PATH:dev is one split of it."""
        return read_documents(path)

    def training_examples(self, examples: Sequence[Document]) -> Sequence[Document]:
        """The documents; with `balanced` some of them have the genders exchanged."""
        return balance_genders(examples) if self.balanced else examples

    def learn_labels(self, examples: Sequence[Document]) -> Labels:
        """The genres of the documents."""
        return {"genres": sorted({example.genre for example in examples if example.genre and self.genres})}

    def network(self, sizes: Sizes, labels: Labels) -> nn.Module:
        """The span ranker."""
        return SpanRanker(self, sizes, labels["genres"])

    def score(self, examples: Sequence[Document], answers: Sequence[Answer]) -> dict[str, float]:
        """The mean F1 of MUC, B³ and CEAF-φ4, the F1 of each, and that of mention detection."""
        gold = [example.gold for example in examples]
        predicted = [[[(start, end) for start, end in one] for one in answer["clusters"]] for answer in answers]
        if self.singletons:
            return score_clusters(gold, predicted)
        return score_clusters(list(map(drop_singletons, gold)), list(map(drop_singletons, predicted)))

    def ask(self, *texts: TextLike) -> list[Document]:
        """A document for each text."""
        tokenizer = Tokenizer()
        documents = []
        for input, text in enumerate(texts):
            sentences = LocatedText.split(text, tokenizer, input)
            words, places = (tuple(chain(*parts)) for parts in zip(*((one.words, one.places) for one in sentences)))
            origin = replace(sentences[0], words=words, places=places)
            documents.append(Document(tuple(one.words for one in sentences), origin=origin))
        return documents

    def describe(self, example: Document, answer: Answer) -> dict[str, Any]:
        """The text with its mentions in brackets, and the mentions of each cluster."""
        located, clusters = example.located, answer["clusters"]
        ends = list(accumulate(map(len, example.sentences)))
        described = []
        for cluster, probabilities in zip(clusters, answer["probabilities"], strict=True):
            mentions = [
                {"sentence": bisect_right(ends, start), **located.span(start, end, probability).as_dict()}
                for (start, end), probability in zip(cluster, probabilities, strict=True)
            ]
            described.append({"probability": prod(probabilities), "mentions": mentions})
        return {**located.record, "bracketed": bracket_mentions(example.words, clusters), "clusters": described}

    def rows(self, described: Mapping[str, Any]) -> list[list[Any]]:
        """A row for each mention: the numbers of text, sentence and cluster (from 1, as in the brackets), the span."""
        found = [
            [described["input"], mention["sentence"], number, *span_row(mention)]
            for number, cluster in enumerate(described["clusters"], 1)
            for mention in cluster["mentions"]
        ]
        return found or [[described["input"], None, None, *span_row(None)]]


def bracket_mentions(words: Sequence[str], clusters: Clusters) -> str:
    """A text with its mentions in brackets, each with the number of its cluster.

    >>> bracket_mentions("his sister saw him".split(), [[[0, 1], [3, 4]], [[0, 2]]])
    '[[his]1 sister]2 saw [him]1'
    """
    opening, closing = [""] * len(words), [""] * len(words)
    mentions = [(start, end, number) for number, cluster in enumerate(clusters, 1) for start, end in cluster]
    for start, end, number in sorted(mentions, key=lambda mention: (mention[0], -mention[1])):
        opening[start] += "["
        closing[end - 1] = f"]{number}" + closing[end - 1]
    return " ".join(before + word + after for before, word, after in zip(opening, words, closing))
