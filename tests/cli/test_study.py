"""`firth study` on the command line."""

import json

import pytest

pytest.importorskip("torch")
pytest.importorskip("matplotlib")

from firth.cli.main import main
from firth.studies.registry import STUDIES, find_study
from firth.studies.tasks.runs import TaskRun, append_result

COST = {"seconds": 1.0, "device": "cpu"}


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_has_a_command_with_a_description_and_an_example(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    main(["study", name, "--help"])
    shown = capsys.readouterr().out
    assert find_study(name).__doc__.partition("\n")[0] in shown
    assert f"firth study {name} --out {name}/" in shown


def test_models_are_flags(tmp_path, capsys):
    folder = tmp_path / "work"
    folder.mkdir()
    run = TaskRun("srl", "cups", "teas")
    ended = {"epochs": [{"dev": {"f1": 0.5}}], "training": {"patience": None}}
    shares = {"layer_shares": {"input": [1.0]}}
    append_result(run, {"run": run.as_dict(), "test": {"f1": 0.5}, **shares, **ended, **COST}, folder)
    flags = ["--tasks", "srl", "--elmo", "teas", "--static", "cups", "--no-start", "--out", str(tmp_path), "--json"]
    main(["study", "weights", *flags])
    told = json.loads(capsys.readouterr().out)
    assert (told["options"]["elmo"], told["options"]["static"]) == ("teas", "cups")
    assert told["shares"] == {"srl, input": [1.0]}


def test_a_study_writes_its_page_and_tells_what_it_wrote(data, tmp_path, capsys):
    out = tmp_path / "weights"
    main(["study", "weights", "--quick", "--tasks", "ner", "--threads", "1", "--out", str(out), "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["study"] == "weights"
    assert (out / "weights.md").read_text().startswith("# The weights of the layers")
    assert all((out / name).exists() for name in ("weights.json", "weights-shares.svg", "weights-shares.png"))
    assert len((out / "work" / "runs.jsonl").read_text().splitlines()) == 1


def test_without_start_only_what_is_finished_is_told(data, tmp_path, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["study", "table1", "--no-start", "--out", str(tmp_path)])
    assert stopped.value.code == 2
    assert "no run of the study table1 is finished" in capsys.readouterr().err
