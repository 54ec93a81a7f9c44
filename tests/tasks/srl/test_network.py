"""The role labeler and its predicate finder."""

from __future__ import annotations

import pytest
import torch

from firth.errors import OptionError
from firth.tasks.inputs import Embedding, Inputs
from firth.tasks.model import TaskModel
from firth.tasks.srl.data import SrlExample
from firth.tasks.srl.task import Srl
from firth.tasks.tags import Span, decode_spans, encode_tags

SMALL = Srl(layers=2, hidden=24, predicate_dim=8, finder=12, dropout=0.0, recurrent_dropout=0.0)
JOHN = ("John", "wants", "to", "go", ".")
WANTS = (Span("ARG0", 0, 1), Span("V", 1, 2), Span("ARG1", 2, 4))


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
    together = model.predict(examples)
    for example, answer in zip(examples, together):
        [alone] = model.predict([example])
        assert alone["predicates"] == answer["predicates"]
        for frame, other in zip(alone["frames"], answer["frames"], strict=True):
            assert frame["tags"] == other["tags"]
            for name in ("found", "probability", "probabilities"):
                assert frame[name] == pytest.approx(other[name], abs=1e-5)


def test_the_predicate_and_it_alone_begins_v_in_every_answer(model: TaskModel) -> None:
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(5)
    for place in range(5):
        (answer,) = model.predict([SrlExample(JOHN, place)])
        (one,) = answer["frames"]
        assert [role.start for role in decode_spans(one["tags"]) if role.label == "V"] == [place]
        assert encode_tags(decode_spans(one["tags"]), 5) == one["tags"]


def test_an_auxiliary_without_arguments_has_no_frame_in_plain_text(
    model: TaskModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All words are found as predicates, and none has an argument: `has` and `been` are left out, `slept` is not."""
    words = ("Has", "been", "slept", "been")
    with torch.no_grad():
        model.network.finds.weight.zero_()
        model.network.finds.bias.fill_(1)
        model.network.scores.weight.zero_()
        model.network.scores.bias.zero_()
        model.network.scores.bias[model.network.ids["O"]] = 50
    (answer,) = model.predict([SrlExample(words)])
    assert answer["predicates"] == [0, 1, 2, 3]  # which is what is scored
    assert [frame["predicate"] for frame in answer["frames"]] == [2, 3]
    (given,) = model.predict([SrlExample(words, 0)])  # a predicate of a file is always answered
    assert [frame["predicate"] for frame in given["frames"]] == [0]


def test_plain_text_has_a_frame_for_each_predicate_that_is_found(model: TaskModel) -> None:
    with torch.no_grad():
        model.network.finds.weight.zero_()
        model.network.finds.bias.fill_(1)  # sees predicates everywhere
    (answer,) = model.predict([SrlExample(JOHN)])
    assert answer["predicates"] == [one["predicate"] for one in answer["frames"]] == [0, 1, 2, 3, 4]
    with torch.no_grad():
        model.network.finds.bias.fill_(-1)
    assert model.predict([SrlExample(JOHN)]) == [{"predicates": [], "frames": []}]


def test_the_finder_sends_no_gradient_into_its_input_vectors(model: TaskModel) -> None:
    model.loss([SrlExample(("Ouch", "!"), predicates=())]).backward()
    assert all(parameter.grad is None or not parameter.grad.any() for parameter in model.inputs.parameters())
    assert model.network.finds.weight.grad.any()
    model.loss([SrlExample(JOHN, 1, WANTS, (1, 3))]).backward()
    assert any(parameter.grad is not None and parameter.grad.any() for parameter in model.inputs.parameters())


def test_training_needs_roles(model: TaskModel) -> None:
    with pytest.raises(OptionError, match=r"'John wants to go \.' has no gold labels"):
        model.loss([SrlExample(JOHN, 1)])
