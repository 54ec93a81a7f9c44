"""Named-entity recognition: the names in a sentence, and what they name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from torch import nn

from firth.errors import OptionError
from firth.files import Name
from firth.options import option
from firth.tasks.inputs import Sizes
from firth.tasks.located_text import AnswerSpan, LocatedText, span_row
from firth.tasks.ner.data import NerExample, read_entities
from firth.tasks.ner.network import NerTagger
from firth.tasks.ner.score import count_entities, score_entities
from firth.tasks.tags import bracket_spans, decode_spans, describe_spans
from firth.tasks.task import Answer, Labels, Task
from firth.tasks.tokenization import LETTERS, SEGMENT, Letters, make_tokenizer
from firth.text.model_tokenizer import TextLike


@dataclass(frozen=True)
class Ner(Task):
    """Named-entity recognition: find the names of people, places and other things.

    Files have a word and a tag on each line, as CoNLL-2003 does. An answer has BIO tags, and the probability of
    each entity: the sum of the probabilities of all tag sequences in which it is.

    >>> task = Ner()
    >>> example, = task.ask("Elon Musk founded SpaceX.")
    >>> answer = {"tags": ["B-PER", "I-PER", "O", "B-ORG", "O"], "probabilities": [0.9, 0.8]}
    >>> task.describe(example, answer)["bracketed"]
    '[PER: Elon Musk] founded [ORG: SpaceX] .'
    >>> task.describe(example, answer)["entities"][1]
    {'label': 'ORG', 'text': 'SpaceX', 'start': 18, 'end': 24, 'token_start': 3, 'token_end': 4, 'probability': 0.8}
    """

    name: ClassVar[str] = "ner"
    question: ClassVar[str] = "which words are names?"
    sample: ClassVar[tuple[str, ...]] = ("Elon Musk founded SpaceX.",)
    commands: ClassVar[tuple[str, ...]] = (
        "firth task ner --train train.conll --dev dev.conll --test test.conll --out model/",
        "firth task ner --train train.conll --dev dev.conll --embedding glove-en --embedding-characters 128",
    )
    no_answer: ClassVar[Answer] = {"tags": [], "probabilities": []}
    columns: ClassVar[tuple[str, ...]] = ("input", "sentence", "label", *AnswerSpan.columns)
    defaults: ClassVar[dict[str, Any]] = {"characters": 128, "tuned": True, "mix_decay": 0.1, "dropout": 0.0}

    hidden: tuple[int, ...] = option((200, 100), "Units of each biLSTM layer, in each direction.")
    dropout: float = option(0.25, "Dropout of the input of each layer.", minimum=0, maximum=0.99)
    scheme: Literal["BIO", "BIOES"] = option("BIOES", "Tag scheme inside the network.")
    word: int = option(0, "Column of the word in a file, from 0; a negative number counts from the last column.")
    tag: int = option(-1, "Column of the tag in a file, from 0; a negative number counts from the last column.")
    letters: Letters = option("keep", LETTERS)
    segment: str | None = option(None, SEGMENT)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.hidden or min(self.hidden) < 1:
            raise OptionError(f"Ner: hidden is {self.hidden!r}, but must be numbers of at least 1")

    def read(self, path: Name) -> list[NerExample]:
        """The sentences of a file with their entities, in IOB1, BIO or BIOES."""
        return read_entities(path, self.word, self.tag, self.letters)

    def learn_labels(self, examples: Sequence[NerExample]) -> Labels:
        """The types of entities."""
        return {"kinds": sorted({entity.label for example in examples for entity in example.gold})}

    def network(self, sizes: Sizes, labels: Labels) -> nn.Module:
        """The biLSTM-CRF."""
        return NerTagger(sizes, labels["kinds"], self)

    def score(self, examples: Sequence[NerExample], answers: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        """F1, precision and recall of entities, and the share of words with the right tag."""
        return score_entities(examples, answers)

    def by_kind(
        self, examples: Sequence[NerExample], answers: Sequence[Mapping[str, Any]]
    ) -> dict[str, dict[str, float]]:
        """F1, precision and recall of each type of entity, and the numbers of gold and predicted ones."""
        return count_entities(examples, answers).by_label()

    def ask(self, *texts: TextLike) -> list[NerExample]:
        """An example for each sentence of the texts."""
        sentences = LocatedText.split_all(texts, make_tokenizer(self.letters, self.segment))
        return [NerExample(sentence.words, origin=sentence) for sentence in sentences]

    def describe(self, example: NerExample, answer: Mapping[str, Any]) -> dict[str, Any]:
        """The sentence with its entities in brackets, and a list of the entities."""
        entities, located = decode_spans(answer["tags"]), example.located
        return {
            **located.sentence_record,
            "bracketed": bracket_spans(example.words, entities),
            "entities": describe_spans(located, entities, answer["probabilities"]),
        }

    def rows(self, described: Mapping[str, Any]) -> list[list[Any]]:
        """A row for each entity: the numbers of text and sentence, the type, and the span."""
        place = [described["input"], described["sentence"]]
        found = [[*place, entity["label"], *span_row(entity)] for entity in described["entities"]]
        return found or [[*place, None, *span_row(None)]]
