"""Checkpoints: what is written can be read, whatever happens in between, and nothing else is ever touched."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

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
    (tmp_path / ".state-5.safetensors.abc.part").write_bytes(b"half")
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
