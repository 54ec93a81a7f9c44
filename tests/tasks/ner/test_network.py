"""The tagger: batches, valid tag sequences and errors."""

from __future__ import annotations

import pytest
import torch

from firth.errors import OptionError
from firth.tasks.inputs import Embedding, Inputs
from firth.tasks.model import TaskModel
from firth.tasks.ner.data import NerExample
from firth.tasks.ner.task import Ner
from firth.tasks.tags import Span

SMALL = Ner(hidden=(32, 16), dropout=0.0)


def make_model(kinds: list[str]) -> TaskModel:
    torch.manual_seed(4)
    inputs = Inputs(Embedding(characters=8))
    labels = {"kinds": kinds}
    return TaskModel(SMALL, labels, inputs, SMALL.network(inputs.sizes, labels)).eval()


def test_a_sentence_has_the_same_tags_and_loss_alone_and_beside_others() -> None:
    model = make_model(["LOC", "PER"])
    texts = "Mary went to Rome with Paul Smith today .", "Who ?", "Ann"
    examples = [NerExample(tuple(text.split()), (Span("PER", 0, 1),)) for text in texts]
    together, alone = model.predict(examples), [model.predict([example])[0] for example in examples]
    assert [answer["tags"] for answer in together] == [answer["tags"] for answer in alone]
    for answer, other in zip(together, alone):
        assert answer["probabilities"] == pytest.approx(other["probabilities"], abs=1e-5)
    losses = torch.stack([model.loss([example]) for example in examples])
    assert torch.allclose(model.loss(examples), losses.mean(), atol=1e-5)


def test_every_answer_is_a_sequence_that_bio_allows() -> None:
    model = make_model(["LOC", "PER"])
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(9)
    tags = model.predict([NerExample(tuple(f"word{n}" for n in range(40)))])[0]["tags"]
    assert any(tag != "O" for tag in tags)
    for before, after in zip(["O", *tags], tags):
        assert after[0] != "I" or before[1:] == after[1:]


def test_training_needs_names_and_kinds_that_it_knows() -> None:
    model = make_model(["PER"])
    with pytest.raises(OptionError, match="'Ann left' has no gold labels"):
        model.loss([NerExample(("Ann", "left"))])
    with pytest.raises(OptionError, match="no training example has the label 'GPE'"):
        model.loss([NerExample(("Rome",), (Span("GPE", 0, 1),))])
