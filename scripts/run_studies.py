"""Runs the studies whose tables are in studies/results, in as many sittings as it takes.

    python scripts/run_studies.py --work WORK --out studies/results --device cuda --jobs 16 --minutes 25
    python scripts/run_studies.py --work WORK --check
    python scripts/run_studies.py --work WORK --stages small --bundle BUNDLE

The stages, in this order: `small` is Table 1 without questions, five seeds; `questions` is Table 1 of all of SQuAD;
`persian` is Table 1 of the Persian tasks; `layers` and `samples` have three seeds; `probes` are the probing studies. A
finished training is a line of WORK/runs.jsonl, and the others have checkpoints in WORK: after `--minutes` everything
stops, and the same command goes on. With `--out`, each sitting ends with the pages of what is finished; a count of it
is always printed. `--stages` and `--tasks` choose among the trainings, not among the pages, so that several machines
share a stage: names train on a CPU as quickly as beside 15 other trainings on a GPU.

`--check` only counts, and names packages, data files and models that are missing. It fails unless every training is
finished and was ended by patience, none by the limit of its epochs. `--quick` trains small networks on few examples,
to see that all commands work.

`--bundle` copies what stages need into a folder: the code, their data, their models, and the finished trainings. It
works on a machine without a network, a data folder or git. At most 64 MiB, or it is an error. Run it there, and copy
`work/runs.jsonl` back into WORK under any name that ends in `.jsonl`:

    cd BUNDLE && . ./settings
    python scripts/run_studies.py --work work --stages small --device cuda --jobs 16 --minutes 8.5

Trainings that are finished already lie in studies/runs. They are copied into WORK and not repeated; `--again` leaves
them out.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from firth.data import find_file
from firth.errors import FirthError, OptionError
from firth.formats.registry import load, save
from firth.pretrained import shipped
from firth.runtime import Runtime
from firth.show import terminal
from firth.studies.findings import find_commit
from firth.studies.probing.contexts import Contexts
from firth.studies.probing.play import Play
from firth.studies.probing.pos import PartsOfSpeech
from firth.studies.probing.representations import Representations
from firth.studies.probing.senses import Senses
from firth.studies.tasks.baselines import NOT_INSTALLED, PACKAGE, PUBLIC_GLOVE, make_public_glove, untrained_name
from firth.studies.tasks.layers import Layers
from firth.studies.tasks.runs import FILE, gather, is_converged, read_results
from firth.studies.tasks.samples import Samples
from firth.studies.tasks.settings import PERSIAN, SETTINGS
from firth.studies.tasks.study import TaskStudy
from firth.studies.tasks.table1 import Table1
from firth.studies.tasks.weights import LayerWeights
from firth.tasks.registry import find_task

QUESTIONS = "qa"
SMALL = tuple(name for name in Table1().tasks if name != QUESTIONS)
ROOT = Path(__file__).resolve().parents[1]
OVERLAPS = ROOT / "studies" / "results" / "overlap"
FINISHED = ROOT / "studies" / "runs"
CAPPED, MISSING = "ended by the limit of epochs", "missing"
STAGES = "small", "questions", "persian", "layers", "samples", "probes"
PACKAGES = "torch", "numpy", "scipy", "numba", "safetensors", "rich"  # that a training imports
LARGEST = 64 << 20  # bytes of a bundle
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
        "questions": Stage(Table1(tasks=(QUESTIONS,), **models), share=0.5),
        "persian": Stage(Table1(tasks=PERSIAN, elmo="elmo-fa", static="fasttext-fa")),
        "layers": Stage(Layers(**models)),
        "samples": Stage(Samples(**models)),
    }
    if quick:
        stages = {name: replace(stage, study=replace(stage.study, **QUICK)) for name, stage in stages.items()}
    return stages


def choose_stages(stages: Mapping[str, Stage], names: Sequence[str], tasks: Sequence[str]) -> dict[str, Stage]:
    """The stages with these names, less the tasks that were not chosen; no tasks are all of them."""
    chosen = {name: stages[name] for name in names if name in stages}
    if not tasks:
        return chosen
    kept = {name: tuple(one for one in stage.study.tasks if one in tasks) for name, stage in chosen.items()}
    return {
        name: replace(stage, study=replace(stage.study, tasks=kept[name]))
        for name, stage in chosen.items()
        if kept[name]
    }


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
    """How many trainings of a stage are finished, those that patience did not end, and what the others miss."""
    runs = list(dict.fromkeys(study.runs()))
    results = gather(runs, work, Runtime(1), start=False)
    capped = [run.key for run, result in results.items() if not is_converged(result)]
    missing = find_missing(study, work) if len(results) < len(runs) else []
    return {"trainings": len(runs), "finished": len(results), CAPPED: capped, MISSING: missing}


def list_files(study: TaskStudy) -> list[str]:
    """The data files of the tasks of a study, in the data folder."""
    settings = [SETTINGS[name] for name in study.tasks]
    parts = [part for one in settings for part in (*one.train, *one.dev, *one.test)]
    return sorted({f"data/tasks/{part.file.partition(':')[0]}" for part in parts})


def list_models(study: TaskStudy) -> list[str]:
    """The models of the trainings of a study, but for those that the study makes itself."""
    names = {name for run in study.runs() for names in (run.static, run.elmo) for name in (names or "").split("+")}
    return sorted(names - {"", PUBLIC_GLOVE, untrained_name(study.elmo)})


def uses_public_glove(study: TaskStudy) -> bool:
    """Whether trainings of a study have the public GloVe vectors."""
    return any(run.static == PUBLIC_GLOVE for run in study.runs())


def locate_model(name: str, work: Path) -> Path | None:
    """The folder of a model: in the work folder, at its path, or among those that come with firth."""
    try:
        paths = work / name, Path(shipped.locate(name))
    except OptionError:  # not in this installation
        return None
    return next((path for path in paths if path.exists()), None)


def copy_finished(finished: Path, work: Path) -> None:
    """Copies the finished trainings that come with the repository into the work folder."""
    for path in finished.glob("*.jsonl.xz"):
        shutil.copy2(path, work / path.name)


def find_missing(study: TaskStudy, work: Path) -> list[str]:
    """The packages, data files and models that the trainings of a study need, and that are not there."""
    missing = [f"package {name}" for name in PACKAGES if importlib.util.find_spec(name) is None]
    for file in list_files(study):
        try:
            find_file(file)
        except OptionError as error:
            missing.append(str(error))
    missing += [f"model {name}" for name in list_models(study) if locate_model(name, work) is None]
    is_there = (work / PUBLIC_GLOVE).exists() or importlib.util.find_spec(PACKAGE) is not None
    if uses_public_glove(study) and not is_there:
        missing.append(f"model {PUBLIC_GLOVE}: {NOT_INSTALLED}")
    return missing


def make_bundle(studies: Sequence[TaskStudy], work: Path, bundle: Path) -> int:
    """Copies what the trainings of studies need into a new folder; returns its size in bytes."""
    missing = [one for study in studies for one in find_missing(study, work)]
    if missing:
        raise OptionError("missing: " + "; ".join(dict.fromkeys(missing)))
    if bundle.exists():
        raise OptionError(f"{bundle}: exists already. Choose another name, or remove it")
    source, code, inside = ROOT / "src" / "firth", bundle / "src" / "firth", bundle / "work"
    skipped = shutil.ignore_patterns("__pycache__", *shipped.SHIPPED)
    shutil.copytree(source, code, ignore=skipped)
    (bundle / "scripts").mkdir()
    shutil.copy2(__file__, bundle / "scripts")
    inside.mkdir()
    for name in dict.fromkeys(name for study in studies for name in list_models(study)):
        path = locate_model(name, work)
        assert path is not None  # or it was missing
        shutil.copytree(path, (code / "pretrained" if name in shipped.SHIPPED else inside) / path.name)
    for file in dict.fromkeys(file for study in studies for file in list_files(study)):
        (bundle / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(find_file(file), bundle / file)
    english = [study for study in studies if uses_public_glove(study)]
    if english and make_public_glove(work):
        words = {word for study in english for word in read_words(study)}
        public = load(work / PUBLIC_GLOVE)
        found = sorted({spelled for word in words for spelled in (word, word.lower()) if spelled in public})
        save(public.restrict(found), inside / PUBLIC_GLOVE, precision="float16")
    keys, finished = {run.key for study in studies for run in study.runs()}, read_results(work)
    lines = [json.dumps(finished[key], ensure_ascii=False) + "\n" for key in sorted(keys & finished.keys())]
    (inside / FILE).write_text("".join(lines), encoding="utf-8")
    variables = {"PYTHONPATH": "src", "FIRTH_DATA": ".", "FIRTH_COMMIT": find_commit() or ""}
    settings = "".join(f"export {name}={value}\n" for name, value in variables.items())
    (bundle / "settings").write_text(settings, encoding="utf-8")
    size = sum(path.stat().st_size for path in bundle.rglob("*"))
    if size > LARGEST:
        shutil.rmtree(bundle)
        raise OptionError(
            f"the bundle has {size / 2**20:.1f} MiB, more than {LARGEST / 2**20:.0f}. Bundle fewer stages"
        )
    return size


def read_words(study: TaskStudy) -> set[str]:
    """All words of the examples of a study."""
    found = set[str]()
    for name in study.tasks:
        task = find_task(SETTINGS[name].task)(**SETTINGS[name].network)
        for which in ("train", "dev", "test"):
            for example in SETTINGS[name].examples(task, which):
                found.update(word for words in example.sentences for word in words)
    return found


def run_probes(out: Path, work: Path, runtime: Runtime, elmo: str, end: float, *, quick: bool) -> None:
    """Runs the probing studies; the models that are finished are not read again."""
    for study in PROBES:
        if time.monotonic() < end:
            chosen = replace(study.make_quick() if quick else study, elmo=elmo)
            chosen.run(work, runtime).write(out / study.name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="Folder of finished trainings and checkpoints.")
    parser.add_argument(
        "--out", type=Path, help="Folder of the pages; each study has a folder in it. Default: no pages."
    )
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=list(STAGES), help="Only these stages.")
    parser.add_argument("--tasks", nargs="+", choices=SETTINGS, default=[], help="Only these tasks. Default: all.")
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
    parser.add_argument("--again", action="store_true", help="Repeat the trainings of studies/runs.")
    parser.add_argument("--check", action="store_true", help="Train nothing; fail unless all trainings converged.")
    parser.add_argument("--bundle", type=Path, help="Train nothing; copy what the stages need into this new folder.")
    args = parser.parse_args()
    end = math.inf if args.minutes is None else time.monotonic() + 60 * args.minutes
    args.work.mkdir(parents=True, exist_ok=True)
    if not args.again:
        copy_finished(FINISHED, args.work)
    elmo, static = (str(args.work / name) if (args.work / name).is_dir() else name for name in (args.elmo, args.static))
    stages = make_stages(elmo, static, quick=args.quick)
    chosen = choose_stages(stages, args.stages, args.tasks)
    if args.bundle:
        try:
            size = make_bundle([stage.study for stage in chosen.values()], args.work, args.bundle)
        except FirthError as error:
            sys.exit(str(error))
        print(f"{args.bundle}: {size / 2**20:.1f} MiB")
        return
    failures = list[str]()
    if not args.check:
        failures = train(list(chosen.values()), args.work, Runtime.from_env(device=args.device), args.jobs, end)
    if args.out and not args.check:
        for name, study in make_pages(stages, args.overlap).items():
            if gather(study.runs(), args.work, Runtime(1), start=False):
                study.run(args.work, Runtime(1)).write(args.out / name)
        if "probes" in args.stages:
            run_probes(args.out, args.work, Runtime.from_env(device=args.device), elmo, end, quick=args.quick)
    counts = {name: count_runs(stage.study, args.work) for name, stage in chosen.items()}
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
