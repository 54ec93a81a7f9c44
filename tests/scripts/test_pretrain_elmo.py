"""scripts/pretrain_elmo.py: the mixture of genres, and a training that ends in a model and its snapshots."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import firth

pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import torch

import pretrain_elmo as script
from corpus_files import list_files


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A corpus of three genres with its report and what `prepare` writes."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    shards = []
    for genre, count in (("encyclopedia", 1), ("books", 2), ("science", 3)):
        for number in range(count):
            name = f"{genre}-{number + 1:02}.txt"
            (folder / name).write_text(f"the {genre} is on the mat\nthe cat has a {genre}\n" * 20)
            shards.append({"genre": genre, "file": name})
    (folder / "report.json").write_text(json.dumps({"shards": shards}))
    (folder / "held-out.txt").write_text("the cat is on the mat\n" * 5)
    words = {"<S>": 12, "</S>": 11, "<UNK>": 10, "the": 8, "cat": 7, "mat": 6, "is": 5}
    firth.Vocabulary.from_counts(words).save(folder / "words.vocab")
    return folder


def test_the_mixture_repeats_genres_and_takes_parts_of_others(corpus: Path) -> None:
    names = [path.name for path in list_files(corpus, {"encyclopedia": 2.0, "books": 1.0, "science": 0.5})]
    assert names == [
        *["encyclopedia-01.txt"] * 2,
        *("books-01.txt", "books-02.txt"),
        *("science-01.txt", "science-02.txt"),
    ]


@pytest.mark.skipif(not hasattr(torch.optim, "Muon"), reason="Muon came with torch 2.9")
def test_a_training_leaves_the_model_and_its_snapshots(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = {"preset": "tiny", "filters": (), "vocabulary": 6, "batch": 4, "unroll": 6, "minutes": 0.04}
    tiny = replace(script.RECIPES["elmo-en"], **small)
    monkeypatch.setitem(script.RECIPES, "elmo-en", replace(tiny, evaluate_every=1))
    monkeypatch.setattr(script, "MIXTURE", {"books": 1.0})
    out = tmp_path / "model"
    options = ["--device", "cpu", "--snapshots", "0.01", "--save-every", "1000"]
    options += ["--learning-rate", "0.004", "--cooldown", "1"]
    arguments = ["elmo-en", "--corpus", str(corpus), "--out", str(out), *options]
    monkeypatch.setattr(sys, "argv", ["pretrain_elmo.py", *arguments])
    script.main()
    for folder in (out, tmp_path / "model-1s"):
        bilm = firth.load(folder)
        assert bilm.vocabulary.words == ("<S>", "</S>", "<UNK>", "the", "cat", "mat")
        after = bilm.metadata["perplexity"]["after"]
        assert after["step"] > 0
        assert 1 < after["average"] < 100
    recipe = firth.load(out).metadata["recipe"]
    assert (recipe["learning_rate"], recipe["cooldown"], recipe["save_every"]) == (0.004, 1.0, 1000)
