"""The settings of the tasks in studies: data, network, training, and the scores of the paper.

CoNLL-2003, OntoNotes, the Penn Treebank and SNLI's training part are licensed or not available; the sets here are free
and smaller. The baseline and ELMo have the same network and the same training, and patience on the dev set ends both:
`MOST_EPOCHS` is a limit that no training should reach. A training that reaches it is left out of the comparison.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from firth.studies.results import data_file
from firth.tasks.task import Task

Options = Mapping[str, Any]
MOST_EPOCHS = 200
QUICK = 0.01  # share of each part in a quick version
FEWEST = 24  # examples of a part in a quick version, at least, if it has that many


@dataclass(frozen=True)
class DataPart:
    """A range of the examples in a file of the data folder, as shares from 0 to 1; optionally only of some genres."""

    file: str
    begin: float = 0.0
    end: float = 1.0
    genres: tuple[str, ...] = ()


@dataclass(frozen=True)
class Setting:
    """How the studies train a task. `paper` are the scores of the paper's baseline and of ELMo, on the paper's data."""

    task: str
    about: str
    train: tuple[DataPart, ...]
    dev: tuple[DataPart, ...]
    test: tuple[DataPart, ...]
    network: Options = field(default_factory=dict)
    words: Options = field(default_factory=dict)
    training: Options = field(default_factory=dict)
    quick: Options = field(default_factory=dict)  # options of the network in a quick version
    paper: tuple[float, float] | None = None
    language: str = "en"

    def as_dict(self) -> dict[str, Any]:
        """The data and the options that a result depends on."""
        return asdict(replace(self, about="", quick={}, paper=None))

    def examples(self, task: Task, which: str, quick: bool = False) -> list[Any]:
        """The examples of `train`, `dev` or `test`."""
        return read_parts(getattr(self, which), task, quick)


def read_parts(parts: Sequence[DataPart], task: Task, quick: bool = False) -> list[Any]:
    """The examples of all parts, concatenated."""
    read: list[Any] = []
    for part in parts:
        examples = task.read(locate(part.file))
        if part.genres:
            examples = [example for example in examples if example.genre in part.genres]
        read += cut_part(examples, part, quick)
    return read


def cut_part(examples: list[Any], part: DataPart, quick: bool) -> list[Any]:
    """The examples of a part; only a few of them with `quick`.

    >>> cut_part(list("abcdefghij"), DataPart("letters.txt", 0.5, 0.8), quick=False)
    ['f', 'g', 'h']
    """
    begin, end = round(part.begin * len(examples)), round(part.end * len(examples))
    if quick:
        few = 2 if len(examples) < 500 else FEWEST  # documents are few and long
        end = min(end, begin + max(few, round(QUICK * (end - begin))))
    return examples[begin:end]


def locate(file: str) -> str:
    """The path of a data file of a task; a part of an archive after a colon is kept."""
    name, colon, part = file.partition(":")
    return f"{data_file(f'data/tasks/{name}')}{colon}{part}"


PAIR_TRAINING = {
    "batch": 64,
    "learning_rate": 0.001,
    "average": 0.99,
    "halve_after": 2,
    "patience": 4,
    "cache": 6.0,
}
ENTAILMENT = "entailment/snli-counterfactual-train.tsv"
SQUAD = "qa/squad-train.json.xz"
SQUAD_TRAINING = {"patience": 3, "optimizer": "adam", "learning_rate": 0.001, "cache": 30.0}
WIKIGOLD: dict[str, Any] = {  # the split of the studies and of the model that ships
    "train": (DataPart("ner/wikigold.conll", 0, 0.8),),
    "dev": (DataPart("ner/wikigold.conll", 0.8, 0.9),),
    "test": (DataPart("ner/wikigold.conll", 0.9, 1),),
}
SETTINGS = {
    "qa": Setting(
        "qa",
        "SQuAD 1.1: all of its training questions but the last fiftieth, which is the dev part, judged on its dev set",
        (DataPart(SQUAD, 0, 0.98),),
        (DataPart(SQUAD, 0.98, 1),),
        (DataPart("qa/squad-dev.json.xz"),),
        training=SQUAD_TRAINING | {"batch": 128},
        quick={"hidden": 12},
        paper=(81.1, 85.8),
    ),
    "qa-fifth": Setting(
        "qa",
        "SQuAD 1.1: the first fifth of its training questions, judged on all of its dev set",
        (DataPart(SQUAD, 0, 0.2),),
        (DataPart(SQUAD, 0.2, 0.22),),
        (DataPart("qa/squad-dev.json.xz"),),
        training=SQUAD_TRAINING,
        quick={"hidden": 12},
        paper=(81.1, 85.8),
    ),
    "entailment": Setting(
        "entailment",
        "SNLI's dev set and the counterfactual pairs (17,000 in all, not 550,000), judged on SNLI's test set",
        (DataPart(ENTAILMENT), DataPart("entailment/snli-dev.tsv", 0, 0.9)),
        (DataPart("entailment/snli-dev.tsv", 0.9, 1),),
        (DataPart("entailment/snli-test.tsv"),),
        network={"dropout": 0.3},
        training=PAIR_TRAINING,
        quick={"hidden": 16},
        paper=(88.0, 88.7),
    ),
    "srl": Setting(
        "srl",
        "PropBank roles on the English Web Treebank, not OntoNotes",
        (DataPart("srl/ewt-train.conll.xz"),),
        (DataPart("srl/ewt-dev.conll.xz", 0, 0.3),),
        (DataPart("srl/ewt-test.conll.xz"),),
        training={
            "batch": 160,
            "learning_rate": 0.001,  # with 0.002 single batches explode: docs/tasks/srl.md
            "average": 0.99,
            "halve_after": 2,
            "patience": 4,
            "cache": 6.0,
        },
        quick={"hidden": 16, "layers": 2, "finder": 8},
        paper=(81.4, 84.6),
    ),
    "coref": Setting(
        "coref",
        "OntoGUM, 191 documents to learn from, not the 2,802 of OntoNotes",
        (DataPart("coref/ontogum-conll.tar.xz:train"),),
        (DataPart("coref/ontogum-conll.tar.xz:dev"),),
        (DataPart("coref/ontogum-conll.tar.xz:test"),),
        training={"average": 0.99, "patience": 15, "cache": 4.0},  # the score stands still early on, for some epochs
        quick={"hidden": 12, "feedforward": 12},
        paper=(67.2, 70.4),
    ),
    "ner": Setting(
        "ner",
        "WNUT-17, names in noisy text that do not occur in training, not CoNLL-2003",
        (DataPart("ner/wnut17-train.conll"),),
        (DataPart("ner/wnut17-dev.conll"),),
        (DataPart("ner/wnut17-test.conll"),),
        training={"average": 0.99, "patience": 6},
        quick={"hidden": (16,)},
        paper=(90.15, 92.22),
    ),
    "wikigold": Setting(
        "ner",
        "Wikigold, 39,000 words with the labels of CoNLL-2003; four fifths to learn from, a tenth to judge by",
        **WIKIGOLD,
        training={"average": 0.99, "patience": 8},
        quick={"hidden": (16,)},
    ),
    "sentiment": Setting(
        "sentiment",
        "SST-5, the paper's own set",
        (DataPart("sentiment/sst5-train.txt"),),
        (DataPart("sentiment/sst5-dev.txt"),),
        (DataPart("sentiment/sst5-test.txt"),),
        words={"dropout": 0.2},
        training={"batch": 256, "average": 0.99, "patience": 3, "cache": 10.0},
        quick={"hidden": 16},
        paper=(51.4, 54.7),
    ),
    "parstwiner": Setting(
        "ner",
        "ParsTwiNER, names of six types in Persian tweets",
        (DataPart("ner/parstwiner-fa-train.txt"),),
        (DataPart("ner/parstwiner-fa-dev.txt"),),
        (DataPart("ner/parstwiner-fa-test.txt"),),
        network={"letters": "persian"},
        training={"average": 0.99, "patience": 6},
        quick={"hidden": (16,)},
        language="fa",
    ),
    "farstail": Setting(
        "entailment",
        "FarsTail, 7,266 Persian pairs to learn from",
        (DataPart("entailment/farstail-fa-train.csv"),),
        (DataPart("entailment/farstail-fa-val.csv"),),
        (DataPart("entailment/farstail-fa-test.csv"),),
        network={"dropout": 0.3, "letters": "persian"},
        training=PAIR_TRAINING,
        quick={"hidden": 16},
        language="fa",
    ),
}
ENGLISH, PERSIAN = (
    tuple(name for name, setting in SETTINGS.items() if setting.language == language) for language in ("en", "fa")
)
