"""`firth study` on the command line."""

import json

import pytest

pytest.importorskip("torch")
pytest.importorskip("matplotlib")

from firth.cli import study as module
from firth.cli.main import main
from firth.studies.catalogue import STUDIES


def test_every_study_has_a_command_and_a_sentence():
    assert list(module.ABOUT) == list(STUDIES)


def test_a_study_writes_its_page_and_tells_what_it_wrote(data, tmp_path, capsys):
    out = tmp_path / "weights"
    main(["study", "weights", "--quick", "--tasks", "ner", "--threads", "1", "--out", str(out), "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["study"] == "weights"
    assert (out / "weights.md").read_text().startswith("# The weights of the layers")
    assert all((out / name).exists() for name in ("weights.json", "weights-shares.svg", "weights-shares.png"))
    assert (out / "work" / "runs").is_dir()


def test_without_start_only_what_is_finished_is_told(data, tmp_path, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["study", "table1", "--no-start", "--out", str(tmp_path)])
    assert stopped.value.code == 2
    assert "no run of the study table1 is finished" in capsys.readouterr().err
