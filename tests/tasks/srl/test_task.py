"""Semantic roles: files, the labeller and its finder, and results as srl-eval counts them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from firth.errors import FormatError, OptionError
from firth.formats.registry import load, save
from firth.runtime import Runtime
from firth.tasks.inputs import Embedding, Inputs
from firth.tasks.model import TaskModel
from firth.tasks.srl.data import SrlExample
from firth.tasks.srl.score import collect_arguments
from firth.tasks.srl.task import Srl
from firth.tasks.tags import Span, decode_spans, encode_tags
from firth.tasks.training import Training, fit

SMALL = Srl(layers=2, hidden=24, predicate_dim=8, finder=12, dropout=0.0, recurrent_dropout=0.0)
JOHN = ("John", "wants", "to", "go", ".")
WANTS = (Span("ARG0", 0, 1), Span("V", 1, 2), Span("ARG1", 2, 4))
GOES = (Span("ARG0", 0, 1), Span("V", 3, 4))

EWT = """d 0 0 John NNP (S(NP*) - - (ARG0*) (ARG0*)
d 0 1 wants VBZ (VP* want want.01 (V*) *
d 0 2 to TO (S* - - (ARG1* *
d 0 3 go VB (VP*)) go go.02 *) (V*)
d 0 4 . . *)) - - * *

d 1 0 Ouch UH (INTJ*) - -
"""
CONLL_2012 = """#begin document (bc/d); part 000
bc/d 0 0 John NNP (S(NP*) - - - Sp1 (PERSON) (ARG0*) (ARG0*) (0)
bc/d 0 1 wants VBZ (VP* want 01 1 Sp1 * (V*) * -
bc/d 0 2 to TO (S* - - - Sp1 * (ARG1* * -
bc/d 0 3 go VB (VP*)) go 02 1 Sp1 * *) (V*) -
bc/d 0 4 . . *)) - - - Sp1 * * * -

bc/d 0 0 Ouch UH (INTJ*) - - - Sp1 * -

#end document
"""
CONLL_2005 = """John NNP (S(NP*) * - - (ARG0*) (ARG0*)
wants VBZ (VP* * 01 want (V*) *
to TO (S* * - - (ARG1* *
go VB (VP*)) * 02 go *) (V*)
. . *)) * - - * *

Ouch UH (INTJ*) * - -
"""


@pytest.mark.parametrize("text", [EWT, CONLL_2012, CONLL_2005], ids=["ewt", "2012", "2005"])
def test_each_form_of_columns_gives_one_example_a_predicate(tmp_path: Path, text: str) -> None:
    (tmp_path / "f").write_text(text)
    assert Srl().read(tmp_path / "f") == [
        SrlExample(JOHN, 1, WANTS, (1, 3)),
        SrlExample(JOHN, 3, GOES, (1, 3)),
        SrlExample(("Ouch",), predicates=()),
    ]


def test_a_file_without_predicates_is_named(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("John B-PER\n\nleft O\n")
    with pytest.raises(FormatError, match=r"f: the file has no predicates\. A file has a column of brackets"):
        Srl().read(tmp_path / "f")


def frame(place: int, roles: list[Span], words: int, found: list[int]) -> dict[str, Any]:
    return {"predicates": found, "frames": [{"predicate": place, "tags": encode_tags(roles, words)}]}


def test_pieces_of_an_argument_are_right_together_or_not_at_all() -> None:
    whole = [Span("ARG1", 0, 2), Span("V", 2, 3), Span("C-ARG1", 4, 6)]
    example = SrlExample(("w",) * 6, 2, tuple(whole), (2,))
    assert Srl().score([example], [frame(2, whole, 6, [2])])["f1"] == 1
    assert Srl().score([example], [frame(2, whole[:2], 6, [2])])["f1"] == 0
    merged = [Span("ARG1", 0, 2), Span("V", 2, 3), Span("ARG1", 4, 6)]
    assert Srl().score([example], [frame(2, merged, 6, [2])])["f1"] == 0


def test_references_count_and_predicates_do_not() -> None:
    """Two arguments are true and two are said, of which one is right; V and C-V are in neither number."""
    gold = [Span("ARG0", 0, 1), Span("R-ARG0", 1, 2), Span("V", 2, 3), Span("C-V", 4, 5)]
    said = [Span("ARG0", 0, 1), Span("ARG0", 1, 2), Span("V", 2, 3)]
    examples, answers = [SrlExample(("w",) * 5, 2, tuple(gold), (2,))], [frame(2, said, 5, [2])]
    scores = Srl().score(examples, answers)
    assert scores == {
        "f1": 0.5,
        "precision": 0.5,
        "recall": 0.5,
        "perfect": 0.0,
        "predicates": 1.0,
    }
    roles = Srl().by_role(examples, answers)
    assert {role: values["f1"] for role, values in roles.items()} == {"ARG0": pytest.approx(2 / 3), "R-ARG0": 0.0}


def test_a_continuation_of_nothing_is_an_argument_of_its_own() -> None:
    assert collect_arguments([Span("C-ARG1", 0, 2)]) == {("ARG1", ((0, 2),))}
    twice = [Span("ARG1", 0, 1), Span("ARG1", 1, 2), Span("C-ARG1", 3, 4), Span("C-ARG1", 5, 6)]
    assert collect_arguments(twice) == {("ARG1", ((0, 1),)), ("ARG1", ((1, 2), (3, 4), (5, 6)))}


def test_finding_predicates_counts_a_sentence_once() -> None:
    """Of two predicates one is found, in a sentence that comes twice; another sentence has none, and one is seen."""
    examples = [
        SrlExample(JOHN, 1, WANTS, (1, 3)),
        SrlExample(JOHN, 3, GOES, (1, 3)),
        SrlExample(("Ouch",), predicates=()),
    ]
    answers = [frame(1, list(WANTS), 5, [1]), frame(3, list(GOES), 5, [1]), {"predicates": [0], "frames": []}]
    scores = Srl().score(examples, answers)
    assert scores["predicates"] == pytest.approx(0.5)  # right 1, found 2, true 2
    assert scores["f1"] == scores["perfect"] == 1


@pytest.fixture
def model() -> TaskModel:
    torch.manual_seed(4)
    inputs = Inputs(Embedding(characters=8))
    labels = {"roles": ["ARG0", "ARG1", "V"]}
    return TaskModel(SMALL, labels, inputs, SMALL.network(inputs.sizes, labels)).eval()


def test_an_example_has_the_same_answer_alone_and_beside_others(model: TaskModel) -> None:
    examples = [
        SrlExample(JOHN, 1),
        SrlExample(JOHN, 3),
        SrlExample(("Go", "!"), 0),
        SrlExample(("Who", "knows", "?")),
        SrlExample(JOHN),
    ]
    assert model.predict(examples) == [model.predict([example])[0] for example in examples]


def test_the_predicate_and_it_alone_begins_v_in_every_answer(model: TaskModel) -> None:
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(5)
    for place in range(5):
        (answer,) = model.predict([SrlExample(JOHN, place)])
        (one,) = answer["frames"]
        assert [role.start for role in decode_spans(one["tags"]) if role.label == "V"] == [place]
        assert encode_tags(decode_spans(one["tags"]), 5) == one["tags"]


def test_plain_text_has_a_frame_for_each_predicate_that_is_found(model: TaskModel) -> None:
    with torch.no_grad():
        model.network.finds.weight.zero_()
        model.network.finds.bias.fill_(1)  # sees predicates everywhere
    (answer,) = model.predict([SrlExample(JOHN)])
    assert answer["predicates"] == [one["predicate"] for one in answer["frames"]] == [0, 1, 2, 3, 4]
    with torch.no_grad():
        model.network.finds.bias.fill_(-1)
    assert model.predict([SrlExample(JOHN)]) == [{"predicates": [], "frames": []}]


def test_the_finder_changes_nothing_in_the_vectors_that_it_hears(model: TaskModel) -> None:
    model.loss([SrlExample(("Ouch", "!"), predicates=())]).backward()
    assert all(parameter.grad is None or not parameter.grad.any() for parameter in model.inputs.parameters())
    assert model.network.finds.weight.grad.any()
    model.loss([SrlExample(JOHN, 1, WANTS, (1, 3))]).backward()
    assert any(parameter.grad is not None and parameter.grad.any() for parameter in model.inputs.parameters())


def test_training_needs_roles(model: TaskModel) -> None:
    with pytest.raises(OptionError, match=r"'John wants to go \.' has no gold labels"):
        model.loss([SrlExample(JOHN, 1)])


@pytest.mark.parametrize("highway", ["within", "between"])
def test_the_labeller_learns_a_slice_of_the_web_treebank(data: Path, tmp_path: Path, highway: Any) -> None:
    task = Srl(**(SMALL.as_dict() | {"highway": highway}))
    examples = [one for one in task.read(data / "data/tasks/srl/ewt-test.conll.xz") if len(one.words) < 10][:24]
    training = Training(epochs=20, batch=8, learning_rate=2e-2, patience=None)
    model = fit(task, Embedding(words=24, characters=8), examples, training=training, runtime=Runtime(1))
    scores = model.evaluate(examples)
    assert scores["f1"] > 0.7
    assert scores["predicates"] > 0.8
    save(model, tmp_path / "srl")
    assert load(tmp_path / "srl").predict(examples) == model.predict(examples)
