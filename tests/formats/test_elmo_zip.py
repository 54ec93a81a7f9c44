"""ELMo models in zip archives, and archives that must not be opened."""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import firth
from firth.bulk.fingerprint import fingerprint
from firth.errors import FirthError, FormatError
from firth.formats import elmo_zip
from firth.formats.registry import detect
from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.text.vocabulary import Vocabulary

SENTENCES = [["hot", "tea"], ["Rain"]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("zip") / "model"
    words = Vocabulary(["<S>", "</S>", "<UNK>", "tea"])
    firth.save(BiLM(Architecture.named("tiny"), vocabulary=words), path, format="elmo")
    return path


def pack(folder: Path, target: Path, within: str = "", **more: bytes) -> Path:
    """The archive of a model, in a folder `within` it, with more files."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.iterdir()):
            archive.write(file, within + file.name)
        archive.writestr(within + "README", "Trained on text.")
        archive.writestr(within + "meta.json", "{}")
        for name, content in more.items():
            archive.writestr(name, content)
    return target


@pytest.mark.filterwarnings("ignore::firth.errors.CoverageWarning")
@pytest.mark.parametrize("within", ["", "144/"])
def test_an_archive_opens_as_its_folder_does_and_leaves_nothing_behind(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, within: str
) -> None:
    archive = pack(folder, tmp_path / "144.zip", within)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    opened, unpacked = firth.load(archive), firth.load(folder)
    for one, other in zip(opened.embed(SENTENCES, layers="all"), unpacked.embed(SENTENCES, layers="all")):
        assert np.array_equal(one, other)
    assert opened.vocabulary.words == unpacked.vocabulary.words
    assert opened.metadata["source"] == "144.zip"
    assert detect(archive) == "elmo"
    assert len(fingerprint(archive)) == 32
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["../options.json", "/etc/vocab.txt", "a/../../vocab.txt", "..\\vocab.txt", "C:\\x.txt"]
)
def test_a_path_out_of_the_archive_is_refused(folder: Path, tmp_path: Path, name: str) -> None:
    archive = pack(folder, tmp_path / "evil.zip", **{name: b"{}"})
    with pytest.raises(FormatError, match="the archive has a file with the path"):
        firth.load(archive)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["evil.zip"]


def test_a_bomb_is_refused_before_it_is_unpacked(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = pack(folder, tmp_path / "bomb.zip", **{"softmax_bomb.hdf5": bytes(8 << 20)})
    with pytest.raises(FormatError, match=r"would unpack from [\d,]+ to 8,388,608 bytes"):
        firth.load(archive)
    archive = pack(folder, tmp_path / "options.zip", **{"other_options.json": b" " * (2 << 20)})
    with pytest.raises(FormatError, match="options have at most"):
        firth.load(archive)
    monkeypatch.setattr(elmo_zip, "MOST_BYTES", 1000)
    with pytest.raises(FormatError, match="a model has at most 1,000"):
        firth.load(pack(folder, tmp_path / "large.zip"))
    monkeypatch.setattr(elmo_zip, "MOST_FILES", 3)
    with pytest.raises(FormatError, match="has 6 files"):
        firth.load(pack(folder, tmp_path / "many.zip"))


def test_a_file_larger_than_its_entry_says_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = pack(folder, tmp_path / "liar.zip")
    members = zipfile.ZipFile.infolist

    def shrink(self: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
        for member in members(self):
            member.file_size = min(member.file_size, 10)
        return members(self)

    monkeypatch.setattr(zipfile.ZipFile, "infolist", shrink)
    with pytest.raises(FirthError):
        firth.load(archive)


def test_broken_and_mixed_archives_are_errors(folder: Path, tmp_path: Path) -> None:
    archive = pack(folder, tmp_path / "short.zip")
    data = bytearray(archive.read_bytes())
    data[len(data) // 3] ^= 255
    archive.write_bytes(data)
    with pytest.raises(FormatError, match="the archive cannot be read"):
        firth.load(archive)
    two = pack(folder, tmp_path / "two.zip", "one/", **{"two/options.json": b"{}"})
    with pytest.raises(FormatError, match="has files of models in 2 folders"):
        firth.load(two)
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as other:
        other.writestr("notes.txt", "nothing")
    with pytest.raises(FirthError, match=r"other\.zip"):
        firth.load(tmp_path / "other.zip")
    with zipfile.ZipFile(tmp_path / "languages.zip", "w") as languages:
        languages.writestr("encoder.pkl", b"")
        languages.writestr("token_embedder.pkl", b"")
    with pytest.raises(FormatError, match=r"char\.dic"):
        firth.load(tmp_path / "languages.zip")


def test_a_member_at_an_impossible_place_is_refused(folder: Path, tmp_path: Path) -> None:
    archive = pack(folder, tmp_path / "model.zip")
    data = bytearray(archive.read_bytes())
    end = data.rindex(b"PK\x05\x06")
    start = int.from_bytes(data[end + 16 : end + 20], "little")
    data[end + 16 : end + 20] = (start + 100).to_bytes(4, "little")  # now members begin before the file does
    archive.write_bytes(data)
    with pytest.raises(FirthError):
        firth.load(archive)


def test_a_member_without_a_name_is_refused(folder: Path, tmp_path: Path) -> None:
    archive = pack(folder, tmp_path / "model.zip")
    with zipfile.ZipFile(archive, "a") as file:
        file.writestr("x", b"")
    data = archive.read_bytes()
    place = data.rindex(b"PK\x01\x02")
    archive.write_bytes(data[: place + 46] + b"\0" + data[place + 47 :])  # zipfile cuts a name at a null byte
    with pytest.raises(FormatError, match="the archive has a file with the path ''"):
        firth.load(archive)
