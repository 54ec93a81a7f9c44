"""Copies in the cache: partial downloads go on, and a changed file is copied again."""

from __future__ import annotations

import json
import multiprocessing
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from firth.errors import FirthError, MissingFile, RemoteError
from firth.formats.array_files import HEADER_BYTES
from firth.formats.registry import load, save
from firth.models.ngram import Ngram
from firth.remote import downloads
from firth.remote.downloads import cache_root, fetch, has_mark, list_files
from firth.remote.stores import look
from firth.text.corpus import Corpus
from firth.vectors.words import WordVectors

DATA = np.random.default_rng(0).bytes(1_000_000)
FILES = "config.json", "model.safetensors", "vocab"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    save(WordVectors(["tea", "rain"], [[1, 2], [3, 4]]), tmp_path / "model")
    return tmp_path / "model"


def serve(web: Any, folder: Path, name: str = "model") -> None:
    web.files |= {f"{name}/{path.name}": path.read_bytes() for path in folder.iterdir()}


def test_a_copy_is_made_once(web: Any) -> None:
    web.files["a.bin"] = DATA
    first = fetch(web.address("a.bin"))
    assert first.read_bytes() == DATA
    assert first.name == "a.bin"
    assert fetch(web.address("a.bin")) == first
    assert web.starts("a.bin") == [0]


def test_a_broken_download_goes_on_in_the_next_call(web: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firth.remote.streams.PAUSES", ())
    web.files["a.bin"] = DATA
    web.drop_after, web.drops = 600_000, 1
    with pytest.raises(RemoteError, match="the connection breaks before the end"):
        fetch(web.address("a.bin"))
    web.requests.clear()
    assert fetch(web.address("a.bin")).read_bytes() == DATA
    [start] = web.starts("a.bin")
    assert 0 < start <= 600_000


def test_a_broken_download_of_a_file_that_changed_starts_again(web: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firth.remote.streams.PAUSES", ())
    web.files["a.bin"] = DATA
    web.drop_after, web.drops = 600_000, 1
    with pytest.raises(RemoteError):
        fetch(web.address("a.bin"))
    web.files["a.bin"] = DATA[::-1]
    assert fetch(web.address("a.bin")).read_bytes() == DATA[::-1]


def test_a_changed_file_is_copied_again_and_the_old_copy_removed(memory: Any) -> None:
    memory.pipe_file("/a.bin", DATA)
    first = fetch("memory://a.bin")
    memory.pipe_file("/a.bin", DATA[::-1])
    second = fetch("memory://a.bin")
    assert second.read_bytes() == DATA[::-1]
    assert second != first
    assert not first.exists()


def test_a_damaged_copy_is_made_again(memory: Any) -> None:
    memory.pipe_file("/a.bin", DATA)
    fetch("memory://a.bin").write_bytes(DATA[:10])
    assert fetch("memory://a.bin").read_bytes() == DATA


def test_a_folder_is_a_model_once_its_config_is_there(memory: Any, model: Path) -> None:
    for name in FILES[1:]:
        memory.pipe_file(f"/m/{name}", (model / name).read_bytes())
    with pytest.raises(FirthError, match=r"no config\.json of a firth model"):
        load("memory://m")
    memory.pipe_file("/m/config.json", (model / "config.json").read_bytes())
    assert load("memory://m")["rain"].tolist() == [3, 4]


def test_files_that_did_not_change_are_not_copied_again(memory: Any, model: Path) -> None:
    for name in FILES:
        memory.pipe_file(f"/m/{name}", (model / name).read_bytes())
    first = fetch("memory://m")
    inode = (first / "model.safetensors").stat().st_ino
    memory.pipe_file("/m/README.md", b"a card")
    second = fetch("memory://m")
    assert (second / "README.md").read_bytes() == b"a card"
    assert (second / "model.safetensors").stat().st_ino == inode
    assert not first.exists()


def test_a_model_on_a_web_server_is_opened_by_the_address_of_its_folder(web: Any, model: Path, tmp_path: Path) -> None:
    serve(web, model)
    assert load(web.address("model"))["tea"].tolist() == [1, 2]
    assert load(web.address("model/"))["tea"].tolist() == [1, 2]
    save(WordVectors(["tea"], [[1, 2]]), tmp_path / "small", precision="int8")
    serve(web, tmp_path / "small", "small")
    assert load(web.address("small")).vocabulary.words == ("tea",)
    del web.files["small/model.safetensors"]
    with pytest.raises(MissingFile, match=r"model\.safetensors"):
        load(web.address("small"))


def test_a_model_of_several_files_is_opened_by_its_address(web: Any, tmp_path: Path) -> None:
    model = Ngram(order=2).fit(Corpus.of(["a cup of tea", "a cup of coffee"]))
    largest = max(array.nbytes for array in model.to_parts().arrays.values())
    save(model, tmp_path / "parts", file_bytes=largest + HEADER_BYTES)
    assert len(list((tmp_path / "parts").glob("*.safetensors"))) > 1
    serve(web, tmp_path / "parts", "parts")
    assert load(web.address("parts")).score(["a", "cup"]) == model.score(["a", "cup"])


@pytest.mark.parametrize(
    "config",
    [b"[]", b"{}", b"not json", b'{"vocabularies": 3}', b'{"vocabularies": [], "files": 0}', b"[" * 100_000],
)
def test_a_config_that_is_none_is_refused(web: Any, config: bytes) -> None:
    web.files["model/config.json"] = config
    with pytest.raises(RemoteError, match=r"is not the config\.json"):
        load(web.address("model"))


def test_names_in_a_config_cannot_lead_elsewhere(web: Any, model: Path) -> None:
    serve(web, model)
    config = json.loads(web.files["model/config.json"])
    web.files["model/config.json"] = json.dumps({**config, "vocabularies": ["../../etc/passwd"]}).encode()
    with pytest.raises(FirthError, match="invalid names of word lists"):
        load(web.address("model"))
    assert not any("passwd" in path for _, path, _ in web.requests)


def test_a_model_at_an_address_has_the_same_checks_as_a_file(web: Any, model: Path) -> None:
    serve(web, model)
    web.files["model/model.safetensors"] = b"\xff" * 100
    with pytest.raises(FirthError):
        load(web.address("model"))
    web.files["page"] = b"<!DOCTYPE html><html>Sign in</html>"
    with pytest.raises(FirthError):
        load(web.address("page"))


def test_a_download_that_does_not_fit_onto_the_disk_is_refused(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Usage(NamedTuple):
        free: int

    memory.pipe_file("/a.bin", DATA)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1000))
    with pytest.raises(RemoteError, match="has 1,000,000 bytes, but only 1,000 are free"):
        fetch("memory://a.bin")


def test_a_download_without_a_size_does_not_fill_the_disk(web: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Usage(NamedTuple):
        free: int

    left = iter([3 << 30, 2 << 30, *[(1 << 30) - 1] * 99])
    web.lengths, web.tags = False, False
    web.files["endless.vec"] = bytes(5 << 20)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(next(left)))
    with pytest.raises(RemoteError, match=r"has no size, and after .* bytes 1,073,741,824 are not free"):
        fetch(web.address("endless.vec"))
    assert sum(path.stat().st_size for path in cache_root().rglob("*") if path.is_file()) == 0


def test_a_folder_of_very_many_files_is_no_model(memory: Any, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(downloads, "MOST_FILES", 5)
    for name in FILES:
        memory.pipe_file(f"/m/{name}", (model / name).read_bytes())
    for number in range(4):
        memory.pipe_file(f"/m/{number}.bin", b"")
    with pytest.raises(RemoteError, match="more than a model has"):
        list_files("memory://m")


def fetch_in_process(address: str) -> str:
    return str(fetch(address))


def test_processes_that_need_the_same_model_download_it_once(web: Any, model: Path) -> None:
    serve(web, model)
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        places = pool.map(fetch_in_process, [web.address("model")] * 3)
    assert len(set(places)) == 1
    assert web.starts("model/model.safetensors") == [0]


def test_a_mark_is_found(memory: Any) -> None:
    memory.pipe_file("/a.json", b'{"library": "firth"}')
    memory.pipe_file("/b.json", b"{}")
    assert has_mark("memory://a.json")
    assert not has_mark("memory://b.json")


def test_models_in_an_object_store_are_downloaded_and_resumed(
    bucket: Any, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in FILES:
        bucket.pipe_file(f"firth/m/{name}", (model / name).read_bytes())
    assert load("s3://firth/m")["rain"].tolist() == [3, 4]
    bucket.pipe_file("firth/a.bin", DATA)
    asked: list[tuple[int, int]] = []
    whole = bucket.cat_file

    def cat_file(path: str, start: int, end: int) -> bytes:
        asked.append((start, end))
        if len(asked) == 3:
            raise PermissionError("revoked")
        return bytes(whole(path, start=start, end=end))

    monkeypatch.setattr(bucket, "cat_file", cat_file)
    with pytest.raises(RemoteError, match="access is refused"):
        fetch("s3://firth/a.bin")
    assert fetch("s3://firth/a.bin").read_bytes() == DATA
    assert asked[3][0] == asked[2][0] > 0
    assert look("s3://firth/a.bin").size == len(DATA)
