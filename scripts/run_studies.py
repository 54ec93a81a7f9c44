"""Runs the studies whose tables are in studies/results, in as many sittings as it takes.

    python scripts/run_studies.py --work WORK --out studies/results --device cuda --jobs 16 --minutes 25
    python scripts/run_studies.py --work WORK --out studies/results --check

The stages, in this order: `small` is Table 1 without questions, five seeds; `persian` is Table 1 of the Persian tasks;
`questions` is Table 1 of all of SQuAD; `layers` and `samples` have three seeds; `probes` are the probing studies. A
finished training is a line of WORK/runs.jsonl, and the others have checkpoints in WORK: after `--minutes` everything
stops, and the same command goes on. Each sitting ends with the pages of what is finished and a count of it.

`--check` only counts. It fails unless every training is finished and was ended by patience, none by the limit of its
epochs. `--quick` trains small networks on few examples, to see that all commands work.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from firth.errors import FirthError
from firth.runtime import Runtime
from firth.show import terminal
from firth.studies.probing.contexts import Contexts
from firth.studies.probing.play import Play
from firth.studies.probing.pos import PartsOfSpeech
from firth.studies.probing.representations import Representations
from firth.studies.probing.senses import Senses
from firth.studies.tasks.layers import Layers
from firth.studies.tasks.runs import gather, is_converged
from firth.studies.tasks.samples import Samples
from firth.studies.tasks.settings import PERSIAN
from firth.studies.tasks.study import TaskStudy
from firth.studies.tasks.table1 import Table1
from firth.studies.tasks.weights import LayerWeights

QUESTIONS = "qa"
SMALL = tuple(name for name in Table1().tasks if name != QUESTIONS)
OVERLAPS = Path(__file__).resolve().parents[1] / "studies" / "results" / "overlap"
CAPPED = "ended by the limit of epochs"
STAGES = "small", "persian", "questions", "layers", "samples", "probes"
QUICK: dict[str, Any] = {"small": True, "seeds": 1}
PROBES = Senses(static="word2vec-en+glove-en"), PartsOfSpeech(), Play(), Contexts(), Representations()


@dataclass(frozen=True)
class Stage:
    """Trainings that run together; `share` of the jobs run at a time, because each needs the more memory."""

    study: TaskStudy
    share: float = 1.0


def make_stages(elmo: str, static: str, *, quick: bool) -> dict[str, Stage]:
    """The stages of trainings, in the order in which they run."""
    models: dict[str, Any] = {"elmo": elmo, "static": static}
    stages = {
        "small": Stage(Table1(tasks=SMALL, **models)),
        "persian": Stage(Table1(tasks=PERSIAN, elmo="elmo-fa", static="fasttext-fa")),
        "questions": Stage(Table1(tasks=(QUESTIONS,), **models), share=0.5),
        "layers": Stage(Layers(**models)),
        "samples": Stage(Samples(**models)),
    }
    if quick:
        stages = {name: replace(stage, study=replace(stage.study, **QUICK)) for name, stage in stages.items()}
    return stages


def make_pages(stages: Mapping[str, Stage], overlaps: Path) -> dict[str, TaskStudy]:
    """The studies whose pages are written, by the name of their folder."""
    overlap, persian = (str(overlaps / f"{name}.json") for name in ("overlap", "overlap-fa"))
    small = stages["small"].study
    found = {
        "table1": replace(small, tasks=Table1().tasks, overlap=overlap),
        "table1-fa": replace(stages["persian"].study, overlap=persian),
        "weights": LayerWeights(elmo=small.elmo, static=small.static, seeds=small.seeds, small=small.small),
        "layers": replace(stages["layers"].study, overlap=overlap),
        "samples": replace(stages["samples"].study, overlap=overlap),
    }
    return {name: replace(study, start=False) for name, study in found.items()}


def count_runs(study: TaskStudy, work: Path) -> dict[str, Any]:
    """How many trainings of a stage are finished, and the names of those that patience did not end."""
    runs = list(dict.fromkeys(study.runs()))
    results = gather(runs, work, Runtime(1), start=False)
    capped = [run.key for run, result in results.items() if not is_converged(result)]
    return {"trainings": len(runs), "finished": len(results), CAPPED: capped}


def run_probes(out: Path, work: Path, runtime: Runtime, elmo: str, end: float, *, quick: bool) -> None:
    """Runs the probing studies; the models that are finished are not read again."""
    for study in PROBES:
        if time.monotonic() < end:
            chosen = replace(study.make_quick() if quick else study, elmo=elmo)
            chosen.run(work, runtime).write(out / study.name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="Folder of finished trainings and checkpoints.")
    parser.add_argument("--out", type=Path, required=True, help="Folder of the pages; each study has a folder in it.")
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=list(STAGES), help="Only these stages.")
    parser.add_argument("--elmo", default="elmo-en", help="The English biLM. Default: elmo-en.")
    parser.add_argument("--static", default="glove-en", help="The English word vectors. Default: glove-en.")
    parser.add_argument(
        "--overlap",
        type=Path,
        default=OVERLAPS,
        help="Folder of overlap.json and overlap-fa.json of scripts/overlap.py.",
    )
    parser.add_argument("--minutes", type=float, default=None, help="Stop after this many minutes. Default: never.")
    parser.add_argument("--jobs", type=int, default=1, help="Trainings at a time; of questions half as many.")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"), help="The device. Default: cpu.")
    parser.add_argument("--quick", action="store_true", help="Small networks on few examples.")
    parser.add_argument("--check", action="store_true", help="Train nothing; fail unless all trainings converged.")
    args = parser.parse_args()
    end = math.inf if args.minutes is None else time.monotonic() + 60 * args.minutes
    stages = make_stages(args.elmo, args.static, quick=args.quick)
    chosen = [stages[name] for name in args.stages if name in stages]
    args.work.mkdir(parents=True, exist_ok=True)
    failures = [] if args.check else train(chosen, args.work, Runtime.from_env(device=args.device), args.jobs, end)
    if not args.check:
        for name, study in make_pages(stages, args.overlap).items():
            if gather(study.runs(), args.work, Runtime(1), start=False):
                study.run(args.work, Runtime(1)).write(args.out / name)
        if "probes" in args.stages:
            run_probes(args.out, args.work, Runtime.from_env(device=args.device), args.elmo, end, quick=args.quick)
    counts = {name: count_runs(stages[name].study, args.work) for name in args.stages if name in stages}
    print(json.dumps(counts, indent=1))
    if failures:
        sys.exit("\n".join(failures))
    if args.check and any(one["finished"] < one["trainings"] or one[CAPPED] for one in counts.values()):
        sys.exit("not all trainings are finished and ended by patience")


def train(stages: Sequence[Stage], work: Path, runtime: Runtime, jobs: int, end: float) -> list[str]:
    """Runs the missing trainings of each stage until the time is over; returns what failed."""
    failures = []
    for stage in stages:
        left = None if end == math.inf else (end - time.monotonic()) / 60
        if left is not None and left <= 0:
            break
        try:
            runs = stage.study.prepare(stage.study.runs(), work)
            with terminal.progress() as report:
                gather(runs, work, runtime, report, jobs=max(1, round(jobs * stage.share)), minutes=left)
        except FirthError as error:
            failures.append(str(error))
    return failures


if __name__ == "__main__":
    main()
