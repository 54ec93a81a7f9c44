"""Indexes of faiss and hnswlib with the real packages: recall against our exact search, words, files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import firth
from firth.errors import FormatError, OptionError
from firth.exchange import indexes
from firth.vectors.words import WordVectors

QUERIES = 200


def needs(engine: str) -> Any:
    return pytest.importorskip(engine, reason=f"needs {engine}")


@pytest.fixture(scope="module")
def vectors() -> WordVectors:
    loaded: WordVectors = firth.load("svd-en", limit=5000)
    return loaded


def recall(vectors: WordVectors, found: Any, count: int = QUERIES) -> float:
    """The share of the ten exact neighbors that an index finds, over the first words."""
    exact = vectors.search(vectors.matrix[:count], 10)[0]
    return float(np.mean([len(set(a) & set(b)) / 10 for a, b in zip(exact.tolist(), found[:count].tolist())]))


@pytest.mark.parametrize(
    "engine,kind,least", [("faiss", "flat", 0.9999), ("faiss", "hnsw", 0.99), ("hnswlib", "hnsw", 0.99)]
)
def test_a_saved_index_finds_what_the_exact_search_finds(
    vectors: WordVectors, tmp_path: Path, engine: Any, kind: Any, least: float
) -> None:
    needs(engine)
    vectors.save_index(tmp_path / "index", kind, engine=engine)
    stored = firth.open_index(tmp_path / "index")
    ids, cosines = stored.search(vectors.matrix[:QUERIES])
    assert recall(vectors, ids) >= least
    near = stored.most_similar(vectors["king"], topn=6)
    assert near[0][0] == "king"
    ours = dict(vectors.most_similar("king", topn=50))
    assert all(np.isclose(cosine, ours[word], atol=1e-5) for word, cosine in near[1:])
    assert cosines[0, 0] == pytest.approx(1, abs=1e-5)
    assert json.loads((tmp_path / "index" / "config.json").read_text())["engine"] == engine


def test_cells_find_most(vectors: WordVectors) -> None:
    needs("faiss")
    ids = vectors.to_faiss("ivf").search(indexes.unit_rows(vectors.matrix[:QUERIES]), 10)[1]
    assert recall(vectors, ids) >= 0.9
    with pytest.raises(OptionError, match="needs 39 words, but there are 3"):
        WordVectors(["a", "b", "c"], np.eye(3)).to_faiss("ivf")


def test_a_saved_graph_serves_most_similar(
    vectors: WordVectors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs("faiss")
    vectors.save_index(tmp_path / "index")
    ready = firth.load("svd-en", limit=5000).with_index(tmp_path / "index")
    monkeypatch.setattr("firth.vectors.search.FaissIndex.of", lambda _: pytest.fail("the graph was built again"))
    assert ready.most_similar("king", engine="faiss") == vectors.most_similar("king")
    with pytest.raises(OptionError, match="index of other words or dimensions"):
        firth.load("svd-en", limit=4000).with_index(tmp_path / "index")
    vectors.save_index(tmp_path / "flat", "flat")
    with pytest.raises(OptionError, match="of the kind flat of faiss, not a graph"):
        vectors.with_index(tmp_path / "flat")


def test_persian_words_and_a_row_of_zeros_are_kept(tmp_path: Path) -> None:
    needs("faiss")
    words = WordVectors(["چای", "کتاب\u200cها", "nothing"], [[1, 0], [0.8, 0.6], [0, 0]])
    words.save_index(tmp_path / "index", "flat")
    assert [word for word, _ in firth.open_index(tmp_path / "index").most_similar(words["چای"])] == list(words)


def damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("engine", ["faiss", "hnswlib"])
def test_a_damaged_index_never_reaches_the_engine(engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs(engine)
    WordVectors(["a", "b", "c"], np.eye(3)).save_index(tmp_path / "index", engine=engine)
    damage(tmp_path / "index" / indexes.FILES[engine])
    for name in ("import_name", "import_package"):
        monkeypatch.setattr(indexes, name, lambda *_: pytest.fail("the engine was asked"))
    with pytest.raises(FormatError, match="is missing or damaged"):
        firth.open_index(tmp_path / "index")


@pytest.mark.parametrize(
    "change,problem",
    [
        ({"engine": "evil"}, "names the engine 'evil'"),
        ({"engine": ["faiss"]}, r"names the engine \['faiss'\]"),
        ({"index": 3}, "the index '3', which firth does not know"),
        ({"dim": 2}, "has 3 vectors of 3, but the words are 3 of 2"),
        ({"kind": "word-vectors"}, "is no index that firth wrote"),
        ({"sha256": "0"}, "missing or damaged"),
    ],
)
def test_a_config_that_does_not_fit_is_an_error(change: dict[str, Any], problem: str, tmp_path: Path) -> None:
    needs("faiss")
    WordVectors(["a", "b", "c"], np.eye(3)).save_index(tmp_path / "index")
    path = tmp_path / "index" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(FormatError, match=problem):
        firth.open_index(tmp_path / "index")


def test_other_words_and_links_out_of_the_folder_are_refused(tmp_path: Path) -> None:
    needs("faiss")
    WordVectors(["a", "b", "c"], np.eye(3)).save_index(tmp_path / "index")
    (tmp_path / "index" / "vocab").write_text("a\nb\n")
    with pytest.raises(FormatError):
        firth.open_index(tmp_path / "index")
    (tmp_path / "outside").write_text("a\nb\nc\n")
    (tmp_path / "index" / "vocab").unlink()
    (tmp_path / "index" / "vocab").symlink_to(tmp_path / "outside")
    with pytest.raises(FormatError, match="a link out of the folder"):
        firth.open_index(tmp_path / "index")


def test_the_folder_of_an_index_is_no_model_and_is_replaced_by_a_new_index(tmp_path: Path) -> None:
    needs("faiss")
    small = WordVectors(["a", "b", "c"], np.eye(3))
    small.save_index(tmp_path / "index")
    with pytest.raises(FormatError, match="contains a 'neighbor-index', but only these are known"):
        firth.load(tmp_path / "index")
    small.save_index(tmp_path / "index", "flat")
    assert firth.open_index(tmp_path / "index").kind == "flat"
    with pytest.raises(FormatError, match="is no index"):
        firth.open_index(tmp_path)


@pytest.mark.parametrize(
    "wrong", [{"kind": "tree"}, {"engine": "annoy"}, {"kind": "flat", "engine": "hnswlib"}, {"m": 0}, {"m": -(10**30)}]
)
def test_wrong_kinds_are_errors(wrong: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(OptionError):
        WordVectors(["a"], np.eye(1)).save_index(tmp_path / "index", **wrong)
