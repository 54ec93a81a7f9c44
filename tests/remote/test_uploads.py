"""Uploads: whole or not at all, the mark of a folder last."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firth.bulk.embed_file import embed_file
from firth.bulk.index import index_file
from firth.errors import FirthError, OptionError, RemoteError
from firth.files import atomic_file, atomic_folder, check_output, write_bytes
from firth.formats.registry import load, save
from firth.models.word2vec import Word2Vec
from firth.remote.uploads import check_writable, staging_path
from firth.text.corpus import Corpus
from firth.text.vocabulary import Vocabulary
from firth.vectors.words import WordVectors

VECTORS = WordVectors(["tea", "rain"], [[1, 2], [3, 4]])


@pytest.fixture
def written(memory: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that appear in the store, in their order."""
    names: list[str] = []
    copy = type(memory).cp_file

    def cp_file(store: Any, source: str, target: str, **more: Any) -> None:
        names.append(target)
        copy(store, source, target, **more)

    monkeypatch.setattr(type(memory), "cp_file", cp_file)
    return names


@pytest.mark.parametrize("name", ["m", "a.bin", "a.vec", "a.txt.gz", "a.glove", "a.w2v.xz"])
def test_what_is_saved_at_an_address_is_loaded_from_there(memory: Any, name: str) -> None:
    save(VECTORS, f"memory://models/{name}")
    assert load(f"memory://models/{name}")["rain"].tolist() == [3, 4]
    assert load(Path("memory://models") / name)["rain"].tolist() == [3, 4]
    assert not [path for path in memory.find("/") if "part" in path]


def test_the_config_of_a_folder_appears_last(memory: Any, written: list[str]) -> None:
    save(VECTORS, "memory://m")
    assert sorted(memory.find("/m")) == ["/m/config.json", "/m/model.safetensors", "/m/vocab"]
    assert written[-1] == "/m/config.json"


def test_a_model_is_replaced_and_its_old_files_are_removed(memory: Any, written: list[str]) -> None:
    save(VECTORS, "memory://m", precision="int8")
    assert "/m/vocab.xz" in memory.find("/m")
    save(VECTORS, "memory://m")
    assert sorted(memory.find("/m")) == ["/m/config.json", "/m/model.safetensors", "/m/vocab"]
    assert load("memory://m")["tea"].tolist() == [1, 2]


def test_a_folder_that_is_being_replaced_is_absent(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    save(VECTORS, "memory://m")
    move = type(memory).mv

    def fail(store: Any, source: str, target: str, **more: Any) -> None:
        if target.endswith("vocab"):
            raise PermissionError("revoked")
        move(store, source, target, **more)

    monkeypatch.setattr(type(memory), "mv", fail)
    with pytest.raises(RemoteError, match=r"access is refused \(revoked\).*What was to be written is in"):
        save(WordVectors(["fog"], [[5, 6]]), "memory://m")
    with pytest.raises(FirthError, match=r"no config\.json"):
        load("memory://m")
    kept = load(staging_path("memory://m"))
    assert kept.vocabulary.words == ("fog",)


def test_a_failure_leaves_no_object_and_no_draft(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise PermissionError("no")

    monkeypatch.setattr(type(memory), "mv", fail)
    with pytest.raises(RemoteError, match="access is refused"), write_bytes("memory://a.txt") as file:
        file.write(b"tea")
    assert memory.find("/") == []


def test_nothing_is_uploaded_when_writing_fails(memory: Any) -> None:
    def write_half() -> None:
        with atomic_file("memory://a.txt") as draft:
            draft.write_text("half")
            raise ZeroDivisionError

    def write_half_a_folder() -> None:
        with atomic_folder("memory://m") as folder:
            (folder / "config.json").write_text("half")
            raise ZeroDivisionError

    for write in (write_half, write_half_a_folder):
        with pytest.raises(ZeroDivisionError):
            write()
    assert memory.find("/") == []


def test_a_failure_that_passes_is_tried_again(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    failures = iter([ConnectionResetError(), TimeoutError()])
    move = type(memory).mv

    def unreliable(store: Any, *paths: str, **more: Any) -> None:
        error = next(failures, None)
        if error is not None:
            raise error
        move(store, *paths, **more)

    monkeypatch.setattr(type(memory), "mv", unreliable)
    save(VECTORS, "memory://m")
    assert load("memory://m")["tea"].tolist() == [1, 2]


def test_a_folder_with_other_files_is_not_replaced(memory: Any) -> None:
    memory.pipe_file("/m/photo.jpg", b"x")
    for use in (lambda: save(VECTORS, "memory://m"), lambda: check_output("memory://m")):
        with pytest.raises(OptionError, match="contains other files"):
            use()
    memory.pipe_file("/a", b"x")
    with pytest.raises(OptionError, match="is a file, but the output is a folder"):
        save(VECTORS, "memory://a")
    with pytest.raises(OptionError, match="is a folder, but the output is a file"), atomic_file("memory://m"):
        pass


def test_the_web_is_not_written_to() -> None:
    for use in (lambda: save(VECTORS, "https://example.com/m"), lambda: check_writable("http://example.com/m")):
        with pytest.raises(OptionError, match="can be read, but not written"):
            use()


def test_a_model_is_trained_from_and_to_addresses(memory: Any) -> None:
    memory.pipe_file("/texts/a.txt", b"hot tea and cold rain\n" * 50)
    vectors = Word2Vec(dim=4, min_count=1, epochs=1).fit(Corpus("memory://texts"))
    save(vectors, "memory://models/w")
    assert np.array_equal(load("memory://models/w")["tea"], vectors["tea"])
    vectors.vocabulary.save("memory://vocab")
    assert Vocabulary.load("memory://vocab").words == vectors.vocabulary.words


@pytest.mark.parametrize("name", ["a.safetensors", "a.hdf5"])
def test_embeddings_are_written_to_an_address(memory: Any, tmp_path: Path, name: str) -> None:
    memory.pipe_file("/a.txt", b"tea rain\nrain\n")
    (tmp_path / "a.txt").write_bytes(b"tea rain\nrain\n")
    done = embed_file(VECTORS, "memory://a.txt", f"memory://{name}")
    assert done.path == f"memory://{name}"
    embed_file(VECTORS, tmp_path / "a.txt", tmp_path / name)
    local = tmp_path / name
    expected = {path.name: path.read_bytes() for path in (local.iterdir() if local.is_dir() else [local])}
    assert {path.rpartition("/")[2]: memory.cat_file(path) for path in memory.find(f"/{name}")} == expected
    assert not staging_path(f"memory://{name}").parent.exists()


def test_embedding_to_an_address_resumes(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"".join(b"tea rain %d\n" % number for number in range(300))
    memory.pipe_file("/a.txt", text)
    with monkeypatch.context() as broken:
        broken.setattr("firth.bulk.shards.ShardWriter.finish", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            embed_file(VECTORS, "memory://a.txt", "memory://a.safetensors", block_tokens=100)
    assert memory.find("/a.safetensors") == []
    done = embed_file(VECTORS, "memory://a.txt", "memory://a.safetensors", block_tokens=100)
    assert (done.resumed, done.sentences) == (300, 300)
    assert "/a.safetensors/index.json" in memory.find("/a.safetensors")


def test_an_index_is_written_to_an_address(memory: Any) -> None:
    memory.pipe_file("/a.txt", b"tea rain\nrain\n")
    made = index_file(VECTORS, "memory://a.txt", "memory://i", dtype="float32")
    assert len(made) == 3
    assert made.nearest(np.array([3.0, 4.0], np.float32), 1)[0].word == "rain"
    assert len(load("memory://i")) == 3


def test_models_are_written_to_an_object_store(bucket: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    save(VECTORS, "s3://firth/models/m")
    save(VECTORS, "s3://firth/models/m", precision="int8")
    assert sorted(bucket.find("firth/models/m")) == [
        f"firth/models/m/{name}" for name in ("config.json", "model.safetensors", "vocab.xz")
    ]
    assert load("s3://firth/models/m").vocabulary.words == ("tea", "rain")
    save(VECTORS, "s3://firth/models/a.bin")
    assert load("s3://firth/models/a.bin")["rain"].tolist() == [3, 4]


def test_a_multipart_upload_that_breaks_leaves_no_object(
    bucket: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = pytest.importorskip("s3fs.core")
    if not hasattr(core, "calculate_chunksize"):
        pytest.skip("this s3fs takes its own size of parts")
    monkeypatch.setattr(core, "calculate_chunksize", lambda *_, **__: 5 << 20)
    call, parts = type(bucket)._call_s3, []

    async def break_second(store: Any, method: str, *arguments: Any, **more: Any) -> Any:
        if method == "upload_part":
            parts.append(more["PartNumber"])
            if more["PartNumber"] == 2:
                raise PermissionError("revoked")
        return await call(store, method, *arguments, **more)

    monkeypatch.setattr(type(bucket), "_call_s3", break_second)
    with pytest.raises(RemoteError, match="access is refused"), atomic_file("s3://firth/large.bin") as draft:
        draft.write_bytes(bytes(12 << 20))
    assert 2 in parts
    assert bucket.find("firth") == []
    monkeypatch.undo()
