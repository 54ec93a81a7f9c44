"""A small data folder of our own, with a biLM that has random weights, for the probing studies."""

from __future__ import annotations

import json
import lzma
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from firth.formats.registry import save
from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.probes.sense_files import FRAMEWORK, SEMCOR, SETS
from firth.progress import silent
from firth.runtime import Runtime
from firth.studies.findings import Findings
from firth.studies.probing.pos import FILES
from firth.studies.study import Study

ACT, SHOW, GAME = "play%2:36:00::", "play%1:10:01::", "play%2:33:00::"
USES = [("We play chess", "VERB", GAME), ("They play Hamlet", "VERB", ACT), ("The play is long", "NOUN", SHOW)]


def write_xz(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress(text.encode()))


def make_semcor() -> str:
    rows = ["file\tsent\ttoken\tlemma\tpos\tsense_keys"]
    for number in range(36):
        words, pos, key = USES[number % 3]
        for word in words.split():
            tag = f"play\t{'VB' if pos == 'VERB' else 'NN'}\t{key}" if word == "play" else f"{word.lower()}\tDT\t_"
            rows.append(f"a{number:02}\t{number}\t{word}\t{tag}")
    return "\n".join(rows) + "\n"


def write_framework(path: Path) -> None:
    sentences, gold = [], []
    for number, name in enumerate(SETS):
        words, pos, key = USES[number % 3]
        id = f"{name}.d000.s000.t000"
        instances = [
            f'<instance id="{id}" lemma="play" pos="{pos}">{word}</instance>' if word == "play" else f"<wf>{word}</wf>"
            for word in words.split()
        ]
        sentences.append(f'<sentence id="{name}.d000.s000">{"".join(instances)}</sentence>')
        gold.append(f"{id} {key}")
    folder = path.parent / "ALL"
    folder.mkdir(parents=True)
    (folder / "ALL.data.xml").write_text(f"<corpus>{''.join(sentences)}</corpus>")
    (folder / "ALL.gold.key.txt").write_text("\n".join(gold))
    with tarfile.open(path, "w:xz") as archive:
        archive.add(folder, "ALL")


def make_conllu(sentences: int) -> str:
    text = []
    for number in range(sentences):
        text.append(f"# sent_id = {number}\n")
        words = ("We", "PRON", "PRP"), ("drink", "VERB", "VBP"), ("tea" if number % 2 else "rain", "NOUN", "NN")
        text += ["2-3\tdrinktea\t_\t_\t_\t_\t_\t_\t_\t_\n"] if number % 3 == 0 else []
        text += [f"{n}\t{w}\t{w}\t{u}\t{x}\t_\t0\troot\t_\t_\n" for n, (w, u, x) in enumerate(words, 1)]
        text.append("\n")
    return "".join(text)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with a little of everything, WordNet, and a biLM `tiny`."""
    place = tmp_path / "shared"
    write_xz(place / SEMCOR, make_semcor())
    write_framework(place / FRAMEWORK)
    for names in FILES.values():
        for name in names:
            write_xz(place / name, make_conllu(20))
    write_xz(place / "data/corpora/en-01.txt.xz", "They play cards .\nNo game .\n")
    context = place / "data/intrinsic/context"
    for part in ("train", "dev"):
        (context / "wic" / part).mkdir(parents=True)
        (context / "wic" / part / f"{part}.data.txt").write_text("play\tV\t1-1\tWe play .\tThey play .\n" * 4)
        (context / "wic" / part / f"{part}.gold.txt").write_text("T\nF\nT\nT\n")
    rows = [("We <b> drink </b> tea", "a <b> cup </b>", "5"), ("some <b> tea </b>", "the <b> king </b> .", "1")]
    numbers = "\t1" * 10
    scws = [f"{n}\tx\tn\ty\tn\t{one}\t{other}\t{mean}{numbers}\n" for n, (one, other, mean) in enumerate(rows)]
    (context / "scws.txt").write_text("".join(scws))
    names = "word1 word2 context1 context2 sim1 sim2 word1_context1 word2_context1 word1_context2 word2_context2"
    texts = (
        "We drank <strong>tea</strong> and <strong>milk</strong>.",
        "The <strong>tea</strong>, no <strong>milk</strong>.",
    )
    lines = ["\t".join(names.split())]
    for one, other in (("1", "3"), ("4", "2")):
        lines.append("\t".join(["tea", "milk", *texts, one, other, "tea", "milk", "tea", "milk"]))
    (context / "cosimlex-en.csv").write_text("\n".join(lines) + "\n")
    wordnet = tmp_path / "wordnet"
    wordnet.mkdir()
    (wordnet / "index.sense").write_text(f"{GAME} 1 1 0\n{ACT} 2 2 0\n{SHOW} 3 1 0\n")
    monkeypatch.setenv("FIRTH_DATA", str(place))
    monkeypatch.setenv("FIRTH_WORDNET", str(wordnet))
    save(BiLM(Architecture.named("tiny"), seed=1), tmp_path / "tiny")
    return tmp_path


@pytest.fixture
def run_study(folder: Path) -> Callable[[Study], Findings]:
    """Runs a study in the folder `work` and checks the form of its findings."""

    def run(study: Study) -> Findings:
        work = folder / "work"
        work.mkdir(exist_ok=True)
        found = study.run(work, Runtime(1), silent)
        json.dumps(dict(found.values))
        assert found.as_markdown()
        for chart in found.charts.values():
            assert len({len(series) for series in chart.series.values()}) == 1
        return found

    return run
