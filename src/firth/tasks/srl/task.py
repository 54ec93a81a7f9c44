"""Semantic role labeling: who did what to whom, for every predicate of a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from torch import nn

from firth.errors import OptionError
from firth.files import Name
from firth.options import option
from firth.tasks.columns import PREDICATE
from firth.tasks.inputs import Sizes
from firth.tasks.located_text import AnswerSpan, LocatedText, span_row
from firth.tasks.srl.data import SrlExample, read_frames
from firth.tasks.srl.network import SrlTagger
from firth.tasks.srl.score import count_arguments, score_frames
from firth.tasks.tags import bracket_spans, decode_spans, describe_spans
from firth.tasks.task import Answer, Labels, Task
from firth.text.model_tokenizer import TextLike
from firth.text.tokenize import Tokenizer


@dataclass(frozen=True)
class Srl(Task):
    """Semantic role labeling: find the arguments of each predicate.

    Files have the columns of CoNLL-2005 or CoNLL-2012. An answer has the predicates that were found, and a frame with
    BIO tags for the predicate of the example, or for each predicate that was found. It has the probability of the word
    being a predicate (`found`), of each role given the predicate (`probabilities`), and of all of them together
    (`probability`).

    >>> task = Srl()
    >>> example, = task.ask("John broke the vase.")
    >>> frame = {"predicate": 1, "tags": ["B-ARG0", "B-V", "B-ARG1", "I-ARG1", "O"]}
    >>> frame |= {"found": 0.9, "probability": 0.7, "probabilities": [0.9, 1.0, 0.8]}
    >>> described = task.describe(example, {"predicates": [1], "frames": [frame]})
    >>> described["bracketed"]
    '[ARG0: John] [V: broke] [ARG1: the vase] .'
    >>> described["frames"][0]["roles"][2]["text"]
    'the vase'
    """

    name: ClassVar[str] = "srl"
    question: ClassVar[str] = "who did what to whom?"
    sample: ClassVar[tuple[str, ...]] = ("John broke the vase.",)
    commands: ClassVar[tuple[str, ...]] = (
        "firth task srl --train ewt-train.conll.xz --dev ewt-dev.conll.xz --out model/",
        "firth task srl --train train.conll --dev dev.conll --layers 4 --hidden 100 --patience 10",
    )
    no_answer: ClassVar[Answer] = {"predicates": [], "frames": []}
    columns: ClassVar[tuple[str, ...]] = ("input", "sentence", "frame", "label", *AnswerSpan.columns)
    defaults: ClassVar[dict[str, Any]] = {"mix_decay": 0.001, "dropout": 0.0, "batch": 80, "clip": 1.0}

    layers: int = option(8, "Layers of the alternating LSTM.", minimum=1)
    hidden: int = option(300, "Units of each layer.", minimum=1)
    predicate_dim: int = option(100, "Size of the embedding that marks the predicate.", minimum=1)
    dropout: float = option(0.1, "Dropout of the input.", minimum=0, maximum=0.99)
    recurrent_dropout: float = option(
        0.1, "Dropout of the hidden states, within and between layers.", minimum=0, maximum=0.99
    )
    highway: Literal["within", "between"] = option(
        "between", "Highway connections between layers, or within the recurrence as in the paper, which is slower."
    )
    finder: int = option(100, "Units of the biLSTM that finds predicates, in each direction.", minimum=1)

    def read(self, path: Name) -> list[SrlExample]:
        """One example for each predicate of each sentence, and one for each sentence without predicates."""
        return read_frames(path)

    def learn_labels(self, examples: Sequence[SrlExample]) -> Labels:
        """The roles."""
        return {"roles": sorted({role.label for example in examples for role in example.gold} | {PREDICATE})}

    def network(self, sizes: Sizes, labels: Labels) -> nn.Module:
        """The role labeler and the predicate finder."""
        if PREDICATE not in labels["roles"]:
            raise OptionError(f"the roles of an srl model must have {PREDICATE!r}, the tag of the predicate")
        return SrlTagger(sizes, labels["roles"], self)

    def score(self, examples: Sequence[SrlExample], answers: Sequence[Any]) -> dict[str, float]:
        """F1, precision and recall of arguments, the share of frames without an error, and the F1 of predicates."""
        return score_frames(examples, answers)

    def by_role(self, examples: Sequence[SrlExample], answers: Sequence[Any]) -> dict[str, dict[str, float]]:
        """F1, precision and recall of each role, and the numbers of gold and predicted arguments."""
        return count_arguments(examples, answers).by_label()

    def ask(self, *texts: TextLike) -> list[SrlExample]:
        """An example for each sentence of the texts; its predicates are to be found."""
        sentences = LocatedText.split_all(texts, Tokenizer())
        return [SrlExample(sentence.words, origin=sentence) for sentence in sentences]

    def describe(self, example: SrlExample, answer: Any) -> dict[str, Any]:
        """The sentence with the roles in brackets, one line for each predicate, and the roles of each frame."""
        located, frames = example.located, []
        for frame in answer["frames"]:
            spans, place = decode_spans(frame["tags"]), frame["predicate"]
            frames.append(
                {
                    "predicate": located.span(place, place + 1, frame["found"]).as_dict(),
                    "probability": frame["probability"],
                    "bracketed": bracket_spans(example.words, spans),
                    "roles": describe_spans(located, spans, frame["probabilities"]),
                }
            )
        bracketed = "\n".join(frame["bracketed"] for frame in frames) or " ".join(example.words)
        return {**located.sentence_record, "bracketed": bracketed, "frames": frames}

    def rows(self, described: Mapping[str, Any]) -> list[list[Any]]:
        """A row for each role: the numbers of text, sentence and frame, the label, and the span."""
        place = [described["input"], described["sentence"]]
        found = [
            [*place, number, role["label"], *span_row(role)]
            for number, frame in enumerate(described["frames"])
            for role in frame["roles"]
        ]
        return found or [[*place, None, None, *span_row(None)]]
