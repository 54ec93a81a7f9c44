"""Makes the models of the six tasks that come with firth: each is one entry of RECIPES.

    python scripts/task_models.py ner [sentiment ...] --out FOLDER [--device cuda] [--quick]

Words become what `glove-en` and `elmo-en` say of them. A model learns in float32, its numbers are then rounded to
bytes, and it is judged before and after. FOLDER/task-NAME is the model with its card, and FOLDER/task-NAME.json tells
scores, seconds and options. The examples are those of the data folder (see `firth.data`). Without FOLDER the models of
the installation are replaced, and nothing is written beside them. `--quick` learns from a part of the examples, in a
minute or two on one core.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from firth.formats import precision
from firth.formats.registry import save
from firth.pretrained import shipped
from firth.progress import Progress
from firth.runtime import Runtime
from firth.show.cards import write_card
from firth.studies.tasks.settings import WIKIGOLD, DataPart, read_parts
from firth.tasks.card import task_card
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

JUDGED_QUICKLY = {False: 400, True: 8}  # examples of the dev and of the test set; of documents fewer
FREE = ("academic", "bio", "court", "interview", "news", "voyage")  # genres whose texts may be used for any purpose
GENRES = f"OntoGUM (Zhu et al. 2021), of which the genres {', '.join(FREE)}"
SETS = {
    "ner/wikigold": ("WikiGold (Balasuriya et al. 2009): sentences of Wikipedia", "CC BY 4.0"),
    "sentiment/sst5": (
        "Stanford Sentiment Treebank (Socher et al. 2013): sentences of film reviews, every phrase graded",
        "published by Stanford NLP without a licence text",
    ),
    "entailment/snli-counterfactual": ("SNLI revised by hand (Kaushik et al. 2020)", "Apache-2.0"),
    "entailment/snli": ("SNLI (Bowman et al. 2015), its development and test pairs", "CC BY-SA 4.0"),
    "srl/ewt": ("PropBank on the English Web Treebank", "CC BY-SA 4.0"),
    "coref/litbank": ("LitBank (Bamman et al. 2020): the beginnings of 100 novels", "CC BY 4.0"),
    "coref/ontogum": (GENRES, "CC BY and CC BY-SA; annotations CC BY 4.0"),
    "qa/squad": ("SQuAD 1.1 (Rajpurkar et al. 2016): questions about Wikipedia", "CC BY-SA 4.0"),
}


@dataclass(frozen=True)
class Plan:
    """How the model of a task is made."""

    task: Task
    embedding: Embedding
    training: Training
    train: tuple[DataPart, ...]
    dev: tuple[DataPart, ...]
    test: tuple[DataPart, ...]
    quick: dict[str, Any]  # of `training`


def words(**options: Any) -> Embedding:
    """Static vectors and ELMo side by side, by the names they ship under; networks drop their input themselves."""
    return Embedding(static="glove-en", elmo="elmo-en", dropout=0.0, **options)


def coreferences(part: str) -> tuple[DataPart, ...]:
    """A part of both sets."""
    return DataPart(f"coref/litbank-conll.tar.xz:{part}"), DataPart(f"coref/ontogum-conll.tar.xz:{part}", genres=FREE)


COUNTERFACTUAL, SNLI = "entailment/snli-counterfactual-{}.tsv", "entailment/snli-{}.tsv"
SQUAD = "qa/squad-dev.json.xz"
RECIPES = {
    "ner": Plan(
        Ner(hidden=(128, 64), dropout=0.4),
        words(characters=48, mix_decay=0.01),
        Training(epochs=40, patience=10, halve_after=4, batch=16, average=0.99),
        **WIKIGOLD,
        quick={"epochs": 12},
    ),
    "sentiment": Plan(
        Sentiment(hidden=64, dropout=0.3, shortest=2),
        words(at="both", mix_decay=0.001),
        Training(epochs=7, patience=3, halve_after=1, batch=64, average=0.999),
        train=(DataPart("sentiment/sst5-train.txt"),),
        dev=(DataPart("sentiment/sst5-dev.txt"),),
        test=(DataPart("sentiment/sst5-test.txt"),),
        quick={"epochs": 2, "share": 0.3, "average": 0.99},
    ),
    "entailment": Plan(
        Entailment(hidden=100, dropout=0.3),
        words(at="both", mix_decay=0.001),
        Training(epochs=14, patience=4, halve_after=1, learning_rate=6e-4, average=0.99),
        train=(DataPart(COUNTERFACTUAL.format("train")), DataPart(SNLI.format("dev"), 0, 0.9)),
        dev=(DataPart(SNLI.format("dev"), 0.9, 1),),
        test=(DataPart(SNLI.format("test")),),
        quick={"epochs": 3, "share": 0.4},
    ),
    "srl": Plan(
        Srl(layers=4, hidden=100, predicate_dim=24, finder=48, highway="between"),
        words(mix_decay=0.001),
        Training(epochs=12, patience=4, halve_after=1, batch=48, clip=1.0, average=0.999),
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
        ),
        words(characters=32, mix_decay=0.001),
        Training(epochs=30, patience=6, halve_after=2, average=0.99),
        train=coreferences("train"),
        dev=coreferences("dev"),
        test=coreferences("test"),
        quick={"epochs": 3, "share": 0.15, "average": 0.9},
    ),
    "qa": Plan(
        Qa(hidden=60),
        words(at="both", mix_decay=0.001, characters=48),
        Training(epochs=4, patience=2, halve_after=1, batch=64, learning_rate=1e-3, average=0.999, cache=8.0),
        train=(DataPart("qa/squad-train.json.xz"),),
        dev=(DataPart(SQUAD, 0, 0.2),),
        test=(DataPart(SQUAD, 0.2, 1),),
        quick={"epochs": 3, "share": 0.01, "batch": 12, "average": 0.95},
    ),
}


def make(name: str, out: Path, runtime: Runtime, quick: bool, changed: dict[str, Any]) -> dict[str, Any]:
    """Learns one task, makes the model small, judges it before and after, and writes it; tells what came out.

    `changed` are options of the training that are not those of the recipe.
    """
    plan, begun = RECIPES[name], time.monotonic()
    given = examples_of(plan, quick)
    training = replace(plan.training, **(plan.quick if quick else {}) | changed)
    learning = time.monotonic()
    model = fit(
        plan.task, plan.embedding, given["train"], given["dev"], training, runtime=runtime, report=Reporter(name)
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
        **facts(name, plan, examples, quick, changed),
    }
    folder = out / f"task-{name}"
    save(model, folder, precision="int8")
    write_card(folder, task_card(folder.name, model))
    said = model.ask(*plan.task.sample)
    told = {
        "name": folder.name,
        "parameters": model.learnt_numbers,
        "bytes": sum(file.stat().st_size for file in folder.iterdir()),
        "trained": trained,
        "here": here,
        "seconds": {"in all": round(time.monotonic() - begun, 1), "learning": round(seconds, 1)},
        "options": {part: getattr(plan, part).as_dict() for part in ("task", "embedding")},
        "training": training.as_dict(),
        "examples": examples,
        "epochs": model.metadata["epochs"],
        "asked": plan.task.sample,
        "said": said,
    }
    if out != shipped.HERE:
        (out / f"{folder.name}.json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    return told


def examples_of(plan: Plan, quick: bool) -> dict[str, list[Any]]:
    """The examples of each part; a quick version is judged by a few of them, from all over the file."""
    given = {part: read_parts(getattr(plan, part), plan.task) for part in ("train", "dev", "test")}
    if quick:
        most = JUDGED_QUICKLY[plan.task.documents]
        given |= {part: given[part][:: max(1, len(given[part]) // most)] for part in ("dev", "test")}
    return given


def judged(model: TaskModel, given: dict[str, list[Any]], runtime: Runtime) -> dict[str, dict[str, float]]:
    """The scores on the dev and on the test set."""
    model.to(runtime.place)
    found = {part: model.evaluate(given[part]) for part in ("dev", "test")}
    model.to("cpu")
    return {part: {name: round(value, 4) for name, value in scores.items()} for part, scores in found.items()}


def to_bytes(model: TaskModel) -> None:
    """Rounds what was learnt to what a file of signed bytes holds."""
    arrays = {name: tensor.detach().cpu().numpy() for name, tensor in model.state().items()}
    rounded = precision.round_arrays(arrays, "int8")
    model.load_state({name: torch.from_numpy(array) for name, array in rounded.items()})


def facts(name: str, plan: Plan, examples: dict[str, int], quick: bool, changed: dict[str, Any]) -> dict[str, Any]:
    """What the card tells: where the examples are from, what may be done with the model, how it is made again."""
    files = {part.file: None for part in (*plan.train, *plan.dev, *plan.test)}
    used = {max((known for known in SETS if file.startswith(known)), key=len): None for file in files}
    flags = ["--quick"] * quick + [f"--{option} {value}" for option, value in changed.items()]
    return {
        "about": shipped.SHIPPED[f"task-{name}"],
        "examples": examples,
        "data": [{"what": SETS[one][0], "licence": SETS[one][1]} for one in used],
        "licence": "cc-by-sa-4.0",
        "command": " ".join(["python scripts/task_models.py", name, *flags]),
        "asked": list(plan.task.sample),
    }


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
    given = parser.parse_args(arguments)
    changed = {} if given.epochs is None else {"epochs": given.epochs}
    given.out.mkdir(parents=True, exist_ok=True)
    for name in given.names:
        told = make(name, given.out, Runtime.from_env(given.threads, given.device), given.quick, changed)
        shown = {key: told[key] for key in ("name", "parameters", "bytes", "trained", "here", "seconds", "said")}
        print(json.dumps(shown, indent=2), flush=True)


if __name__ == "__main__":
    main()
