"""Where data is found: named by FIRTH_DATA, beside the current folder, in the user's folder, or in the package."""

from __future__ import annotations

from pathlib import Path

import pytest

from firth import data as places
from firth.errors import OptionError


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No FIRTH_DATA, no folder `shared`, and a cache folder that does not exist yet."""
    monkeypatch.delenv("FIRTH_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(places, "_shared_folders", list)
    return places.user_folder()


def put(folder: Path, name: str) -> Path:
    file = folder / places.CATALOG[name].file
    file.parent.mkdir(parents=True)
    file.write_text("sun sunlight 50\n")
    return file


def test_the_environment_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRTH_DATA", str(tmp_path))
    assert places.folder() == places.target() == tmp_path


def test_a_folder_that_does_not_exist_is_an_error_that_names_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRTH_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(OptionError, match=r"FIRTH_DATA is .*nowhere', which does not exist\. Create"):
        places.available()


def test_a_file_is_not_a_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "men.txt").write_text("sun moon 1\n")
    monkeypatch.setenv("FIRTH_DATA", str(tmp_path / "men.txt"))
    with pytest.raises(OptionError, match=r"FIRTH_DATA is .*men\.txt', which is not a folder"):
        places.folder()


def test_a_folder_with_other_files_is_not_a_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "letters").mkdir()
    monkeypatch.setenv("FIRTH_DATA", str(tmp_path))
    with pytest.raises(OptionError, match=r"not a data folder: there is no folder data in it\. Set it to the folder"):
        places.find("men")


def test_the_folder_inside_the_data_folder_is_told_from_the_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "men")
    monkeypatch.setenv("FIRTH_DATA", str(tmp_path / "data"))
    with pytest.raises(OptionError, match=f"Set it to '{tmp_path}'"):
        places.find("men")


def test_without_the_variable_shared_beside_the_current_folder_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FIRTH_DATA", raising=False)
    (tmp_path / "shared" / "data").mkdir(parents=True)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert places.folder() == tmp_path / "shared"


def test_the_folder_of_the_user_is_last_and_the_target_of_installations(user: Path) -> None:
    assert places.target() == user
    with pytest.raises(OptionError, match=r"no data folder: .* firth data install"):
        places.folder()
    file = put(user, "men")
    assert places.folder() == user
    assert places.find("men") == file


def test_the_cache_folder_is_that_of_the_platform() -> None:
    assert places.user_folder({"HOME": "/home/ada"}, "linux") == Path("/home/ada/.cache/firth")
    assert places.user_folder({"HOME": "/h", "LOCALAPPDATA": "/local"}, "win32") == Path("/local/firth/Cache")


def test_a_user_without_a_home_has_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As in a container that runs under a number that has no entry in the list of users."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    assert places.user_folder({}, "linux") == tmp_path / ".cache" / "firth"


def test_without_any_folder_the_sets_that_ship_are_available(user: Path) -> None:
    shipped = [name for name, one in places.SETS.items() if one.ships]
    assert places.available() == shipped
    assert len(shipped) == 8
    assert all(places.find(name).is_file() for name in shipped)
    with pytest.raises(OptionError, match=r"men: there is no data folder yet: .*\. Install it: firth data install men"):
        places.find("men")


def test_a_named_set_is_found_in_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRTH_DATA", str(tmp_path))
    file = put(tmp_path, "men")
    assert places.find("men") == file
    assert "men" in places.available()
    assert "mturk" not in places.available()


def test_a_named_set_without_its_file_is_an_error_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRTH_DATA", str(tmp_path))
    with pytest.raises(OptionError, match=r"men: the data folder .* has no .*men\.txt\. .*firth data install men$"):
        places.find("men")
    with pytest.raises(OptionError, match=r"^wic: .*Install it: firth data install wic --from FOLDER$"):
        places.find_file("data/intrinsic/context/wic/dev/dev.gold.txt")


def test_any_file_is_found_by_its_path(tmp_path: Path) -> None:
    file = tmp_path / "mine.tsv"
    file.write_text("a\tb\t1\n")
    assert places.find(file) == places.find(str(file)) == file


def test_an_unknown_name_without_a_neighbor_lists_the_sets() -> None:
    with pytest.raises(OptionError, match=r"no such test set or file\. There are: firth-similarity-en, "):
        places.find("zzzz")


def test_every_named_set_is_in_the_data_folder(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRTH_DATA", str(data))
    assert places.available() == list(places.SETS)
    assert all(map(places.is_available, places.CATALOG))
