"""The models that come with firth: small, opened by name from anywhere, and as good as their cards say."""

from __future__ import annotations

import importlib.util
import itertools
import lzma
import re
import shutil
import subprocess
import sys
from functools import partial
from importlib import resources
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import firth
from firth import evaluate
from firth.data import SETS
from firth.errors import OptionError
from firth.models.stop_words import ENGLISH_STOP_WORDS
from firth.pretrained import shipped
from firth.probes.separation import TABLES, read_sense_table
from firth.vectors.subwords import SubwordVectors
from firth.vectors.words import WordVectors

ROOT = Path(__file__).resolve().parents[2]
MOST = {"elmo-en": 32_000_000, "elmo-fa": 10_000_000}  # bytes
MOST_STATIC = 12_000_000  # of the English models together
VECTORS = [name for name in shipped.SHIPPED if not name.startswith(shipped.TASK)]  # for tasks: test_shipped_tasks.py
STATIC = [name for name in VECTORS if not name.startswith("elmo-")]
NAMES = [name for name in shipped.available() if name in VECTORS]
PERSIAN = "آابپتثجچحخدذرزژسشصضطظعغفقکگلمنوهی"


def import_script(name: str) -> ModuleType:
    """A module of scripts, which is not a package."""
    found = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert found is not None
    assert found.loader is not None
    made = importlib.util.module_from_spec(found)
    sys.modules[name] = made  # dataclasses look their module up
    found.loader.exec_module(made)
    return made


senses = import_script("senses")


def test_every_static_model_is_there() -> None:
    assert set(STATIC) <= set(NAMES)


def test_together_they_are_small() -> None:
    assert all(shipped.size(name) <= most for name, most in MOST.items())
    assert sum(shipped.size(name) for name in STATIC if name.endswith("-en")) <= MOST_STATIC


def test_they_are_found_as_data_of_the_package() -> None:
    package = resources.files("firth.pretrained")
    for name in NAMES:
        inside = {file.name for file in (package / name).iterdir()}
        assert inside == {"README.md", "config.json", "model.safetensors", "vocab.xz"}


@pytest.mark.parametrize("name", STATIC)
def test_a_static_model_opens_by_its_name(name: str) -> None:
    vectors = firth.load(name)
    assert isinstance(vectors, SubwordVectors if name.startswith("fasttext") else WordVectors)
    assert len(vectors) == {"fasttext-en": 45_000, "fasttext-fa": 12_000}.get(name, 50_000)
    assert vectors.dim == 100
    assert np.isfinite(vectors.matrix).all()
    assert vectors.metadata["recipe"]["dim"] == 100


def test_a_path_that_exists_comes_before_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    firth.save(WordVectors(["tea"], [[1.0]]), tmp_path / "word2vec-en")
    assert len(firth.load("word2vec-en")) > 1
    monkeypatch.chdir(tmp_path)
    assert firth.load("word2vec-en").vocabulary.words == ("tea",)


def test_an_unknown_name_suggests_a_similar_one_or_lists_all() -> None:
    with pytest.raises(OptionError, match=r"model of this name\. Did you mean 'word2vec-en'\?"):
        firth.load("word2vec_en")
    with pytest.raises(OptionError, match="There are: ") as error:
        firth.load("bert")
    assert all(name in str(error.value) for name in shipped.available())
    with pytest.raises(OptionError) as error:  # this was meant to be a file
        firth.load("models/bert")
    assert str(error.value) == "models/bert: no such file or folder"


def test_a_folder_that_may_not_be_written_to_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(shipped.HERE / "svd-en", tmp_path / "svd-en")
    for path in [*(tmp_path / "svd-en").iterdir(), tmp_path / "svd-en"]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    monkeypatch.setattr(shipped, "HERE", tmp_path)
    assert firth.load("svd-en").most_similar("king")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["svd-en"]
    (tmp_path / "svd-en").chmod(0o755)


def test_opening_a_name_needs_no_current_folder_and_no_torch() -> None:
    code = "import sys, firth; print(firth.load('svd-en').dim); assert 'torch' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd="/", check=True)
    assert done.stdout == "100\n"


@pytest.mark.parametrize("name", STATIC)
def test_the_scores_of_a_card_are_those_of_the_model(name: str, data: Path) -> None:
    vectors = firth.load(name)
    words = WordVectors(vectors.vocabulary, vectors.matrix)
    for model, told in ((words, "scores"), (vectors, "scores_with_unseen_words")):
        expected = vectors.metadata.get(told, {})
        pairs = [one for one in expected if SETS[one].task == "similarity"]
        assert pairs or told != "scores"
        for found in map(partial(evaluate.similarity, model), pairs):
            assert found.value == pytest.approx(expected[found.name]["value"], abs=1e-4)
            assert found.used == expected[found.name]["used"]


def test_france_is_to_paris_and_king_to_queen() -> None:
    vectors = firth.load("word2vec-en")
    assert vectors.analogy("Germany", "Berlin", "France", topn=1)[0][0] == "Paris"
    assert vectors.analogy("man", "king", "woman", topn=1)[0][0] == "queen"


def test_any_word_in_persian_letters_has_a_vector() -> None:
    vectors = firth.load("fasttext-fa")
    for letter in PERSIAN:
        for word in (letter, letter + "ژغثپ", "ژغثپ" + letter):
            assert word in vectors
            assert np.linalg.norm(vectors[word]) > 0


def test_nearly_any_english_word_has_a_vector(data: Path) -> None:
    vectors = firth.load("fasttext-en")
    with lzma.open(data / "data" / "corpora" / "wikitext103-test.tokens.xz", "rt", encoding="utf-8") as text:
        unseen = [word for word in sorted(set(text.read().split())) if word not in vectors.vocabulary]
    assert len(unseen) > 4000
    assert sum(word in vectors for word in unseen) > 0.94 * len(unseen)


@pytest.mark.parametrize(
    "name, word, relatives",
    [
        ("fasttext-en", "Wikipedian", {"Wikipedia"}),
        ("fasttext-en", "photosynthesizing", {"photosynthesis", "synthesis", "photosynthetic"}),
        ("fasttext-en", "disassembling", {"assembling", "disassembly", "assembly"}),
        ("fasttext-fa", "دانشگاه‌هایمان", {"دانشگاه", "دانشگاه‌های", "دانشگاه‌ها", "دانشگاهی"}),
    ],
)
def test_an_unseen_word_is_near_its_relatives(name: str, word: str, relatives: set[str]) -> None:
    vectors = firth.load(name)
    assert word not in vectors.vocabulary
    assert relatives & {near for near, _ in vectors.most_similar(word, topn=10)}


ENGLISH_GRAMMAR = set(ENGLISH_STOP_WORDS) | {"one", "two", "three", "every", "said", "nothing", "may", "did"}
PERSIAN_GRAMMAR = {
    "از",
    "او",
    "این",
    "با",
    "بر",
    "بود",
    "تا",
    "تو",
    "خود",
    "در",
    "را",
    "روی",
    "سر",
    "شد",
    "من",
    "نام",
    "و",
    "یک",
    "که",
    "است",
    "به",
    "هر",
    "کرد",
    "شدم",
    "می\u200cشود",
}


@pytest.mark.parametrize(
    "language, grammar, some",
    [("en", ENGLISH_GRAMMAR, {"bank", "play", "present"}), ("fa", PERSIAN_GRAMMAR, {"شیر", "بار", "گور"})],
)
def test_the_sentences_of_one_sense_share_no_word_of_content(language: str, grammar: set[str], some: set[str]) -> None:
    table = senses.read_sense_table(TABLES[language])
    assert len(table) >= 16
    assert some <= set(table)
    for word, by_sense in table.items():
        assert len(by_sense) == 2
        for sentences in by_sense.values():
            assert len(sentences) >= 2
            assert all(words[start:stop] == [word] for words, start, stop in sentences)
            for one, other in itertools.combinations(sentences, 2):
                common = {token.lower() for token in one.words} & {token.lower() for token in other.words}
                assert {token for token in common if token.isalnum()} - grammar - {word} == set()


@pytest.fixture(scope="module")
def bilm() -> Any:
    pytest.importorskip("torch")
    return firth.load("elmo-en")


@pytest.mark.parametrize("layer", ["top", "mix"])
def test_elmo_keeps_the_senses_of_words_apart(bilm: Any, layer: str) -> None:
    found = {one.word: one for one in senses.judge(bilm, layer)}
    assert all(found[word].passed for word in ("bank", "play", "present"))
    assert sum(one.passed for one in found.values()) >= 32
    assert senses.summary(list(found.values()))["nearest"] > 0.7


def test_persian_elmo_keeps_the_senses_of_words_apart() -> None:
    pytest.importorskip("torch")
    found = senses.judge(firth.load("elmo-fa"), "top", read_sense_table(TABLES["fa"]))
    assert sum(one.passed for one in found) >= 12


def test_elmo_without_context_keeps_none_apart(bilm: Any) -> None:
    assert senses.summary(senses.judge(bilm, 0))["passed"] == 0


def test_a_bag_of_context_keeps_senses_apart() -> None:
    pytest.importorskip("torch")
    found = senses.summary(senses.judge(firth.load("word2vec-en")))
    assert found["passed"] >= 30
    assert found["nearest"] > 0.75


def test_elmo_scores_predicts_and_generates(bilm: Any) -> None:
    likely, odd = bilm.score(["He drank a cup of tea .", "He drank a tea of cup ."])
    assert likely.per_word > odd.per_word
    assert "tea" in [word for word, _ in bilm.predict("He drank a cup of", ".", topn=20).forward]
    assert bilm.generate("The queen", length=12, seed=1) == bilm.generate("The queen", length=12, seed=1)


@pytest.mark.parametrize("name", MOST)
def test_elmo_lost_almost_nothing_by_its_int8_rows(name: str) -> None:
    page = shipped.card(name)
    for direction in ("forward", "backward"):
        trained, here = map(float, re.search(rf"perplexity, {direction} \| ([\d.]+) \| ([\d.]+)", page).groups())
        assert abs(here / trained - 1) < 0.01
