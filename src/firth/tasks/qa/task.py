"""Question answering: the span of a passage that answers a question."""

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
from firth.tasks.qa.data import Passage, QaExample, read_questions
from firth.tasks.qa.network import QaNetwork
from firth.tasks.qa.no_answer import NoAnswerCalibration, describe_span
from firth.tasks.qa.score import score_answers
from firth.tasks.task import Answer, Labels, Task, require_gold
from firth.tasks.tokenization import LETTERS, SEGMENT, Letters, make_tokenizer
from firth.text.model_tokenizer import TextLike
from firth.text.vocabulary import Vocabulary

CHANCE = "no_answer"  # of a described answer: the probability that the passage has none


@dataclass(frozen=True)
class Qa(Task):
    """Question answering: find the span of a passage that answers a question.

    Files have the JSON format of SQuAD 1.1.

    >>> example, = Qa().ask("The cat sat on the mat.", "Where did the cat sit?")
    >>> example.passage.cut(3, 5)
    'on the mat'
    """

    name: ClassVar[str] = "qa"
    question: ClassVar[str] = "where is the answer?"
    sample: ClassVar[tuple[str, ...]] = ("The cat sat on the mat.", "Where did the cat sit?")
    commands: ClassVar[tuple[str, ...]] = (
        "firth task qa --train squad-train.json.xz --dev squad-dev.json.xz --device cuda --out model/",
    )
    no_answer: ClassVar[Answer] = dict.fromkeys((*AnswerSpan.columns, CHANCE))
    columns: ClassVar[tuple[str, ...]] = ("input", "question", *AnswerSpan.columns, CHANCE)
    defaults: ClassVar[dict[str, Any]] = {
        "at": "both",
        "dropout": 0.0,  # the network has dropout on its input
        "characters": 100,
        "optimizer": "adadelta",
        "learning_rate": 1.0,
        "average": 0.999,
        "batch": 45,
    }

    hidden: int = option(90, "Units of each GRU direction; other layers have twice as many.", minimum=1)
    dropout: float = option(0.2, "Dropout of the input of each layer.", minimum=0, maximum=0.99)
    answer_words: int = option(17, "Maximum length of an answer, in words.", minimum=1)
    longest: int = option(400, "Words of a window; a longer passage is cut into overlapping windows.", minimum=2)
    overlap: int = option(128, "Words that neighboring windows share.", minimum=0)
    occurrences: Literal["given", "all"] = option(
        "all", "Gold spans of an answer: the one that the file gives, or all its occurrences in the passage."
    )
    threshold: float = option(
        0.7,
        "Answer nothing if the probability that the passage has no answer is above this; 1 always answers. Only a "
        "calibrated model, such as the shipped one, has this probability.",
        minimum=0,
        maximum=1,
    )
    letters: Letters = option("keep", LETTERS)
    segment: str | None = option(None, SEGMENT)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.overlap >= self.longest:
            problem = f"Qa: overlap is {self.overlap}, but must be smaller than longest, {self.longest}"
            raise OptionError(problem)

    def read(self, path: Name) -> list[QaExample]:
        """The questions of a file in the JSON format of SQuAD 1.1.

        >>> import json, pathlib, tempfile
        >>> question = {"question": "Who sat?", "id": "1", "answers": [{"text": "A cat", "answer_start": 0}]}
        >>> paragraph = {"context": "A cat sat.", "qas": [question]}
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "one.json"
        >>> _ = file.write_text(json.dumps({"data": [{"paragraphs": [paragraph]}]}))
        >>> Qa().read(file)[0].spans
        ((0, 1),)
        """
        return read_questions(path, make_tokenizer(self.letters, self.segment), self.occurrences)

    def training_examples(self, examples: Sequence[QaExample]) -> Sequence[QaExample]:
        """The questions; one without a gold span is an error."""
        for example in examples:
            require_gold(example.spans or None, example.words)
        return examples

    def network(self, sizes: Sizes, labels: Labels) -> nn.Module:
        """Attention flow with self-attention."""
        return QaNetwork(sizes, self)

    def score(self, examples: Sequence[QaExample], answers: Sequence[dict[str, Any]]) -> dict[str, float]:
        """F1 and exact match, as the official script of SQuAD 1.1 computes them (there as percentages).

        >>> from dataclasses import replace
        >>> example = replace(Qa().ask("A cat sat on the mat.", "Where?")[0], answers=("on the mat",))
        >>> Qa().score([example], [{"text": "the mat"}])
        {'f1': 0.6666666666666666, 'exact_match': 0.0}
        """
        return score_answers(examples, answers)

    def ask(self, *texts: TextLike) -> list[QaExample]:
        """Questions about a passage: the passage, then one question or more. One of several may have no words."""
        if len(texts) < 2:
            raise OptionError(f"qa takes a passage and a question, but {len(texts)} texts were given")
        tokenizer = make_tokenizer(self.letters, self.segment)
        passage = Passage.of(texts[0], tokenizer)
        if not passage.words:
            raise OptionError("the passage has no words")
        questions = [LocatedText.of(text, tokenizer, input) for input, text in enumerate(texts[1:], 1)]
        if not any(question.words for question in questions):
            raise OptionError("the question has no words")
        return [QaExample(passage, question.words, origin=question) for question in questions]

    def decide(
        self,
        examples: Sequence[QaExample],
        answers: Sequence[dict[str, Any]],
        metadata: Mapping[str, Any],
        vocabularies: Sequence[Vocabulary],
    ) -> list[dict[str, Any]]:
        """The answers with the probability that there is none, and no answer where it is above the threshold.

        A model without a calibration always answers; the probability is then not known.
        """
        if not metadata.get(CHANCE):
            return [answer | {CHANCE: None} for answer in answers]
        calibration, decided = NoAnswerCalibration.from_dict(metadata[CHANCE]), []
        for example, answer in zip(examples, answers):
            span = answer["token_start"], answer["token_end"]
            features = describe_span(example.words, example.passage.words, span, answer["logits"], vocabularies)
            chance = calibration.probability(features)
            empty = {**self.no_answer, "probability": chance}
            decided.append((empty if chance > self.threshold else answer) | {CHANCE: chance})
        return decided

    def describe(self, example: QaExample, answer: dict[str, Any]) -> dict[str, Any]:
        """The number and the text of the question, the text of the passage, and the answer with its place there."""
        question = example.origin or LocatedText.of_tokens(example.words)
        described = {"input": question.input, "question": question.text, "text": example.passage.text}
        places = {name: answer.get(name) for name in (*AnswerSpan.columns, CHANCE) if name != "text"}
        return described | {"answer": answer["text"], **places, "tokens": list(example.passage.words)}

    def rows(self, described: Mapping[str, Any]) -> list[list[Any]]:
        """One row: the number of the question's text, the question, the span of the answer, the chance of none."""
        span = span_row({**described, "text": described["answer"]})
        return [[described["input"], described["question"], *span, described[CHANCE]]]
