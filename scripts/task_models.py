"""Makes the models of the six tasks that come with firth: each is one entry of RECIPES.

    python scripts/task_models.py ner [sentiment ...] --out FOLDER [--device cuda] [--quick]

Words become what `glove-en` and `elmo-en` say of them. A model learns in float32, its numbers are then rounded to
bytes, and it is judged before and after. FOLDER/task-NAME is the model with its card, and FOLDER/task-NAME.json tells
scores, seconds and options. The examples are those of the data folder (see `firth.data`). Without FOLDER the models of
the installation are replaced, and nothing is written beside them. `--quick` learns from a part of the examples, in a
minute or two on one core.

`--minutes` ends a training early, with its best epoch. `--without SET` learns without a set, named by part of its file
(`sick`, `semcor`, `own/`). `--also NAME=FILE` judges the model on a file of yours as well: `--also conll2003=eng.testb`
tells F1 of each type of names, and `--also gap=gap-test.tsv` tells coreference of masculine and feminine pronouns.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

import task_examples
from firth.formats import precision
from firth.formats.registry import save
from firth.pretrained import shipped
from firth.progress import Progress
from firth.runtime import Runtime
from firth.show.cards import write_card
from firth.studies.tasks.settings import WIKIGOLD, DataPart, locate, read_parts
from firth.tasks.card import task_card
from firth.tasks.coref.pronouns import read_gap, score_gap, score_pronouns
from firth.tasks.coref.task import Coref
from firth.tasks.entailment.task import Entailment
from firth.tasks.inputs import Embedding
from firth.tasks.model import TaskModel
from firth.tasks.ner.task import Ner
from firth.tasks.qa.task import Qa
from firth.tasks.sentiment.task import Sentiment
from firth.tasks.srl.task import Srl
from firth.tasks.task import Task
from firth.tasks.training import Training, fit
from lexical_contrast import FILE, contrast_examples

JUDGED_QUICKLY = {False: 400, True: 8}  # examples of the dev and of the test set; of documents fewer
FREE = ("academic", "bio", "court", "interview", "news", "voyage")  # genres whose texts may be used for any purpose
GENRES = f"OntoGUM (Zhu et al. 2021), of which the genres {', '.join(FREE)}"
SETS = {
    "ner/wnut17": ("WNUT-17 (Derczynski et al. 2017): sentences of social media", "CC BY 4.0"),
    "wsd/semcor": ("SemCor 3.0 (Miller et al. 1993): the names in sentences of the Brown corpus", "WordNet licence"),
    "own/companies": ("sentences of our own about organizations, people and places", "CC0"),
    "own/contrast": ("pairs of sentences of our own that differ in a word", "CC0"),
    "ner/wikigold": ("WikiGold (Balasuriya et al. 2009): sentences of Wikipedia", "CC BY 4.0"),
    "sentiment/sst5": (
        "Stanford Sentiment Treebank (Socher et al. 2013): sentences of film reviews, every phrase graded",
        "published by Stanford NLP without a licence text",
    ),
    "entailment/snli-counterfactual": ("SNLI revised by hand (Kaushik et al. 2020)", "Apache-2.0"),
    "entailment/snli": ("SNLI (Bowman et al. 2015), its development and test pairs", "CC BY-SA 4.0"),
    "entailment/sick": ("SICK (Marelli et al. 2014): pairs that change the words of captions", "CC BY-NC-SA 3.0"),
    "srl/ewt": ("PropBank on the English Web Treebank", "CC BY-SA 4.0"),
    "coref/litbank": ("LitBank (Bamman et al. 2020): the beginnings of 100 novels", "CC BY 4.0"),
    "coref/ontogum": (GENRES, "CC BY and CC BY-SA; annotations CC BY 4.0"),
    "qa/squad": ("SQuAD 1.1 (Rajpurkar et al. 2016): questions about Wikipedia", "CC BY-SA 4.0"),
}


OWN = "own/"  # sets that are written by a function, not read from a file
NONCOMMERCIAL = "NC"


@dataclass(frozen=True)
class Derived(DataPart):
    """All examples that `make` makes from a file of the data folder, `times` over; a file below own/ is none."""

    make: Callable[[Any], list[Any]] = field(default=list, compare=False)
    times: int = 1

    def read(self) -> list[Any]:
        """The examples."""
        path = None if self.file.startswith(OWN) else locate(self.file)
        return self.make(path) * self.times


@dataclass(frozen=True)
class Plan:
    """How the model of a task is made. `outside` are test sets of another kind than the training examples."""

    task: Task
    embedding: Embedding
    training: Training
    train: tuple[DataPart, ...]
    dev: tuple[DataPart, ...]
    test: tuple[DataPart, ...]
    quick: dict[str, Any]  # of `training`
    outside: Mapping[str, DataPart] = field(default_factory=dict)


def words(**options: Any) -> Embedding:
    """Static vectors and ELMo side by side, by the names they ship under; networks drop their input themselves."""
    return Embedding(static="glove-en", elmo="elmo-en", dropout=0.0, **options)


def coreferences(part: str) -> tuple[DataPart, ...]:
    """A part of both sets."""
    return DataPart(f"coref/litbank-conll.tar.xz:{part}"), DataPart(f"coref/ontogum-conll.tar.xz:{part}", genres=FREE)


COUNTERFACTUAL, SNLI = "entailment/snli-counterfactual-{}.tsv", "entailment/snli-{}.tsv"
SICK = "entailment/sick-{}.txt"
SQUAD = "qa/squad-dev.json.xz"
RECIPES = {
    "ner": Plan(
        Ner(hidden=(128, 64), dropout=0.4),
        words(characters=48, mix_decay=0.01),
        Training(epochs=40, patience=6, halve_after=2, batch=32, average=0.99, cache=4.0),
        train=(
            WIKIGOLD["train"][0],
            WIKIGOLD["train"][0],  # a second time: its types are those of the dev set
            Derived("ner/wnut17-train.conll", make=task_examples.wnut_examples),
            Derived("wsd/semcor3.0.tsv.xz", make=task_examples.semcor_examples),
            Derived("own/companies", make=task_examples.company_examples),
        ),
        dev=WIKIGOLD["dev"],
        test=WIKIGOLD["test"],
        quick={"epochs": 6, "share": 0.3},
        outside={"wnut17": Derived("ner/wnut17-test.conll", make=task_examples.wnut_examples)},
    ),
    "sentiment": Plan(
        Sentiment(hidden=64, dropout=0.3, shortest=2),
        words(at="both", mix_decay=0.001),
        Training(epochs=7, patience=3, halve_after=1, batch=64, average=0.999, cache=8.0),
        train=(DataPart("sentiment/sst5-train.txt"),),
        dev=(DataPart("sentiment/sst5-dev.txt"),),
        test=(DataPart("sentiment/sst5-test.txt"),),
        quick={"epochs": 2, "share": 0.3, "average": 0.99},
    ),
    "entailment": Plan(
        Entailment(hidden=100, dropout=0.3),
        words(at="both", mix_decay=0.001),
        Training(epochs=20, patience=5, halve_after=2, learning_rate=6e-4, average=0.99, cache=4.0),
        train=(
            DataPart(COUNTERFACTUAL.format("train")),
            DataPart(COUNTERFACTUAL.format("dev")),
            DataPart(SNLI.format("dev"), 0, 0.9),
            DataPart(SICK.format("train")),
            Derived("own/contrast", make=contrast_examples),
        ),
        dev=(DataPart(SNLI.format("dev"), 0.9, 1), DataPart(SICK.format("dev"))),
        test=(DataPart(SNLI.format("test")),),
        quick={"epochs": 3, "share": 0.3},
        outside={
            "sick": DataPart(SICK.format("test")),
            "counterfactual": DataPart(COUNTERFACTUAL.format("test")),
            "contrast": Derived("own/contrast-test", make=lambda path: Entailment().read(FILE)),
        },
    ),
    "srl": Plan(
        Srl(layers=4, hidden=100, predicate_dim=24, finder=48, highway="between"),
        words(mix_decay=0.001),
        Training(epochs=12, patience=4, halve_after=1, batch=48, clip=1.0, average=0.999, cache=4.0),
        train=(DataPart("srl/ewt-train.conll.xz"),),
        dev=(DataPart("srl/ewt-dev.conll.xz"),),
        test=(DataPart("srl/ewt-test.conll.xz"),),
        quick={"epochs": 3, "share": 0.1, "batch": 16, "average": 0.99},
    ),
    "coref": Plan(
        Coref(
            hidden=64,
            feedforward=100,
            antecedents=150,
            choice="nearest",
            speakers=False,
            genres=False,
            word_dropout=0.4,
            balanced=True,
        ),
        words(characters=32, mix_decay=0.001),
        Training(epochs=30, patience=6, halve_after=2, average=0.99, cache=4.0),
        train=coreferences("train"),
        dev=coreferences("dev"),
        test=coreferences("test"),
        quick={"epochs": 3, "share": 0.15, "average": 0.9},
    ),
    "qa": Plan(
        Qa(hidden=60),
        words(at="both", mix_decay=0.001, characters=48),
        Training(epochs=4, patience=2, halve_after=1, batch=64, learning_rate=1e-3, average=0.999, cache=20.0),
        train=(DataPart("qa/squad-train.json.xz"),),
        dev=(DataPart(SQUAD, 0, 0.2),),
        test=(DataPart(SQUAD, 0.2, 1),),
        quick={"epochs": 3, "share": 0.01, "batch": 12, "average": 0.95},
    ),
}


@dataclass(frozen=True)
class Changes:
    """What the command line changes in a recipe."""

    quick: bool = False
    training: Mapping[str, Any] = field(default_factory=dict)
    task: Mapping[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    also: Mapping[str, str] = field(default_factory=dict)  # names of test sets and their files

    def of(self, plan: Plan) -> Plan:
        """The changed plan."""
        training = replace(plan.training, **(plan.quick if self.quick else {}) | dict(self.training))
        train, dev = self.kept(plan.train), self.kept(plan.dev)
        return replace(plan, train=train, dev=dev, training=training, task=replace(plan.task, **self.task))

    def kept(self, parts: tuple[DataPart, ...]) -> tuple[DataPart, ...]:
        """The parts without those to leave out."""
        return tuple(part for part in parts if not any(name in part.file for name in self.without))

    @property
    def flags(self) -> list[str]:
        """The same as arguments of the command line."""
        options = [f"--{name} {value}" for name, value in self.training.items()]
        unbalanced = ["--no-balanced"] if self.task.get("balanced") is False else []
        without = ["--without " + " ".join(self.without)] * bool(self.without)
        return ["--quick"] * self.quick + options + unbalanced + without


def make(name: str, out: Path, runtime: Runtime, changes: Changes) -> dict[str, Any]:
    """Learns one task, makes the model small, judges it before and after, and writes it; tells what came out."""
    plan, begun = changes.of(RECIPES[name]), time.monotonic()
    given = examples_of(plan, changes.quick)
    learning = time.monotonic()
    model = fit(
        plan.task, plan.embedding, given["train"], given["dev"], plan.training, runtime=runtime, report=Reporter(name)
    )
    seconds = time.monotonic() - learning
    trained = judged(model, given, runtime)
    to_bytes(model)
    here = judged(model, given, runtime)
    examples = {part: len(given[part]) for part in given}
    model.metadata |= {
        **here,
        "trained": trained,
        "seconds": round(seconds, 1),
        **facts(name, plan, examples, changes),
    }
    folder = out / f"task-{name}"
    write_model(model, folder)
    outside = judged_outside(model, plan, changes, runtime)
    model.metadata["outside"] = outside
    write_model(model, folder)
    said = model.ask(*plan.task.sample)
    told = {
        "name": folder.name,
        "parameters": model.learnt_numbers,
        "bytes": sum(file.stat().st_size for file in folder.iterdir()),
        "trained": trained,
        "here": here,
        "outside": outside,
        "seconds": {"in all": round(time.monotonic() - begun, 1), "learning": round(seconds, 1)},
        "options": {part: getattr(plan, part).as_dict() for part in ("task", "embedding")},
        "training": plan.training.as_dict(),
        "examples": examples,
        "epochs": model.metadata["epochs"],
        "asked": plan.task.sample,
        "said": said,
    }
    if out != shipped.HERE:
        (out / f"{folder.name}.json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    return told


def write_model(model: TaskModel, folder: Path) -> None:
    """Writes a model with its card."""
    save(model, folder, precision="int8")
    write_card(folder, task_card(folder.name, model))


def examples_of(plan: Plan, quick: bool) -> dict[str, list[Any]]:
    """The examples of each part; a quick version is judged by a few of them, from all over the file."""
    given = {part: read_each(getattr(plan, part), plan.task) for part in ("train", "dev", "test")}
    if quick:
        given |= {part: few(given[part], plan.task) for part in ("dev", "test")}
    return given


def read_each(parts: Sequence[DataPart], task: Task) -> list[Any]:
    """The examples of all parts, concatenated."""
    found: list[Any] = []
    for part in parts:
        found += part.read() if isinstance(part, Derived) else read_parts([part], task)
    return found


def few(examples: list[Any], task: Task) -> list[Any]:
    """A few of the examples, from all over the list."""
    return examples[:: max(1, len(examples) // JUDGED_QUICKLY[task.documents])]


def judged(model: TaskModel, given: dict[str, list[Any]], runtime: Runtime) -> dict[str, dict[str, float]]:
    """The scores on the dev and on the test set."""
    model.to(runtime.place)
    found = {part: rounded(score(model, given[part])) for part in ("dev", "test")}
    model.to("cpu")
    return found


def judged_outside(model: TaskModel, plan: Plan, changes: Changes, runtime: Runtime) -> dict[str, dict[str, float]]:
    """The scores on test sets of another kind, and on those of the user."""
    model.to(runtime.place)
    sets = {name: read_each([part], plan.task) for name, part in plan.outside.items()}
    gap = changes.also.get("gap") if plan.task.name == "coref" else None
    sets |= {name: plan.task.read(file) for name, file in changes.also.items() if gap is None or name != "gap"}
    found = {
        name: rounded(score(model, few(examples, plan.task) if changes.quick else examples))
        for name, examples in sets.items()
    }
    if gap is not None:
        cases = read_gap(gap)
        cases = few(cases, plan.task) if changes.quick else cases
        documents = [document for case in cases for document in plan.task.ask(case.text)]
        found["gap"] = rounded(score_gap(cases, documents, model.predict(documents)))
    model.to("cpu")
    return found


def score(model: TaskModel, examples: list[Any]) -> dict[str, float]:
    """The measures of the task; of names also the F1 of each type, of coreference also those of pronouns."""
    answers = model.predict(examples)
    scores = model.task.score(examples, answers)
    if isinstance(model.task, Ner):
        kinds = model.task.by_kind(examples, answers)
        scores |= {f"{kind} f1": measures["f1"] for kind, measures in kinds.items()}
    if isinstance(model.task, Coref):
        scores |= {f"pronouns {name}": value for name, value in score_pronouns(examples, answers).items()}
    return scores


def rounded(scores: dict[str, float]) -> dict[str, float]:
    """Scores with four digits."""
    return {name: round(value, 4) for name, value in scores.items()}


def to_bytes(model: TaskModel) -> None:
    """Rounds what was learnt to what a file of signed bytes holds."""
    arrays = {name: tensor.detach().cpu().numpy() for name, tensor in model.state().items()}
    rounded = precision.round_arrays(arrays, "int8")
    model.load_state({name: torch.from_numpy(array) for name, array in rounded.items()})


def facts(name: str, plan: Plan, examples: dict[str, int], changes: Changes) -> dict[str, Any]:
    """What the card tells: where the examples are from, what may be done with the model, how it is made again."""
    files = {part.file: None for part in (*plan.train, *plan.dev, *plan.test)}
    used = {known_set(file): None for file in files}
    learned = {known_set(part.file) for part in (*plan.train, *plan.dev)}
    is_free = not any(NONCOMMERCIAL in SETS[one][1] for one in learned)
    return {
        "about": shipped.SHIPPED[f"task-{name}"],
        "examples": examples,
        "data": [{"what": SETS[one][0], "licence": SETS[one][1]} for one in used],
        "licence": "cc-by-sa-4.0" if is_free else "cc-by-nc-sa-4.0",
        "command": " ".join(["python scripts/task_models.py", name, *changes.flags]),
        "asked": list(plan.task.sample),
    }


def known_set(file: str) -> str:
    """The name in SETS of the set that a file belongs to."""
    return max((known for known in SETS if file.startswith(known)), key=len)


class Reporter:
    """Tells how far a training is, a line now and then."""

    def __init__(self, name: str) -> None:
        self.name, self.told = name, time.monotonic()

    def __call__(self, now: Progress) -> None:
        if time.monotonic() - self.told > 10:
            self.told = time.monotonic()
            values = ", ".join(f"{name} {value:.4g}" for name, value in now.values.items())
            print(f"{self.name}: {now.step}, {now.done:,.0f} of {now.total or 0:,.0f} {now.unit}, {values}", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", choices=list(RECIPES), metavar="NAME", help=", ".join(RECIPES))
    parser.add_argument("--out", type=Path, default=shipped.HERE, help="where the folder task-NAME is written")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="learn from a part of the examples, in a minute or two")
    parser.add_argument("--epochs", type=int, help="not as many epochs as the recipe has, but so many")
    parser.add_argument("--minutes", type=float, help="end the training after this time, with its best epoch")
    parser.add_argument("--without", nargs="+", default=[], metavar="SET", help="learn without these sets")
    parser.add_argument("--also", nargs="+", default=[], metavar="NAME=FILE", help="judge on these files too")
    parser.add_argument("--no-balanced", action="store_true", help="coref: exchange no genders in training")
    given = parser.parse_args(arguments)
    changes = Changes(
        quick=given.quick,
        training={name: getattr(given, name) for name in ("epochs", "minutes") if getattr(given, name) is not None},
        without=tuple(given.without),
        also=dict(one.partition("=")[::2] for one in given.also),
    )
    given.out.mkdir(parents=True, exist_ok=True)
    for name in given.names:
        unbalanced = {"balanced": False} if given.no_balanced and name == "coref" else {}
        runtime = Runtime.from_env(given.threads, given.device)
        told = make(name, given.out, runtime, replace(changes, task=unbalanced))
        shown = {
            key: told[key] for key in ("name", "parameters", "bytes", "trained", "here", "outside", "seconds", "said")
        }
        print(json.dumps(shown, indent=2), flush=True)


if __name__ == "__main__":
    main()
