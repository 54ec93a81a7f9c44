"""`from_pretrained` and `push_to_hub`: a local folder, and a fake hub with the real huggingface_hub."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import firth
from firth.errors import FormatError, OptionError, RemoteError
from firth.files import open_bytes
from firth.hub.repository import HubAddress, from_pretrained, push_to_hub
from firth.remote import stores
from firth.text.subwords import Subwords
from firth.text.vocabulary import Vocabulary
from firth.vectors.subwords import SubwordVectors
from firth.vectors.words import WordVectors

TEA = WordVectors(Vocabulary(["the", "tea", "rain"], [9, 3, 1]), [[1, 0], [0.9, 0.1], [0, 1]], metadata={"tea": True})


def files_of(model: Any, folder: Path, **options: Any) -> dict[str, bytes]:
    firth.save(model, folder / "saved", **options)
    return {path.name: path.read_bytes() for path in (folder / "saved").iterdir()}


def assert_same(one: WordVectors, other: WordVectors) -> None:
    assert one.vocabulary.words == other.vocabulary.words
    assert one.vocabulary.counts.tolist() == other.vocabulary.counts.tolist()
    assert np.array_equal(one.matrix, other.matrix)
    assert one.metadata == other.metadata


def test_a_local_folder_is_opened_without_the_hub(tmp_path: Path) -> None:
    firth.save(TEA, tmp_path / "tea")
    assert_same(from_pretrained(tmp_path / "tea"), TEA)
    firth.save(TEA, tmp_path / "several" / "tea.vec")
    assert from_pretrained(tmp_path / "several", file="tea.vec")["rain"].tolist() == [0, 1]
    with pytest.raises(OptionError, match="is not in the folder"):
        from_pretrained(tmp_path / "tea", file="../several/tea.vec")


@pytest.mark.parametrize("options", [{}, {"precision": "float16"}])
def test_a_repository_in_our_format_is_fetched_and_opened(hub: Any, tmp_path: Path, options: dict[str, Any]) -> None:
    hub.add("ada/tea", {**files_of(TEA, tmp_path, **options), "README.md": b"# Tea", "evil.py": b"import os"})
    opened = from_pretrained("ada/tea")
    assert opened.vocabulary.words == TEA.vocabulary.words
    assert np.allclose(opened.matrix, TEA.matrix, atol=1e-3)
    asked = {line.rpartition("/")[2] for line in hub.requests if "/resolve/" in line}
    assert "evil.py" not in asked
    assert "README.md" in asked


def test_what_was_pushed_is_what_is_opened(hub: Any) -> None:
    address = push_to_hub(TEA, "ada/tea", license="CC BY 4.0", language=["en", "no"], tags=["hot"], token=hub.TOKEN)
    assert address.startswith(f"{hub.address}/ada/tea/commit/")
    repository = hub.repositories["ada/tea"]
    assert not repository.private
    assert set(repository.files("main")) == {"README.md", "config.json", "model.safetensors", "vocab"}
    card = repository.files("main")["README.md"].decode()
    assert 'firth.from_pretrained("ada/tea")' in card
    assert_same(firth.from_pretrained("ada/tea"), TEA)
    assert_same(firth.load("hf://ada/tea"), TEA)


@pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")  # huggingface_hub calls its client so
def test_a_large_file_goes_through_the_protocol_of_large_files(hub: Any) -> None:
    rows = np.random.default_rng(3).normal(size=(500, 20)).astype(np.float32)
    big = WordVectors(Vocabulary([f"w{i}" for i in range(500)], range(500, 0, -1)), rows)
    push_to_hub(big, "ada/big", token=hub.TOKEN)
    assert any(line.startswith("PUT /large/") for line in hub.requests)
    assert_same(firth.from_pretrained("ada/big"), big)


def test_a_private_repository_needs_the_token(hub: Any) -> None:
    push_to_hub(TEA, "ada/secret", private=True, token=hub.TOKEN)
    assert hub.repositories["ada/secret"].private
    with pytest.raises(OptionError, match=r"ada/secret: no such repository, or a private one\. .* pass a token"):
        firth.from_pretrained("ada/secret")
    assert_same(firth.from_pretrained("ada/secret", token=hub.TOKEN), TEA)


def test_revisions_are_branches_and_commits(hub: Any) -> None:
    first = push_to_hub(TEA, "ada/tea", token=hub.TOKEN).rpartition("/")[2]
    other = WordVectors(Vocabulary(["milk"], [1]), [[5.0, 5.0]])
    push_to_hub(other, "ada/tea", token=hub.TOKEN)
    push_to_hub(TEA, "ada/tea", token=hub.TOKEN, revision="draft")
    assert list(firth.from_pretrained("ada/tea")) == ["milk"]
    assert_same(firth.from_pretrained("ada/tea", revision=first), TEA)
    assert_same(firth.load("hf://ada/tea@draft"), TEA)
    with pytest.raises(OptionError, match="at revision nothing: the repository has no such revision"):
        firth.from_pretrained("ada/tea", revision="nothing")


def test_a_second_upload_leaves_no_word_list_of_the_first(hub: Any) -> None:
    push_to_hub(TEA, "ada/tea", token=hub.TOKEN, precision="float16")
    assert "vocab.xz" in hub.repositories["ada/tea"].files("main")
    other = WordVectors(Vocabulary(["milk"], [1]), [[5.0, 5.0]])
    push_to_hub(other, "ada/tea", token=hub.TOKEN)
    assert set(hub.repositories["ada/tea"].files("main")) == {"README.md", "config.json", "model.safetensors", "vocab"}
    assert list(firth.from_pretrained("ada/tea")) == ["milk"]


def test_offline_uses_the_cache_only(hub: Any, tmp_path: Path) -> None:
    push_to_hub(TEA, "ada/tea", token=hub.TOKEN)
    with pytest.raises(OptionError, match="is not in the cache"):
        firth.from_pretrained("ada/tea", offline=True, cache=tmp_path / "mine")
    firth.from_pretrained("ada/tea", cache=tmp_path / "mine")
    hub.requests.clear()
    assert_same(firth.from_pretrained("ada/tea", offline=True, cache=tmp_path / "mine"), TEA)
    assert hub.requests == []
    assert (tmp_path / "mine").is_dir()


def test_without_a_connection_the_cache_is_used_and_a_new_model_is_an_error(
    hub: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants, file_download, hf_api

    monkeypatch.setattr(time, "sleep", lambda _: None)  # the pauses between tries
    push_to_hub(TEA, "ada/tea", token=hub.TOKEN)
    firth.from_pretrained("ada/tea")
    nobody = "http://127.0.0.1:9"
    values = {"ENDPOINT": nobody, "HUGGINGFACE_CO_URL_TEMPLATE": nobody + "/{repo_id}/x/{revision}/{filename}"}
    for name, value in values.items():
        for module in (constants, *(one for one in (file_download, hf_api) if name in vars(one))):
            monkeypatch.setattr(module, name, value)
    assert_same(firth.from_pretrained("ada/tea"), TEA)
    with pytest.raises(OptionError, match="no connection to the hub"):
        firth.from_pretrained("ada/other")


def test_a_fasttext_model_of_the_hub_is_opened_and_a_pickle_is_not(hub: Any, tmp_path: Path) -> None:
    rows = np.random.default_rng(1).normal(size=(13, 4)).astype(np.float32)
    model = SubwordVectors(Vocabulary(["</s>", "tea", "rain"], [5, 4, 1]), rows, Subwords(3, 3, 10))
    firth.save(model, tmp_path / "model.bin")
    code = pickle.dumps(print)
    hub.add("facebook/vectors", {"model.bin": (tmp_path / "model.bin").read_bytes(), "README.md": b"x", "a.pkl": code})
    opened = firth.from_pretrained("facebook/vectors")
    assert np.allclose(opened["teapot"], model["teapot"])
    hub.add("eve/pickle", {"model.pkl": code, "pytorch_model.bin": code, "README.md": b""})
    with pytest.raises(OptionError, match=r"contains no model that firth opens, only model\.pkl, pytorch_model\.bin"):
        firth.from_pretrained("eve/pickle")
    hub.add("eve/renamed", {"vectors.vec": code})
    with pytest.raises(FormatError, match="is a Python pickle, which could run any code and is never opened"):
        firth.from_pretrained("eve/renamed")


def test_of_several_files_one_must_be_named(hub: Any, tmp_path: Path) -> None:
    hub.add("ada/texts", {"en.vec": b"1 2\ntea 1 2\n", "fa.vec": "1 2\nچای 3 4\n".encode(), "sub/x.vec": b"1 1\na 1\n"})
    with pytest.raises(OptionError, match=r"several files of vectors \(en\.vec, fa\.vec\)\. Name one: file='en\.vec'"):
        firth.from_pretrained("ada/texts")
    assert firth.from_pretrained("ada/texts", file="fa.vec")["چای"].tolist() == [3, 4]
    assert firth.load("hf://ada/texts/sub/x.vec")["a"].tolist() == [1]
    for wrong in ("../en.vec", "/etc/passwd.vec", "a.py"):
        with pytest.raises(OptionError, match=r"is no file of a repository|no ending of firth's formats"):
            firth.from_pretrained("ada/texts", file=wrong)


@pytest.mark.parametrize("lists", [["../../secret"], ["vocab", "x/y"], "vocab", [3]])
def test_a_config_cannot_name_files_elsewhere(hub: Any, tmp_path: Path, lists: Any) -> None:
    files = files_of(TEA, tmp_path)
    config = json.loads(files["config.json"]) | {"vocabularies": lists}
    hub.add("eve/tea", {**files, "config.json": json.dumps(config).encode()})
    with pytest.raises(FormatError, match="invalid names of word lists"):
        firth.from_pretrained("eve/tea")


def test_a_repository_that_lacks_a_file_is_an_error(hub: Any, tmp_path: Path) -> None:
    files = files_of(TEA, tmp_path)
    del files["model.safetensors"]
    hub.add("ada/half", files)
    with pytest.raises(OptionError, match="lacks a file of the model"):
        firth.from_pretrained("ada/half")


def test_without_a_token_nothing_is_pushed(hub: Any) -> None:
    with pytest.raises(OptionError, match="ada/tea"):
        push_to_hub(TEA, "ada/tea", token=False)
    assert hub.repositories == {}


@pytest.mark.parametrize("name", ["tea", "a/b/c", "../x", "owner/", "https://host/owner/name"])
def test_what_is_no_repository_is_an_error(name: str) -> None:
    with pytest.raises(OptionError, match="such as owner/name"):
        from_pretrained(name)
    with pytest.raises(OptionError, match="Use owner/name"):
        push_to_hub(TEA, name)


def test_addresses_have_a_repository_a_revision_and_a_file() -> None:
    assert HubAddress.parse("hf://a/b") == ("a/b", None, None)
    assert HubAddress.parse("hf://a/b/c/d.vec") == ("a/b", None, "c/d.vec")
    for wrong in ("hf://a", "hf:///b", "hf://../b", "hf://a/b@"):
        with pytest.raises(OptionError, match="is no address of a model"):
            HubAddress.parse(wrong)


def test_the_variables_of_the_hub_are_those_of_a_command(hub: Any, tmp_path: Path) -> None:
    """In a process of its own, with HF_ENDPOINT and HF_HOME as a user sets them."""
    push_to_hub(TEA, "ada/tea", token=hub.TOKEN)
    mine = {"HF_ENDPOINT": hub.address, "HF_HOME": str(tmp_path / "home"), "HF_HUB_DISABLE_XET": "1"}
    command = [sys.executable, "-m", "firth", "neighbors", "hf://ada/tea", "tea", "--json"]
    done = subprocess.run(command, env={**os.environ, **mine}, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["neighbors"][0]["word"] == "the"
    card = subprocess.run(
        [sys.executable, "-m", "firth", "card", "hf://ada/tea"],
        env={**os.environ, **mine, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert 'firth.from_pretrained("ada/tea")' in card.stdout


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(firth.FirthError, match=r"pip install 'firth\[hub\]'"):
        from_pretrained("ada/tea")


def test_an_elmo_model_of_the_hub_is_opened(hub: Any, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("h5py")
    from firth.neural.architecture import Architecture

    bilm = firth.BiLM(Architecture.named("tiny"))
    firth.save(bilm, tmp_path / "elmo", format="elmo")
    files = {path.name: path.read_bytes() for path in (tmp_path / "elmo").iterdir()}
    hub.add("ada/elmo", {**files, "README.md": b"# ELMo", "run.py": b"import os"})
    opened = firth.load("hf://ada/elmo")
    assert np.allclose(opened.embed([["hot", "tea"]])[0], bilm.embed([["hot", "tea"]])[0], atol=1e-6)
    assert not any(line.endswith("run.py") for line in hub.requests)


def test_a_text_in_a_repository_is_streamed_and_its_change_is_noticed(hub: Any) -> None:
    pytest.importorskip("fsspec")
    text = b"hot tea in the cold rain\n" * 8000  # more than one block
    repository = hub.add("ada/texts", {"sub/a.txt": text})
    stores._open_store.cache_clear()
    try:
        assert len(firth.Corpus("hf://ada/texts/sub/a.txt").tokens()) == 6 * 8000
        assert sum("/resolve/" in line for line in hub.requests) > 1
        with open_bytes("hf://ada/texts/sub/a.txt") as file:
            file.read(100)
            repository.commit({"sub/a.txt": text.replace(b"tea", b"fog")})
            with pytest.raises(RemoteError, match="changed while it was read"):
                file.read()
    finally:
        stores._open_store.cache_clear()
