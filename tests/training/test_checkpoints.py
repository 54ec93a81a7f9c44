"""Checkpoints: what is written can be read, whatever happens in between, and nothing else is ever touched."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from firth.errors import FormatError, OptionError
from firth.training.checkpoints import CONFIG, Checkpoints

ARRAYS = {"weights": np.arange(6, dtype=np.float32).reshape(2, 3), "step": np.array(4.0, np.float32)}


def save_one(folder: Path, step: int = 4) -> Checkpoints:
    checkpoints = Checkpoints(folder, {"dim": 3})
    checkpoints.save(ARRAYS, {"step": step, "losses": [0.5]})
    return checkpoints


def test_arrays_and_state_come_back_with_their_shapes(tmp_path: Path):
    save_one(tmp_path)
    stored = Checkpoints(tmp_path, {"dim": 3}).restore()
    assert stored is not None
    arrays, state = stored
    assert state == {"step": 4, "losses": [0.5]}
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)


def test_arrays_are_restored_in_place(tmp_path: Path):
    weights = np.zeros((2, 3), np.float32)
    assert save_one(tmp_path).restore_into({"weights": weights}) == {"step": 4, "losses": [0.5]}
    np.testing.assert_array_equal(weights, ARRAYS["weights"])


def test_arrays_of_another_shape_are_an_error_with_the_file_name(tmp_path: Path):
    with pytest.raises(FormatError, match=r"state-4\.safetensors: the arrays of the checkpoint cannot be read"):
        save_one(tmp_path).restore_into({"weights": np.zeros((5, 3), np.float32)})


def test_an_empty_folder_has_no_checkpoint_and_resume_false_finds_none(tmp_path: Path):
    assert Checkpoints(tmp_path / "none", {}).restore() is None
    save_one(tmp_path)
    assert Checkpoints(tmp_path, {"dim": 3}, resume=False).restore() is None


def test_a_new_checkpoint_replaces_the_old_one_and_drafts_of_killed_runs(tmp_path: Path):
    save_one(tmp_path)
    draft = tmp_path / ".state-5.safetensors.abcdefgh.firth-part"
    draft.mkdir()
    (draft / "state-5.safetensors").write_bytes(b"half")
    save_one(tmp_path, step=9)
    assert sorted(path.name for path in tmp_path.iterdir()) == [CONFIG, "state-9.safetensors"]


def test_the_best_weights_outlive_checkpoints_until_better_ones_are_saved(tmp_path: Path):
    checkpoints = save_one(tmp_path)
    checkpoints.save_best(ARRAYS, 4)
    checkpoints.save_best({"weights": 2 * ARRAYS["weights"]}, 8)
    checkpoints.remove_best(except_step=8)
    np.testing.assert_array_equal(checkpoints.read_best(8)["weights"], 2 * ARRAYS["weights"])
    with pytest.raises(FormatError, match=r"best-4\.safetensors"):
        checkpoints.read_best(4)


def test_another_identity_is_refused_by_name_in_both_directions(tmp_path: Path):
    save_one(tmp_path)
    message = r"another training: it differs in dim, window\. Choose another folder, or delete this one to start again"
    with pytest.raises(OptionError, match=message):
        Checkpoints(tmp_path, {"window": 5}).restore()


@pytest.mark.parametrize("config", [{"kind": "checkpoint", "step": 3}, {"kind": "bilm-checkpoint", "progress": {}}])
def test_a_checkpoint_of_an_older_version_is_a_clear_error(tmp_path: Path, config: dict[str, object]):
    (tmp_path / CONFIG).write_text(json.dumps(config))
    with pytest.raises(FormatError, match="a checkpoint that this version of firth cannot read"):
        Checkpoints(tmp_path, {})


def test_a_model_folder_is_never_written_to(tmp_path: Path):
    (tmp_path / CONFIG).write_text(json.dumps({"library": "firth", "kind": "word-vectors"}))
    with pytest.raises(OptionError, match="something else than a checkpoint"):
        Checkpoints(tmp_path, {}, resume=False)


def test_a_configuration_that_is_not_json_is_an_error(tmp_path: Path):
    (tmp_path / CONFIG).write_text("{")
    with pytest.raises(FormatError, match="is not JSON"):
        Checkpoints(tmp_path, {})


def test_a_folder_with_other_files_is_never_written_to(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(OptionError, match=r"the folder holds other files \(thesis.tex\)"):
        Checkpoints(tmp_path, {})
    with pytest.raises(OptionError, match="is a file"):
        Checkpoints(tmp_path / "thesis.tex", {})


@pytest.mark.parametrize(
    "change",
    [{"arrays": 0.5}, {"arrays": None}, {"identity": 2}, {"state": []}, {"kind": 5}, {"kind": "old checkpoint"}],
)
def test_a_config_with_values_of_other_types_is_refused(tmp_path: Path, change: dict[str, object]):
    save_one(tmp_path)
    config = json.loads((tmp_path / CONFIG).read_text())
    config = {name: value for name, value in (config | change).items() if name != "checksum"}
    (tmp_path / CONFIG).write_text(json.dumps(config))
    with pytest.raises((FormatError, OptionError)):
        Checkpoints(tmp_path, {"dim": 3}).restore()


def test_deeply_nested_json_is_refused(tmp_path: Path):
    save_one(tmp_path)
    (tmp_path / CONFIG).write_text("[" * 100_000)
    with pytest.raises(FormatError, match="is not JSON"):
        Checkpoints(tmp_path, {"dim": 3})


@pytest.mark.parametrize("array", [np.zeros(3, np.float32), np.zeros((1, 3), np.float32), np.zeros((2, 3))])
def test_an_array_is_never_stretched_or_converted_to_fit(tmp_path: Path, array: np.ndarray):
    checkpoints = Checkpoints(tmp_path, {"dim": 3})
    checkpoints.save({"weights": array}, {"step": 4})
    with pytest.raises(FormatError, match="'weights' is float"):
        checkpoints.restore_into({"weights": np.zeros((2, 3), np.float32)})


def test_a_flipped_bit_anywhere_in_a_checkpoint_is_an_error(tmp_path: Path):
    save_one(tmp_path)
    for path in (tmp_path / CONFIG, tmp_path / "state-4.safetensors"):
        whole = path.read_bytes()
        for place in range(len(whole)):
            damaged = bytearray(whole)
            damaged[place] ^= 1
            path.write_bytes(damaged)
            try:
                stored = Checkpoints(tmp_path, {"dim": 3}).restore()
            except (FormatError, OptionError):
                continue
            assert stored is not None  # white space of JSON has no meaning
            assert whole[place : place + 1].isspace()
            assert stored[1] == {"step": 4, "losses": [0.5]}
            assert all(np.array_equal(stored[0][name], array) for name, array in ARRAYS.items())
        path.write_bytes(whole)


def test_a_damaged_array_is_named_when_it_is_restored_in_place(tmp_path: Path):
    checkpoints = save_one(tmp_path)
    path = tmp_path / "state-4.safetensors"
    data = bytearray(path.read_bytes())
    place = data.index(ARRAYS["weights"].tobytes())
    data[place + 9] ^= 64
    path.write_bytes(data)
    with pytest.raises(FormatError, match="'weights' is damaged: its checksum is wrong"):
        checkpoints.restore_into({"weights": np.zeros((2, 3), np.float32)})


def test_a_checkpoint_of_a_version_without_checksums_is_read(tmp_path: Path):
    save_one(tmp_path)
    config = json.loads((tmp_path / CONFIG).read_text())
    del config["checksum"]
    (tmp_path / CONFIG).write_text(json.dumps(config))
    save_file(ARRAYS, tmp_path / "state-4.safetensors")
    stored = Checkpoints(tmp_path, {"dim": 3}).restore()
    assert stored is not None
    assert stored[1] == {"step": 4, "losses": [0.5]}
    np.testing.assert_array_equal(stored[0]["weights"], ARRAYS["weights"])
