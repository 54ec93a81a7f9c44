"""Question answering: the span of a passage that answers a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from torch import nn

from firth.errors import OptionError
from firth.files import Name
from firth.options import option
from firth.tasks.inputs import Sizes
from firth.tasks.qa.data import Passage, QaExample, read_questions
from firth.tasks.qa.network import QaNetwork
from firth.tasks.qa.score import score_answers
from firth.tasks.task import Labels, Task, require_gold
from firth.tasks.tokenization import Letters, make_tokenizer, split_words
from firth.text.model_tokenizer import TextLike


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
    letters: Letters = option("keep", "Normalize letters and digits for Persian or Arabic.")

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
        return read_questions(path, make_tokenizer(self.letters), self.occurrences)

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
        """Questions about a passage: the passage, then one question or more."""
        if len(texts) < 2:
            raise OptionError(f"qa takes a passage and a question, but {len(texts)} texts were given")
        tokenizer = make_tokenizer(self.letters)
        passage = Passage.of(texts[0], tokenizer)
        if not passage.words:
            raise OptionError("the passage has no words")
        examples = [QaExample(passage, split_words(text, tokenizer)) for text in texts[1:]]
        if not all(example.words for example in examples):
            raise OptionError("the question has no words")
        return examples

    def describe(self, example: QaExample, answer: dict[str, Any]) -> dict[str, Any]:
        """The question, the answer, its characters in the passage, and its probability."""
        return {
            "question": " ".join(example.words),
            "answer": answer["text"],
            "start": answer["start"],
            "end": answer["end"],
            "probability": round(answer["probability"], 4),
        }
