from __future__ import annotations

from pathlib import Path

import pytest

import firth
from firth.errors import OptionError
from firth.server.limits import Limits
from firth.server.served import NotReady, ServedModels, name_model


def test_abilities_are_those_of_the_model(model_paths: dict[str, Path]) -> None:
    models = ServedModels(map(str, model_paths.values()), Limits())
    models.open_all()
    abilities = {name: set(served.ready().abilities) for name, served in models.models.items()}
    models.close()
    assert abilities == {
        "bilm": {"encode", "embed", "score"},
        "vectors": {"encode", "embed", "neighbors"},
        "ngrams": {"score"},
        "classifier": {"encode", "embed", "neighbors", "labels"},
    }


def test_a_model_must_be_open_before_it_answers() -> None:
    models = ServedModels(["svd-en"], Limits())
    assert not models.is_ready
    with pytest.raises(NotReady, match="is being opened"):
        models.find(None, "encode")
    prepared: list[str] = []
    models.open_all(lambda served: prepared.append(served.name))
    assert models.is_ready
    assert prepared == ["svd-en"]
    models.close()


def test_a_failed_reload_keeps_the_model(tmp_path: Path) -> None:
    path = tmp_path / "vectors"
    firth.save(firth.WordVectors(["tea"], [[1.0]]), path)
    models = ServedModels([str(path)], Limits())
    models.open_all()
    before = models.named("vectors").ready()
    assert models.reload_all() == {}
    after = models.named("vectors").ready()
    assert after is not before
    (path / "config.json").write_text("{")
    assert "vectors" in models.reload_all()
    assert models.named("vectors").ready() is after
    models.close()


@pytest.mark.parametrize(
    ("names", "problem"), [([], "name a model"), (["svd-en", "svd-en"], "two models are called 'svd-en'")]
)
def test_names_are_checked(names: list[str], problem: str) -> None:
    with pytest.raises(OptionError, match=problem):
        ServedModels(names, Limits())


def test_a_file_may_have_an_equals_sign_in_its_name(tmp_path: Path) -> None:
    path = tmp_path / "a=b.vec"
    path.touch()
    assert name_model(str(path)) == ("a=b", str(path))
    assert name_model("a=b.vec") == ("a", "b.vec")
