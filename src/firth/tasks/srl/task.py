"""Semantic roles: who did what to whom, for every predicate of a sentence.

Files have brackets in one column for each predicate, as CoNLL-2005 and CoNLL-2012 do; which columns these are, a file
tells by itself. The network is that of He et al. (2017): a deep alternating LSTM that is told where the predicate
stands scores the tags of each word, and the best sequence that BIO allows is the answer. Beside it a small LSTM learns
which words are predicates, so that plain text can be asked about; it hears the same vectors and changes none of them.

Results are counted as the official `srl-eval` script counts them: pieces of an argument (`ARG1 … C-ARG1`) are right
together or not at all, references (`R-ARG0`) are arguments like others, and the predicate itself is not counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from firth.errors import FormatError, OptionError
from firth.files import Name
from firth.options import option
from firth.tasks.columns import (
    PREDICATE,
    ColumnRow,
    find_word_column,
    is_predicate_column,
    parse_brackets,
    read_sentences,
)
from firth.tasks.crf import NEVER, Transitions, viterbi
from firth.tasks.inputs import Sizes, Text
from firth.tasks.layers import Bidirectional, VariationalDropout
from firth.tasks.srl.alternating_lstm import AlternatingLstm
from firth.tasks.tags import (
    Span,
    SpanCounts,
    bracket_spans,
    decode_spans,
    describe_spans,
    encode_tags,
    precision_recall_f1,
    tag_ids,
    tag_list,
)
from firth.tasks.task import Labels, Task
from firth.text.tokenize import Tokenizer

CONTINUED = "C-"
Argument = tuple[str, tuple[tuple[int, int], ...]]  # its label, and the words of its pieces
IGNORED = -100  # what cross_entropy leaves out


@dataclass(frozen=True)
class SrlExample:
    """A sentence and one predicate of it, with what is true where that is known.

    Without a predicate (None) it asks for all of them; the sentences of a file that have none are such examples.
    """

    words: tuple[str, ...]
    predicate: int | None = None
    roles: tuple[Span, ...] | None = None
    predicates: tuple[int, ...] | None = None  # all of the sentence

    @property
    def sentences(self) -> tuple[tuple[str, ...], ...]:
        """What is embedded: the sentence."""
        return (self.words,)


@dataclass(frozen=True)
class Srl(Task):
    """Semantic role labeling: find the arguments of each predicate.

    Files have the columns of CoNLL-2005 or CoNLL-2012. An answer has the predicates that were found, and a frame with
    BIO tags for each predicate of the question.

    >>> task = Srl()
    >>> example, = task.ask("John broke the vase.")
    >>> tags = ["B-ARG0", "B-V", "B-ARG1", "I-ARG1", "O"]
    >>> task.describe(example, {"predicates": [1], "frames": [{"predicate": 1, "tags": tags}]})["sentence"]
    '[ARG0: John] [V: broke] [ARG1: the vase] .'
    """

    name: ClassVar[str] = "srl"
    question: ClassVar[str] = "who did what to whom?"
    sample: ClassVar[tuple[str, ...]] = ("John broke the vase.",)
    commands: ClassVar[tuple[str, ...]] = (
        "firth task srl --train ewt-train.conll.xz --dev ewt-dev.conll.xz --out model/",
        "firth task srl --train train.conll --dev dev.conll --layers 4 --hidden 100 --patience 10",
    )
    defaults: ClassVar[dict[str, Any]] = {"mix_decay": 0.001, "dropout": 0.0, "batch": 80, "clip": 1.0}

    layers: int = option(8, "LSTMs that read in turns, forwards and backwards", minimum=1)
    hidden: int = option(300, "cells of each", minimum=1)
    predicate_dim: int = option(100, "numbers that tell a word whether it is the predicate", minimum=1)
    dropout: float = option(0.1, "share of the input that training leaves out", minimum=0, maximum=0.99)
    recurrent_dropout: float = option(
        0.1, "share of what a layer says and hears that training leaves out", minimum=0, maximum=0.99
    )
    highway: Literal["within", "between"] = option(
        "between", "where highways run: between layers, or within the recurrence, as in the paper, which takes longer"
    )
    finder: int = option(100, "cells of the small biLSTM that finds predicates, in each direction", minimum=1)

    def read(self, path: Name) -> list[SrlExample]:
        """One example for each predicate of each sentence; a sentence without any is an example too."""
        examples = [example for rows in read_sentences(path) for example in _examples(path, rows)]
        if not any(example.predicates for example in examples):
            cure = "Files have a column of brackets, with (V*) at the predicate, for each predicate of a sentence"
            raise FormatError(path, "holds no predicates", cure=cure)
        return examples

    def learn_labels(self, examples: Sequence[SrlExample]) -> Labels:
        """The roles that there are."""
        found = {role.label for example in examples for role in example.roles or ()}
        return {"roles": sorted(found | {PREDICATE})}

    def network(self, sizes: Sizes, labels: Labels) -> nn.Module:
        """The labeller and the finder."""
        return SrlTagger(sizes, labels["roles"], self)

    def score(self, examples: Sequence[SrlExample], answers: Sequence[Any]) -> dict[str, float]:
        """F1, precision and recall of arguments, the share of frames without a mistake, and F1 of predicates found."""
        perfect = []
        predicates = [0.0, 0.0, 0.0]
        for example, answer in zip(examples, answers, strict=True):
            if example.predicates is not None:
                # A sentence comes once for each predicate, and counts once.
                share = 1 / max(len(example.predicates), 1)
                gold, said = set(example.predicates), set(answer["predicates"])
                for number, size in enumerate((len(gold & said), len(said), len(gold))):
                    predicates[number] += share * size
            if example.predicate is not None:
                perfect.append(said_of(answer) == collect_arguments(known(example)))
        scores = count_arguments(examples, answers).rates()
        return scores | {
            "perfect": sum(perfect) / max(len(perfect), 1),
            "predicates": precision_recall_f1(*predicates)["f1"],
        }

    def by_role(self, examples: Sequence[SrlExample], answers: Sequence[Any]) -> dict[str, dict[str, float]]:
        """F1, precision and recall of each role, and how many there are and were found."""
        return count_arguments(examples, answers).by_label()

    def ask(self, *texts: str) -> list[SrlExample]:
        """One example for each sentence of the texts; its predicates are to be found."""
        tokenizer = Tokenizer()
        return [
            SrlExample(tuple(token.text for token in sentence))
            for text in texts
            for sentence in tokenizer.sentences(text)
        ]

    def describe(self, example: SrlExample, answer: Any) -> dict[str, Any]:
        """The sentence with the roles in brackets, a line a predicate, and these one by one."""
        lines, frames = [], []
        for frame in answer["frames"]:
            roles = decode_spans(frame["tags"])
            lines.append(bracket_spans(example.words, roles))
            told = describe_spans(example.words, roles)
            frames.append({"predicate": example.words[frame["predicate"]], "sentence": lines[-1], "roles": told})
        sentence = "\n".join(lines or [" ".join(example.words)])
        return {"sentence": sentence, "frames": frames, "words": list(example.words)}


def _examples(path: Name, rows: list[ColumnRow]) -> list[SrlExample]:
    column = find_word_column(rows)
    words = tuple(row.fields[column] for row in rows)
    frames = []
    for column in range(1, len(rows[0].fields)):
        if is_predicate_column(rows, column):
            roles = parse_brackets(path, rows, column)
            frames.append((next(role.start for role in roles if role.label == PREDICATE), tuple(roles)))
    if not frames:
        return [SrlExample(words, predicates=())]
    predicates = tuple(sorted({predicate for predicate, _ in frames}))
    return [SrlExample(words, predicate, roles, predicates) for predicate, roles in frames]


def collect_arguments(roles: Iterable[Span]) -> set[Argument]:
    """The arguments that roles tell: each a label and its pieces. A continuation without a beginning is a beginning.

    >>> collect_arguments([Span("ARG1", 0, 2), Span("V", 2, 3), Span("C-ARG1", 4, 6)])
    {('ARG1', ((0, 2), (4, 6)))}
    """
    found: list[tuple[str, list[tuple[int, int]]]] = []
    latest: dict[str, list[tuple[int, int]]] = {}
    for label, start, end in roles:
        name = label.removeprefix(CONTINUED)
        if name != label and name in latest:
            latest[name].append((start, end))
            continue
        latest[name] = [(start, end)]
        found.append((name, latest[name]))
    return {(label, tuple(pieces)) for label, pieces in found if label != PREDICATE}


def said_of(answer: Any) -> set[Argument]:
    """The arguments that an answer gives to the one predicate that was asked about."""
    return collect_arguments(decode_spans(answer["frames"][0]["tags"]))


def count_arguments(examples: Sequence[SrlExample], answers: Sequence[Any]) -> SpanCounts:
    """The arguments of the predicates that examples name, counted."""
    counted = SpanCounts()
    for example, answer in zip(examples, answers, strict=True):
        if example.predicate is not None:
            counted.add(said_of(answer), collect_arguments(known(example)))
    return counted


def known(example: SrlExample) -> tuple[Span, ...]:
    """The roles of an example that must have them told."""
    if example.roles is None:
        raise OptionError(f"the roles in {' '.join(example.words)!r} are not known: give examples that a file tells")
    return example.roles


class SrlTagger(nn.Module):
    """What each word is to a predicate, and which words are predicates."""

    may_begin: Tensor
    may_follow: Tensor
    may_end: Tensor

    def __init__(self, sizes: Sizes, roles: list[str], task: Srl) -> None:
        super().__init__()
        self.tags = tag_list(roles)
        self.ids = {tag: id for id, tag in enumerate(self.tags)}
        self.dropout = VariationalDropout(task.dropout)
        self.is_predicate = nn.Embedding(2, task.predicate_dim)
        self.reader = AlternatingLstm(
            sizes.input + task.predicate_dim,
            task.hidden,
            layers=task.layers,
            dropout=task.recurrent_dropout,
            highway=task.highway,
        )
        self.scores = nn.Linear(task.hidden + sizes.extra, len(self.tags))
        self.finder = Bidirectional(sizes.input, task.finder, dropout=task.dropout)
        self.finds = nn.Linear(2 * task.finder, 1)
        for linear in (self.scores, self.finds):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)
        for name, scores in vars(Transitions.of(roles, "BIO")).items():
            self.register_buffer(f"may_{name}", scores, persistent=False)

    def forward(self, text: Text, predicates: Sequence[int | None]) -> Tensor:
        """What each word scores as each tag, (batch, time, tags), for one predicate a row."""
        is_predicate = torch.zeros(text.mask.shape, dtype=torch.long)
        for row, place in enumerate(predicates):
            if place is not None:
                is_predicate[row, place] = 1
        told = self.is_predicate(is_predicate.to(text.mask.device))  # (batch, time, predicate_dim)
        said = self.reader(self.dropout(torch.cat([text.vectors, told], 2)), text.lengths)
        scores: Tensor = self.scores(text.with_extra(said))
        return scores

    def loss(self, texts: tuple[Text, ...], examples: Sequence[SrlExample]) -> Tensor:
        """-log p(tag), the mean of the words, and that of being a predicate or not."""
        (text,) = texts
        ids = torch.full(text.mask.shape, IGNORED)
        are_predicates = torch.zeros(text.mask.shape)
        weights = torch.zeros(text.mask.shape)
        for row, example in enumerate(examples):
            length = len(example.words)
            if example.predicate is not None:
                ids[row, :length] = torch.tensor(tag_ids(encode_tags(known(example), length), self.ids))
            if example.predicates is not None:
                # A sentence comes once for each predicate, and counts once.
                weights[row, :length] = 1 / max(len(example.predicates), 1)
                are_predicates[row, list(example.predicates)] = 1
        scores = self(text, [example.predicate for example in examples])
        ids, are_predicates, weights = (part.to(scores.device) for part in (ids, are_predicates, weights))
        labeling = functional.cross_entropy(scores.flatten(0, 1), ids.flatten(), reduction="sum")
        finding = functional.binary_cross_entropy_with_logits(
            self.find(text), are_predicates, weight=weights, reduction="sum"
        )
        return labeling / (ids != IGNORED).sum().clamp(min=1) + finding / weights.sum().clamp(min=1)

    def find(self, text: Text) -> Tensor:
        """How much each word looks like a predicate, (batch, time); above 0 it is one."""
        looks: Tensor = self.finds(self.finder(text.vectors.detach(), text.lengths))[:, :, 0]
        return looks

    def answers(self, texts: tuple[Text, ...], examples: Sequence[SrlExample]) -> list[dict[str, Any]]:
        """The predicates that the finder sees, and the frame of the predicate asked about, or of all that it sees."""
        (text,) = texts
        looks = ((self.find(text) > 0) & text.mask).tolist()
        found = [[place for place, is_one in enumerate(row) if is_one] for row in looks]
        asked = [
            (row, place)
            for row, example in enumerate(examples)
            for place in (found[row] if example.predicate is None else [example.predicate])
        ]
        answers: list[dict[str, Any]] = [{"predicates": places, "frames": []} for places in found]
        if not asked:
            return answers
        rows = [row for row, _ in asked]
        if rows != list(range(len(examples))):
            text = select_rows(text, rows)
        for (row, place), ids in zip(asked, self.best(text, [place for _, place in asked]).tolist()):
            tags = [self.tags[id] for id in ids[: len(examples[row].words)]]
            answers[row]["frames"].append({"predicate": place, "tags": tags})
        return answers

    def best(self, text: Text, predicates: Sequence[int]) -> Tensor:
        """The best tags that BIO allows, (batch, time): the predicate, and it alone, is V."""
        scores = self(text, predicates).log_softmax(2)
        begins = self.ids[f"B-{PREDICATE}"]
        rows, places = torch.arange(len(predicates), device=scores.device), torch.tensor(predicates).to(scores.device)
        certain = scores[rows, places, begins]
        scores[:, :, begins] = NEVER
        scores[rows, places] = NEVER
        scores[rows, places, begins] = certain
        return viterbi(Transitions(self.may_begin, self.may_follow, self.may_end), scores, text.mask)


def select_rows(text: Text, rows: list[int]) -> Text:
    """A batch of some sentences of a batch, as often as asked for."""
    places = torch.tensor(rows)
    there = places.to(text.mask.device)
    extra = None if text.extra is None else text.extra[there]
    return replace(text, vectors=text.vectors[there], lengths=text.lengths[places], mask=text.mask[there], extra=extra)
