"""Answers of tasks: the words and spans to color, from what `ask` gives."""

from __future__ import annotations

import firth
from firth.explorer.answers.tasks import TaskAnswer, spans_of, task_models
from firth.explorer.models import Models
from firth.explorer.spans import LabeledSpan

PIECE = {"token_start": 0, "token_end": 2, "label": "PER", "probability": 0.5}


def test_entities_frames_and_mentions_are_layers_over_the_words() -> None:
    assert spans_of([PIECE]) == (LabeledSpan(0, 2, "PER", 0.5),)
    frames = TaskAnswer.of({"tokens": ["a", "b"], "frames": [{"roles": [PIECE]}, {"roles": []}]})
    assert [len(layer) for layer in frames.layers] == [1, 0]
    clusters = TaskAnswer.of({"tokens": ["a", "b"], "clusters": [{"mentions": [PIECE, PIECE]}, {"mentions": [PIECE]}]})
    assert [span.label for span in clusters.layers[0]] == ["1", "1", "2"]
    assert TaskAnswer.of({"label": "positive"}).layers == ()


def test_the_spans_of_a_model_are_its_entities() -> None:
    assert set(task_models(Models())) == {"ner", "srl", "coref", "qa", "entailment", "sentiment"}
    [described] = firth.load("ner").ask("Marie Curie worked in Paris.")
    answer = TaskAnswer.of(described)
    shown = [" ".join(answer.words[span.start : span.end]) for span in answer.layers[0]]
    assert shown == [entity["text"] for entity in described["entities"]]
    assert shown
