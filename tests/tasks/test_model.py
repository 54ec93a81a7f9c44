"""A trained model: its answers, and its file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import firth
from firth.errors import FormatError, OptionError
from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.runtime import Runtime
from firth.tasks.inputs import Embedding, Inputs
from firth.tasks.model import TaskModel, open_task
from firth.tasks.registry import find_task
from firth.tasks.sentiment.data import SentimentExample
from firth.tasks.sentiment.task import Sentiment
from firth.tasks.seq2seq.cove import Cove
from firth.tasks.seq2seq.task import Seq2Seq
from firth.tasks.sources import Sources
from firth.tasks.training import Training, fit
from firth.vectors.words import WordVectors

TEXTS = [
    SentimentExample(("a", "good", "film"), "good"),
    SentimentExample(("bad",), "bad"),
    SentimentExample(("not", "a", "good", "film", ",", "bad"), "bad"),
    SentimentExample(("good",), "good"),
]


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with word vectors and a biLM, each in our own format."""
    folder = tmp_path_factory.mktemp("models")
    words = ["a", "good", "film", "bad", "not"]
    firth.save(WordVectors(words, np.random.default_rng(1).normal(size=(5, 4))), folder / "vectors")
    firth.save(BiLM(Architecture.named("tiny"), seed=2), folder / "bilm")
    return folder


@pytest.fixture(scope="module")
def model(places: Path) -> TaskModel:
    embedding = Embedding.of(f"{places}/vectors+{places}/bilm", at="both", characters=3, tuned=True, words=2)
    task = Sentiment(hidden=5, architecture="biattentive")
    return fit(task, embedding, TEXTS, TEXTS, Training(epochs=2, batch=2), runtime=Runtime(threads=1))


def test_answers_do_not_depend_on_their_company(model: TaskModel) -> None:
    together = model.predict(TEXTS)
    for example, answer in zip(TEXTS, together):
        assert model.predict([example])[0] == pytest.approx(answer, abs=1e-5)
    assert model.predict([]) == []


def test_text_in_another_script_gets_a_warning(model: TaskModel) -> None:
    assert model.scripts == {"LATIN"}
    foreign, own = model.ask("фильм плохой", "a bad film")
    assert isinstance(foreign, dict)
    assert foreign["warning"].startswith("100 % of the words (2 of 2) are in CYRILLIC script")
    assert "warning" not in own


def test_predicting_leaves_the_mode_as_it_was(model: TaskModel) -> None:
    model.train()
    model.predict(TEXTS[:1])
    assert model.training
    assert model.network.training
    model.eval()


def test_what_was_saved_says_the_same(tmp_path: Path, model: TaskModel) -> None:
    firth.save(model, tmp_path / "model")
    for opened in (firth.load(tmp_path / "model"), open_task(tmp_path / "model")):
        assert isinstance(opened, TaskModel)
        assert opened.predict(TEXTS) == model.predict(TEXTS)
        assert (opened.task, opened.labels, opened.embedding) == (model.task, model.labels, model.embedding)
        assert opened.metadata == json.loads(json.dumps(model.metadata))
        assert str(opened) == str(model)


def test_the_file_has_what_was_learnt_and_not_what_it_was_learnt_on(tmp_path: Path, model: TaskModel) -> None:
    firth.save(model, tmp_path / "model")
    assert {path.name for path in (tmp_path / "model").iterdir()} == {"config.json", "model.safetensors", "words"}
    names = set(model.to_parts().arrays)
    assert not any("bilm" in name or "static" in name for name in names)
    assert {"inputs.mixes.input.gamma", "inputs.changes.table.weight", "inputs.spelled.cnn.table"} <= names


@pytest.mark.parametrize("precision", ["float16", "int8"])
def test_a_smaller_file_says_nearly_the_same(tmp_path: Path, model: TaskModel, precision: Any) -> None:
    firth.save(model, tmp_path / "model", precision=precision)
    opened = open_task(tmp_path / "model")
    for one, other in zip(model.predict(TEXTS), opened.predict(TEXTS)):
        assert one == pytest.approx(other, abs=0.02)


def test_other_vectors_under_the_same_name_are_noticed(tmp_path: Path, places: Path, model: TaskModel) -> None:
    firth.save(model, tmp_path / "model")
    firth.save(BiLM(Architecture.named("tiny"), seed=3), tmp_path / "other")
    with pytest.raises(FormatError, match="trained on other vectors"):
        open_task(tmp_path / "model", f"{places}/vectors+{tmp_path}/other")


def test_vectors_that_were_moved_can_be_named_anew(tmp_path: Path, places: Path, model: TaskModel) -> None:
    for name in ("vectors", "bilm"):
        firth.save(firth.load(places / name), tmp_path / name)
    firth.save(model, tmp_path / "model")
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    config["config"]["embedding"]["elmo"] = "gone"
    (tmp_path / "model" / "config.json").write_text(json.dumps(config))
    with pytest.raises(FormatError, match="gone: no such file"):
        open_task(tmp_path / "model")
    opened = open_task(tmp_path / "model", f"{tmp_path}/vectors+{tmp_path}/bilm")
    assert opened.predict(TEXTS) == model.predict(TEXTS)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda config: config["config"].update(task="seventh"), "no task is called 'seventh'"),
        (lambda config: config["config"]["options"].update(hidden=6), "do not fit"),
        (lambda config: config["config"]["options"].update(hiden=6), "Did you mean 'hidden'"),
        (lambda config: config["config"].pop("labels"), "labels"),
    ],
)
def test_a_broken_file_says_what_is_wrong(tmp_path: Path, model: TaskModel, change: Any, problem: str) -> None:
    firth.save(model, tmp_path / "model")
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    change(config)
    (tmp_path / "model" / "config.json").write_text(json.dumps(config))
    with pytest.raises(FormatError, match=problem):
        open_task(tmp_path / "model")


def test_another_kind_of_model_is_refused(places: Path) -> None:
    with pytest.raises(OptionError, match="holds a bilm"):
        open_task(places / "bilm")


def test_a_biLM_that_learnt_is_saved_with_the_task(tmp_path: Path, places: Path) -> None:
    task, training = Sentiment(hidden=3, architecture="plain"), Training(epochs=1, batch=2, learning_rate=0.1)
    embedding = Embedding.of(f"{places}/bilm", fine_tune=True)
    tuned = fit(task, embedding, TEXTS, (), training, runtime=Runtime(threads=1))
    before = firth.load(places / "bilm").state_dict()
    assert not all(torch.equal(tuned.state()[f"inputs.bilm.{name}"], tensor) for name, tensor in before.items())
    firth.save(tuned, tmp_path / "model")
    assert open_task(tmp_path / "model").predict(TEXTS) == tuned.predict(TEXTS)


def test_an_encoder_embeds_and_other_networks_say_that_they_cannot(model: TaskModel) -> None:
    task = Seq2Seq(hidden=4, layers=1, dim=3)
    inputs, labels = Inputs(Embedding(characters=5)), {"words": ["tea", "rain"]}
    encoder = TaskModel(task, labels, inputs, task.network(inputs.sizes, labels)).eval()
    sentences = [["tea", "rain"], ["sun"]]
    for found, expected in zip(encoder.embed(sentences, layers="mix"), Cove(encoder).embed(sentences)):
        assert np.array_equal(found, expected)
    with pytest.raises(OptionError, match="sentiment has no encoder"):
        model.embed(sentences)


def test_sources_that_are_open_are_not_opened_again(tmp_path: Path, model: TaskModel) -> None:
    firth.save(model, tmp_path / "model")
    opened = open_task(tmp_path / "model", sources=model.inputs.sources)
    assert opened.inputs.sources is model.inputs.sources
    assert opened.predict(TEXTS) == model.predict(TEXTS)


class Recorded(TaskModel):
    """A model that remembers the words that its network reads."""

    def texts(self, examples: Sequence[Any]) -> Any:
        self.read = [words for example in examples for words in example.sentences]
        return super().texts(examples)


def test_text_without_usual_case_is_truecased_for_the_network_and_stays_in_the_answer() -> None:
    words = ["the", "a", "film", "Rome", "saw", "was", "in", "I"]
    vectors = WordVectors(words, np.eye(8, dtype=np.float32))
    inputs = Inputs(Embedding(static="vectors"), Sources((vectors,)))
    task, labels = Sentiment(architecture="plain", hidden=4), {"labels": ["bad", "good"]}
    model = Recorded(task, labels, inputs, task.network(inputs.sizes, labels)).eval()
    for text in ("i saw a film in rome", "I SAW A FILM IN ROME"):
        [answer] = model.ask(text)
        assert model.read == [("I", "saw", "a", "film", "in", "Rome")]
        assert (answer["text"], answer["tokens"]) == (text, text.split())
    model.ask("Rome saw ME")
    assert model.read == [("Rome", "saw", "ME")]
    model.metadata["case"] = "lower"  # trained on lower-case text
    model.ask("i saw a film in rome")
    assert model.read == [("i", "saw", "a", "film", "in", "rome")]
    example = SentimentExample(("i", "saw", "a", "film"))
    model.metadata["case"] = "mixed"
    model.predict([example])  # examples of files are never changed
    assert model.read == [example.words]


SMALLEST: dict[str, tuple[dict[str, Any], dict[str, list[str]], int]] = {  # options, labels, texts of a question
    "ner": ({"hidden": (4,)}, {"kinds": ["PER"]}, 1),
    "srl": ({"hidden": 4, "layers": 2, "finder": 4, "predicate_dim": 2}, {"roles": ["A0", "V"]}, 1),
    "coref": ({"hidden": 4, "feedforward": 4, "features": 2, "singletons": True}, {"genres": []}, 1),
    "qa": ({"hidden": 4}, {}, 2),
    "entailment": ({"hidden": 4}, {"labels": ["yes", "no"]}, 2),
    "sentiment": ({"hidden": 4}, {"labels": ["good", "bad"]}, 1),
    "seq2seq": ({"hidden": 4, "layers": 1, "dim": 4}, {"words": ["tea"]}, 1),
}


def untrained(name: str, **changed: Any) -> TaskModel:
    options, labels, _ = SMALLEST[name]
    task = find_task(name)(**(options | changed))
    inputs = Inputs(Embedding(characters=4))
    return TaskModel(task, labels, inputs, task.network(inputs.sizes, labels)).eval()


@pytest.mark.parametrize("name", SMALLEST)
def test_weights_beyond_all_sense_give_an_error_and_no_nan(name: str) -> None:
    texts = ("the tea is hot", "is it hot")[: SMALLEST[name][2]]
    model = untrained(name)
    assert len(json.dumps(model.ask(*texts), allow_nan=False)) > 2
    torch.manual_seed(1)
    with torch.no_grad():
        for tensor in model.network.parameters():
            tensor.copy_(3e38 * torch.randn_like(tensor).sign())
    with pytest.raises(OptionError, match="NaN"):
        model.ask(*texts)


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        ("seq2seq", "beam", 201),
        ("seq2seq", "length_penalty", 1e308),
        ("seq2seq", "longest", 65_536),
        ("coref", "kept", 1e308),
        ("coref", "widest", 65_536),
    ],
)
def test_options_beyond_all_sense_are_refused(tmp_path: Path, name: str, option: str, value: float) -> None:
    firth.save(untrained(name), tmp_path / "model")
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    config["config"]["options"][option] = value
    (tmp_path / "model" / "config.json").write_text(json.dumps(config))
    with pytest.raises(FormatError, match=f"{option} is .*, but must be at most"):
        open_task(tmp_path / "model")


def test_a_labeler_of_roles_without_the_tag_of_the_predicate_is_refused(tmp_path: Path) -> None:
    firth.save(untrained("srl"), tmp_path / "model")
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    config["config"]["labels"]["roles"] = ["A0", "A1"]
    (tmp_path / "model" / "config.json").write_text(json.dumps(config))
    with pytest.raises(FormatError, match="the roles of an srl model must have 'V'"):
        open_task(tmp_path / "model")


def test_a_notebook_shows_facts_epochs_and_layers() -> None:
    page = open_task("ner")._repr_html_()
    assert "training: 16 epochs" in page
    assert "ELMo at the input" in page
    model = open_task("ner")
    model.metadata["epochs"] = ["not", "epochs"]
    assert "training" not in model._repr_html_()
