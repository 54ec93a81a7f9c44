"""`firth.compat.kenlm` beside KenLM itself, where it is installed."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import firth
from firth.compat import kenlm as ours

kenlm = pytest.importorskip("kenlm")

TEXTS = ["strong tea and milk", "strong coffee", "hot tea and milk", "a strong wind and rain", "tea"] * 3
SENTENCES = ["strong tea", "a hot wind", "unseen tea and unseen milk", "", "strong </s> <s> hot", "<s> tea"]
# Names of KenLM's module that have no counterpart, with the reason.
UNSUPPORTED = {
    "Config": "options of KenLM's binary files",
    "LanguageModel": "the old name of Model",
    "EnumerateVocab": "model.model.vocabulary lists the words",
    "LoadMethod": "options of KenLM's binary files",
    "ARPALoadComplain": "options of KenLM's binary files",
}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    path: Path = tmp_path_factory.mktemp("kenlm") / "model.arpa"
    firth.save(firth.Ngram(order=3).fit(TEXTS), path)
    return ours.Model(path), kenlm.Model(str(path))


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("bos", [True, False])
@pytest.mark.parametrize("eos", [True, False])
def test_scores_are_those_of_kenlm(models: tuple[Any, Any], sentence: str, bos: bool, eos: bool) -> None:
    mine, theirs = (list(model.full_scores(sentence, bos, eos)) for model in models)
    assert [one[1:] for one in mine] == [tuple(one)[1:] for one in theirs]
    assert [one[0] for one in mine] == pytest.approx([one[0] for one in theirs], abs=1e-5)


@pytest.mark.parametrize("begin", ["BeginSentenceWrite", "NullContextWrite"])
def test_states_give_the_scores_of_kenlm(models: tuple[Any, Any], begin: str) -> None:
    totals = []
    for model, module in zip(models, (ours, kenlm)):
        before, after = module.State(), module.State()
        getattr(model, begin)(before)
        values = []
        for word in ["strong", "unseen", "tea", "and", "milk", "</s>"]:
            values.append(model.BaseScore(before, word, after))
            before, after = after, before
        totals.append(values)
    assert totals[0] == pytest.approx(totals[1], abs=1e-5)


def test_every_public_name_is_here_or_explained() -> None:
    names = {name for name in dir(kenlm) if name[0].isupper()}
    assert names - set(dir(ours)) <= set(UNSUPPORTED)


def write_pruned(path: Path, seed: int) -> Path:
    """A model that lacks n-grams which longer ones end with, as models of SRILM do."""
    rng, words = random.Random(seed), ["a", "b", "c", "d"]
    grams: list[list[tuple[str, ...]]] = [[(word,) for word in ("<unk>", "<s>", "</s>", *words)]]
    for count in (14, 6, 3):
        found = [(*gram, word) for gram in grams[-1] for word in (*words, "</s>") if not {"<unk>", "</s>"} & set(gram)]
        grams.append(sorted(rng.sample(found, min(count, len(found)))))
    lines = ["\\data\\", *(f"ngram {n}={len(one)}" for n, one in enumerate(grams, 1))]
    for n, one in enumerate(grams, 1):
        lines += ["", f"\\{n}-grams:"]
        for gram in one:
            value = -99.0 if gram == ("<s>",) else -round(rng.uniform(0.1, 3), 4)
            lines.append("\t".join([str(value), " ".join(gram), *([str(-round(rng.random(), 4))] * (n < len(grams)))]))
    path.write_text("\n".join([*lines, "", "\\end\\", ""]))
    return path


@pytest.mark.parametrize("seed", [1, 4, 7, 8])  # KenLM opens these; it has room for few added n-grams
def test_matches_in_a_pruned_model_are_as_long_as_those_of_kenlm(tmp_path: Path, seed: int) -> None:
    path = write_pruned(tmp_path / "pruned.arpa", seed)
    mine, theirs = ours.Model(path), kenlm.Model(str(path))
    assert mine.blanks
    rng = random.Random(seed)
    longer = 0
    for _ in range(100):
        words = [rng.choice(["a", "b", "c", "d", "d", "unseen"]) for _ in range(rng.randrange(7))]
        for bos, eos in ((True, True), (False, False)):
            found, expected = (list(model.full_scores(" ".join(words), bos, eos)) for model in (mine, theirs))
            assert [one[1:] for one in found] == [tuple(one)[1:] for one in expected]
            assert [one[0] for one in found] == pytest.approx([one[0] for one in expected], abs=1e-5)
            plain = [length for _, length, _ in mine.model.full_scores(words, bos=bos, eos=eos)]
            longer += plain != [one[1] for one in found]
        states = ours.State(), ours.State()
        mine.BeginSentenceWrite(states[0])
        lengths = []
        for word in words:
            lengths.append(mine.BaseFullScore(states[0], word, states[1]).ngram_length)
            states = states[1], states[0]
        assert lengths == [one[1] for one in theirs.full_scores(" ".join(words), True, False)]
    assert longer  # some matches end at n-grams that the file lacks
