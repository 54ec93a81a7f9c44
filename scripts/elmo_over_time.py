"""What training time buys: snapshots of one training of a biLM, judged by senses and by two tasks.

    python scripts/pretrain_elmo.py elmo-en-large --corpus corpus --out models/large --minutes 20 --snapshots 5 10
    python scripts/elmo_over_time.py models/large-300s models/large-600s models/large --work work --out over-time.json

A row has the perplexity that the training measured, the scores of `firth study representations` (the sense test, word
sense disambiguation, WiC), and the test scores of `--tasks` with the biLM as their input, the mean of some seeds. What
is finished lies in WORK and is not repeated; `--only` computes one of the two parts, so that both can run at a time.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from firth.files import atomic_file
from firth.formats.registry import load
from firth.runtime import Runtime
from firth.studies.findings import find_commit, versions
from firth.studies.probing.representations import LAYERS, Representations
from firth.studies.tasks.runs import TaskRun, gather, is_converged, main_score
from firth.studies.tasks.settings import SETTINGS

BAGS = "word2vec-en"  # whose bag of context is beside the biLMs
ROWS = (*LAYERS, "biLM context", f"{BAGS}, bag of context")  # of the representations that are kept
PARTS = "senses", "tasks"


def measure_senses(model: Path, work: Path, runtime: Runtime, sentences: int | None = None) -> dict[str, Any]:
    """The scores of the layers and of the context of a biLM, and of the bag of context."""
    study = Representations(elmo=str(model), static=BAGS, sentences=sentences)
    scores: dict[str, Any] = study.run(work / model.name, runtime).values["scores"]
    return {name: scores[name] for name in ROWS if name in scores}


def list_runs(model: Path, tasks: Sequence[str], seeds: int) -> list[TaskRun]:
    """The trainings of tasks that have a biLM as their input, beside glove-en."""
    return [
        TaskRun(task, elmo=str(model), seed=seed).without_defaults() for task in tasks for seed in range(1, seeds + 1)
    ]


def summarize_tasks(results: dict[TaskRun, dict[str, Any]]) -> dict[str, Any]:
    """The test scores of each task: their mean and all of them, of the trainings that patience ended."""
    found: dict[str, list[float]] = {}
    for run, result in results.items():
        if is_converged(result):
            found.setdefault(run.setting, []).append(round(main_score(result), 2))
    return {name: {"mean": round(mean(scores), 1), "scores": scores} for name, scores in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path, help="Folders of biLMs that pretrain_elmo.py wrote.")
    parser.add_argument("--work", type=Path, required=True, help="Folder of finished results.")
    parser.add_argument("--out", type=Path, help="The JSON file. Default: printed.")
    parser.add_argument("--only", choices=PARTS, help="Compute only this part. Default: both.")
    parser.add_argument("--tasks", nargs="*", choices=SETTINGS, default=["ner", "wikigold"], help="Tasks to train.")
    parser.add_argument("--seeds", type=int, default=2, help="Trainings of each task and biLM. Default: 2.")
    parser.add_argument("--sentences", type=int, help="Read only so many sentences of SemCor. Default: all.")
    parser.add_argument("--jobs", type=int, default=1, help="Trainings at a time.")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"), help="The device. Default: cpu.")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    runtime = Runtime.from_env(device=args.device)
    runs = {model: list_runs(model, args.tasks, args.seeds) for model in args.models}
    if args.only != "senses":
        gather([run for mine in runs.values() for run in mine], args.work, runtime, jobs=args.jobs)
    rows = []
    for model, mine in runs.items():
        after = load(model).metadata.get("perplexity", {}).get("after", {})
        row: dict[str, Any] = {"model": model.name, "perplexity": after}
        if args.only != "tasks":
            row["senses"] = measure_senses(model, args.work, runtime, args.sentences)
        row["tasks"] = summarize_tasks(gather(mine, args.work, runtime, start=False))
        rows.append(row)
    values = {"rows": rows, "tasks": args.tasks, "seeds": args.seeds, "device": args.device}
    text = json.dumps(values | {"versions": versions(), "commit": find_commit()}, indent=1)
    if args.out is None:
        print(text)
        return
    with atomic_file(args.out) as draft:
        draft.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
