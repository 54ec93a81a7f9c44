"""Question answering: which piece of a passage answers a question?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from torch import nn

from firth.errors import OptionError
from firth.files import Name
from firth.options import option
from firth.tasks.inputs import Sizes
from firth.tasks.qa.data import Passage, QaExample, exact_match, read_questions, token_f1
from firth.tasks.qa.network import QaNetwork
from firth.tasks.task import Labels, Task
from firth.tasks.tokenization import Letters, make_tokenizer


@dataclass(frozen=True)
class Qa(Task):
    """Question answering: find the span of a passage that answers a question.

    Files have the JSON format of SQuAD 1.1.

    >>> asked = Qa().ask("The cat sat on the mat.", "Where did the cat sit?")[0]
    >>> asked.passage.cut(3, 5)
    'on the mat'
    """

    name: ClassVar[str] = "qa"
    question: ClassVar[str] = "where is the answer?"
    sample: ClassVar[tuple[str, ...]] = ("The cat sat on the mat.", "Where did the cat sit?")
    commands: ClassVar[tuple[str, ...]] = (
        "firth task qa --train squad-train.json.xz --dev squad-dev.json.xz --device cuda --out model/",
    )
    defaults: ClassVar[dict[str, Any]] = {
        "at": "both",
        "dropout": 0.0,  # the network drops its input itself
        "characters": 100,
        "optimizer": "adadelta",
        "learning_rate": 1.0,
        "average": 0.999,
        "batch": 45,
    }

    hidden: int = option(90, "size of each GRU direction; layers between are twice as wide", minimum=1)
    dropout: float = option(0.2, "share of the numbers that training leaves out", minimum=0, maximum=0.99)
    answer_words: int = option(17, "words that an answer has at most", minimum=1)
    longest: int = option(400, "words of a passage looked at together; a longer one is cut into windows", minimum=2)
    overlap: int = option(128, "words that neighboring windows share", minimum=0)
    occurrences: Literal["given", "all"] = option("all", "answers stand where the file says, or wherever they occur")
    letters: Letters = option("keep", "unify letters and digits as Persian or Arabic needs")  # noqa: RUF009

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.overlap >= self.longest:
            problem = f"Qa: overlap is {self.overlap}, but must be smaller than longest, {self.longest}"
            raise OptionError(problem)

    def read(self, path: Name) -> list[QaExample]:
        """The questions of a file in the JSON form of SQuAD 1.1.

        >>> import json, pathlib, tempfile
        >>> asked = {"question": "Who sat?", "id": "1", "answers": [{"text": "A cat", "answer_start": 0}]}
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "one.json"
        >>> _ = file.write_text(json.dumps({"data": [{"paragraphs": [{"context": "A cat sat.", "qas": [asked]}]}]}))
        >>> Qa().read(file)[0].spans
        ((0, 1),)
        """
        return read_questions(path, make_tokenizer(self.letters), self.occurrences)

    def training_examples(self, examples: Sequence[QaExample]) -> Sequence[QaExample]:
        """The questions, each of which must have an answer."""
        for example in examples:
            if not example.spans:
                problem = f"the question {example.id!r} ({' '.join(example.words)}) has no answer to learn from"
                raise OptionError(f"{problem}. Train on a file with answers")
        return examples

    def learn_labels(self, examples: Sequence[QaExample]) -> Labels:
        """Nothing: all that can be answered stands in the passages."""
        return {}

    def network(self, sizes: Sizes, labels: Labels) -> nn.Module:
        """Attention flow with self-attention."""
        sides = {"answer_words": self.answer_words, "longest": self.longest, "overlap": self.overlap}
        return QaNetwork(sizes, hidden=self.hidden, dropout=self.dropout, **sides)

    def score(self, examples: Sequence[QaExample], answers: Sequence[dict[str, Any]]) -> dict[str, float]:
        """F1 and exact match, as the official script of SQuAD 1.1 counts them (there they are percentages).

        >>> asked = QaExample(Passage.of("A cat sat on the mat.", make_tokenizer("keep")), ("Where", "?"), ("on the mat",))
        >>> Qa().score([asked], [{"text": "the mat"}])
        {'f1': 0.6666666666666666, 'exact_match': 0.0}
        """
        gold = [example.answers for example in examples if example.answers is not None]
        if len(gold) < len(examples):
            raise OptionError("some questions have no answers to compare with. Choose a file with answers")
        texts = [answer["text"] for answer in answers]
        count = max(len(gold), 1)
        return {
            "f1": sum(map(token_f1, texts, gold)) / count,
            "exact_match": sum(map(exact_match, texts, gold)) / count,
        }

    def ask(self, *texts: str) -> list[QaExample]:
        """Questions about a passage: the passage, then one question or more."""
        if len(texts) < 2:
            raise OptionError(f"qa takes a passage and a question, but {len(texts)} texts were given")
        tokenizer = make_tokenizer(self.letters)
        passage = Passage.of(texts[0], tokenizer)
        if not passage.words:
            raise OptionError("the passage has no words")
        asked = [QaExample(passage, tuple(tokenizer.words(text))) for text in texts[1:]]
        for question in asked:
            if not question.words:
                raise OptionError("the question has no words")
        return asked

    def describe(self, example: QaExample, answer: dict[str, Any]) -> dict[str, Any]:
        """The question, the answer, its characters in the passage, and how likely the network finds it."""
        return {
            "question": " ".join(example.words),
            "answer": answer["text"],
            "start": answer["start"],
            "end": answer["end"],
            "probability": round(answer["probability"], 4),
        }
