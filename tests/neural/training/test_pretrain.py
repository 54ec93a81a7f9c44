"""Pretraining: losses, checkpoints, and the same result after a kill, in smaller parts or with early stopping."""

from __future__ import annotations

import errno
import itertools
import json
import math
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from firth.errors import Diverged, FormatError, OptionError
from firth.models.elmo import Elmo
from firth.neural.bilm import BiLM
from firth.neural.softmax import FullSoftmax, SampledSoftmax
from firth.neural.training.perplexity import HeldOutText
from firth.neural.training.pretrain import Pretraining, build_softmax
from firth.progress import Progress
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenfile import TokenFile
from firth.text.tokenize import Tokenizer
from firth.training import checkpoints as checkpoint_module
from firth.training.checkpoints import Checkpoints
from firth.training.monitor import Monitor

ONE = Runtime(1)
WORDS = ["the", "a", "king", "queen", "land", "rain", "tea", "rules", "drinks", "sees", "in", "old", "young", ".", ","]
SMALL = Elmo(
    preset="tiny",
    character_dim=3,
    filters=(1, 4, 2, 6),
    highways=1,
    cell=8,
    dim=6,
    batch=4,
    unroll=5,
    min_count=1,
    epochs=2,
    dropout=0.1,
    learning_rate=0.01,
    log_every=1,
)


def make_text(sentences: int = 60, seed: int = 1) -> TokenFile:
    rng = np.random.default_rng(seed)
    lines = [" ".join(rng.choice(WORDS, rng.integers(2, 9))) for _ in range(sentences)]
    return Corpus.of(["\n".join(lines)], tokenizer=Tokenizer(mode="whitespace")).tokens()


def make_training(recipe: Elmo = SMALL, tokens: TokenFile | None = None, **more: Any) -> Pretraining:
    tokens = tokens or make_text()
    return Pretraining(recipe.new(tokens), tokens, recipe.plan(ONE), ONE, **more)


def run_steps(made: Pretraining, steps: int = 6) -> list[float]:
    """The loss of each of the first steps."""
    found = []
    for batches in made.batches(0, steps):
        made._step(batches)
        found.append(float(made.pending[-1][0]))
    return found


# What is learnt


def test_the_loss_falls() -> None:
    lines = ["the old king rules the land .", "a young queen drinks tea in the rain ."] * 20
    tokens = Corpus.of(["\n".join(lines)], tokenizer=Tokenizer(mode="whitespace")).tokens()
    made = make_training(replace(SMALL, epochs=10, dropout=0.0), tokens)
    record = made.run()
    assert record.curve[0]["loss"] == pytest.approx(math.log(len(made.bilm.vocabulary or ())), rel=0.1)
    assert record.curve[-1]["loss"] < 0.3 * record.curve[0]["loss"]


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"encoder": "words"},
        {"softmax": "adaptive"},
        {"softmax": "sampled", "negatives": 5},
        {"packing": "streams"},
    ],
    ids=["characters", "words", "adaptive", "sampled", "streams"],
)
def test_a_batch_in_parts_gives_the_result_of_the_whole_batch(more: dict[str, Any]) -> None:
    at_once = run_steps(make_training(replace(SMALL, **more)))
    in_parts = run_steps(make_training(replace(SMALL, accumulation=3, **more)))
    assert in_parts == pytest.approx(at_once, rel=1e-5)


def test_a_small_vocabulary_is_not_sampled_from() -> None:
    tokens = make_text()
    bilm = SMALL.new(tokens)
    assert isinstance(build_softmax(bilm, replace(SMALL, softmax="sampled", negatives=5).plan(ONE)), SampledSoftmax)
    plain = build_softmax(bilm, replace(SMALL, softmax="sampled", negatives=10).plan(ONE))
    assert isinstance(plain, FullSoftmax)
    assert not isinstance(plain, SampledSoftmax)


# Held-out text


def compute_perplexity(bilm: BiLM, tokens: TokenFile) -> list[float]:
    """Both directions by a plain loop: one row, word after word, the state carried on."""
    words = tokens.vocabulary.words
    assert bilm.vocabulary is not None
    assert bilm.softmax is not None
    totals = [0.0, 0.0]
    count = 0
    with torch.no_grad():
        for direction, layers in enumerate((bilm.forward_layers, bilm.backward_layers)):
            states = [(torch.zeros(1, 8), torch.zeros(1, 6)) for _ in layers]
            for number in range(len(tokens.sentences) - 1):
                sentence = [words[id] for id in tokens.sentence(number)]
                sentence = ["<S>", *sentence, "</S>"][:: 1 - 2 * direction]
                for word, next_word in itertools.pairwise(sentence):
                    vector = bilm.encoder([word])
                    for depth, layer in enumerate(layers):
                        states[depth] = layer.step(vector, states[depth])
                        vector = states[depth][1] + vector if depth else states[depth][1]
                    target = bilm.vocabulary.find(next_word)
                    target = bilm.vocabulary.id("<UNK>") if target < 0 else target
                    totals[direction] -= float(bilm.softmax(vector)[0].log_softmax(0)[target])
                    count += 1
    return [math.exp(total / (count / 2)) for total in totals]


def test_held_out_perplexity_is_that_of_a_plain_loop() -> None:
    recipe = replace(SMALL, vocabulary=14)  # so that some words are unknown
    made = make_training(recipe)
    made.run()
    apart = make_text(7, seed=2)
    found = HeldOutText(made.bilm, made.softmax, apart, ONE, rows=1, steps=4).perplexity()
    expected = compute_perplexity(made.bilm, apart)
    assert [math.exp(found.forward_loss), math.exp(found.backward_loss)] == pytest.approx(expected, rel=1e-5)
    assert found.average == pytest.approx(math.sqrt(expected[0] * expected[1]), rel=1e-5)
    assert found.words == len(apart) + 7


def test_sentence_by_sentence_the_perplexity_is_that_of_scores_in_any_number_of_rows() -> None:
    made = make_training(replace(SMALL, softmax="adaptive"))
    made.run()
    apart = make_text(9, seed=2)
    words = apart.vocabulary.words
    scores = made.bilm.score([[words[id] for id in apart.sentence(number)] for number in range(9)])
    count = len(apart) + 9
    for rows in (1, 4, 50):
        found = HeldOutText(made.bilm, made.softmax, apart, ONE, rows=rows, steps=3, sentences=True).perplexity()
        assert found.forward_loss == pytest.approx(-sum(score.forward for score in scores) / count, rel=1e-5)
        assert found.backward_loss == pytest.approx(-sum(score.backward for score in scores) / count, rel=1e-5)


def test_the_best_weights_are_the_result_and_training_ends_when_nothing_gets_better() -> None:
    tokens, apart = make_text(), make_text(20, seed=2)
    recipe = replace(SMALL, epochs=60, learning_rate=0.03, patience=4, dropout=0.0)
    made = make_training(recipe, tokens, held_out=apart)
    record = made.run()
    assert record.step < 60 * made.streams.batches
    assert record.stale == 4
    best = min(look["average"] for look in record.held_out)
    assert record.held_out[-1]["average"] > best
    assert made.held_out is not None
    assert made.held_out.perplexity().average == pytest.approx(best, rel=1e-5)


def test_averaged_weights_are_evaluated_and_are_the_result() -> None:
    tokens, apart = make_text(), make_text(20, seed=2)
    plain, made = make_training(SMALL, tokens), make_training(replace(SMALL, averaging=3), tokens)
    history: list[dict[str, torch.Tensor]] = []
    for batches in made.batches(0, 5):
        made._step(batches)
        history.append({name: one.detach().clone() for name, one in made.parameters.items()})
    assert run_steps(plain, 5) == made_losses(made)  # averaging does not change the steps
    for at, name in enumerate(made.parameters):
        expected = history[0][name]
        for step, weights in enumerate(history):
            share = max(1 / 3, 10 / (step + 10))
            expected = expected + share * (weights[name] - expected)
        assert torch.allclose(made.average[at], expected, atol=1e-6)

    seen: list[float] = []

    def look(bilm: BiLM, line: Mapping[str, float]) -> None:
        found = HeldOutText(bilm, build_softmax(bilm, SMALL.plan(ONE)), apart, ONE, rows=4, steps=5, sentences=True)
        assert found.perplexity().average == pytest.approx(line["average"], rel=1e-5)
        seen.append(line["average"])

    made = make_training(replace(SMALL, averaging=3), tokens, held_out=apart, callback=look)
    record = made.run()
    assert seen == [line["average"] for line in record.held_out]
    assert made.held_out is not None
    assert made.held_out.perplexity().average == pytest.approx(min(seen), rel=1e-5)


def made_losses(made: Pretraining) -> list[float]:
    return [float(pair[0]) for pair in made.pending]


# Reports and log


def test_reports_and_the_log_have_the_progress(tmp_path: Path) -> None:
    seen: list[Progress] = []
    tokens = make_text()
    monitor = Monitor(seen.append, log=tmp_path / "log.jsonl")
    made = make_training(replace(SMALL, log_every=4), tokens, held_out=make_text(9, seed=2), monitor=monitor)
    made.run()
    assert seen[-1].done == seen[-1].total == 2 * made.streams.batches * 20
    assert {"loss", "perplexity", "rate", "norm", "memory", "held-out"} <= seen[-1].values.keys()
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    trained = [line for line in lines if "loss" in line]
    assert [line["step"] for line in trained][:3] == [4, 8, 12]
    assert all(line["tokens"] == 20 * line["step"] and line["tokens_per_second"] > 0 for line in trained)
    assert [line["step"] for line in lines if line.get("held_out")] == [
        0,
        made.streams.batches,
        2 * made.streams.batches,
    ]


# Checkpoints

RUN = """
import os, signal, sys
sys.path.insert(0, {tests!r})
from test_pretrain import *

def run(folder, kill, more):
    true = Pretraining._step
    def step(self, batches):
        if self.record.step == kill:
            os.kill(os.getpid(), signal.SIGKILL)
        true(self, batches)
    Pretraining._step = step
    monitor = Monitor(checkpoints=Checkpoints(folder, {{"a": 1}}), log=folder / "log.jsonl")
    made = make_training(replace(SMALL, save_every=3, **more), held_out=make_text(9, seed=2), monitor=monitor)
    made.run()
    torch.save(made.bilm.state_dict(), folder.with_suffix(".pt"))

make_training().streams.batch(0)  # compiles what children would have to compile each for itself
for name, more in MODELS.items():
    for folder, kill in (("whole", -1), ("killed", 2), ("killed", 8), ("killed", 26), ("killed", -1)):
        child = os.fork()  # a process of its own, without the wait for torch
        if child == 0:
            run(Path(sys.argv[1], f"{{name}}-{{folder}}"), kill, more)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == (0 if kill < 0 else -signal.SIGKILL)
"""
MODELS: dict[str, dict[str, Any]] = {
    "characters": {},
    "words": {"encoder": "words", "softmax": "sampled", "negatives": 5, "optimizer": "paper"},
    "averaged": {"averaging": 7, "cooldown": 0.3, "optimizer": "muon" if hasattr(torch.optim, "Muon") else "modern"},
}


def read_log(folder: Path) -> list[tuple[Any, ...]]:
    """The log without times."""
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    return [tuple(line.get(name) for name in ("step", "loss", "norm", "rate", "forward", "backward")) for line in lines]


def test_a_killed_run_goes_on_and_ends_in_the_same_bits(tmp_path: Path) -> None:
    """Killed before the first checkpoint, between two, and in the second epoch; the last run reaches the end."""
    code = RUN.format(tests=str(Path(__file__).parent))
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], env={**os.environ, "OMP_NUM_THREADS": "1"}, check=True)
    for name in MODELS:
        assert read_log(tmp_path / f"{name}-killed") == read_log(tmp_path / f"{name}-whole")
        assert len(read_log(tmp_path / f"{name}-whole")) > 30
        whole, killed = (torch.load(tmp_path / f"{name}-{how}.pt", weights_only=True) for how in ("whole", "killed"))
        for tensor in whole:
            assert torch.equal(whole[tensor], killed[tensor])


def make_resumable(folder: Path, tokens: TokenFile, identity: dict[str, Any] | None = None, **more: Any) -> Pretraining:
    monitor = Monitor(checkpoints=Checkpoints(folder, identity or {"a": 1}))
    return make_training(replace(SMALL, save_every=3, **more), tokens, monitor=monitor)


def test_an_interruption_keeps_the_state_and_the_next_run_goes_on(tmp_path: Path) -> None:
    tokens = make_text()
    whole = make_training(SMALL, tokens)
    whole.run()
    asked = iter([False] * 4 + [True] * 9)
    monitor = Monitor(checkpoints=Checkpoints(tmp_path, {}), is_interrupted=lambda: next(asked))
    first = make_training(SMALL, tokens, monitor=monitor)
    assert first.run().step == 5
    assert first.stopped
    second = make_training(SMALL, tokens, monitor=Monitor(checkpoints=Checkpoints(tmp_path, {})))
    second.run()
    for one, other in zip(whole.bilm.parameters(), second.bilm.parameters()):
        assert torch.equal(one, other)


def test_the_folder_holds_one_checkpoint_and_the_best_weights(tmp_path: Path) -> None:
    monitor = Monitor(checkpoints=Checkpoints(tmp_path, {}))
    made = make_training(replace(SMALL, save_every=3), held_out=make_text(9, seed=2), monitor=monitor)
    record = made.run()
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [f"best-{record.best_step}.safetensors", "config.json", f"state-{record.step}.safetensors"]


def test_a_full_disk_leaves_the_checkpoint_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = make_text()
    save = checkpoint_module.save_file
    written = 0

    def full_at_third(tensors: Any, path: Any, checksums: Any) -> None:
        nonlocal written
        written += 1
        if written == 3:
            Path(path).write_bytes(b"half")
            raise OSError(errno.ENOSPC, "No space left on device")
        save(tensors, path, checksums)

    monkeypatch.setattr(checkpoint_module, "save_file", full_at_third)
    with pytest.raises(OSError, match="No space left") as found:
        make_resumable(tmp_path, tokens).run()
    assert found.value.filename == str(tmp_path / "state-9.safetensors")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.json", "state-6.safetensors"]
    assert make_resumable(tmp_path, tokens).run().step == 2 * make_training(SMALL, tokens).streams.batches


def test_a_checkpoint_of_another_training_is_refused(tmp_path: Path) -> None:
    tokens = make_text()
    make_resumable(tmp_path, tokens, {"recipe": "elmo", "dim": 6}).run()
    with pytest.raises(OptionError, match=r"of another training: it differs in dim\. Choose another folder"):
        make_resumable(tmp_path, tokens, {"recipe": "elmo", "dim": 7}).run()
    (tmp_path / "config.json").write_text('{"kind": "bilm-checkpoint"}')
    with pytest.raises(FormatError, match="this version of firth cannot read"):
        make_resumable(tmp_path, tokens).run()
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(FormatError, match="is not JSON"):
        make_resumable(tmp_path, tokens).run()


def test_a_broken_checkpoint_is_an_error(tmp_path: Path) -> None:
    tokens = make_text()
    make_resumable(tmp_path, tokens).run()
    next(tmp_path.glob("state-*")).write_bytes(b"nothing")
    with pytest.raises(FormatError, match="cannot be read"):
        make_resumable(tmp_path, tokens).run()


# What goes wrong


def test_a_loss_that_is_no_number_ends_training_and_keeps_the_checkpoint_before(tmp_path: Path) -> None:
    tokens = make_text()
    made = make_resumable(tmp_path, tokens)
    true = made._gradients

    def broken(batches: Any) -> torch.Tensor:
        if made.record.step == 4:
            made.bilm.forward_layers[0].bias.data.fill_(math.nan)  # type: ignore[union-attr, operator]
        return true(batches)

    made._gradients = broken  # type: ignore[method-assign]
    with pytest.raises(Diverged, match=r"the loss is nan\. Use a learning rate below 0\.01"):
        made.run()
    assert json.loads((tmp_path / "config.json").read_text())["state"]["step"] == 3


def test_a_runaway_learning_rate_is_an_error() -> None:
    with pytest.raises(Diverged):
        make_training(replace(SMALL, learning_rate=1e6, clip=0.0, epochs=20)).run()


def test_a_gpu_out_of_memory_names_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_training()

    def full(batches: Any) -> torch.Tensor:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(made, "_gradients", full)
    with pytest.raises(OptionError, match=r"not enough memory for 4 rows of 5 tokens\..*accumulation=2"):
        made.run()


def test_a_batch_that_is_smaller_than_its_parts_is_refused() -> None:
    with pytest.raises(OptionError, match="4 rows cannot be split into 5 parts"):
        make_training(replace(SMALL, accumulation=5))


def test_minutes_end_a_training(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make_training(replace(SMALL, minutes=0.01))
    record = made.run()
    assert record.step > 0
    assert record.seconds >= 0.6
    assert record.curve[-1]["rate"] == pytest.approx(0.05 * 0.01, rel=0.2)
