"""The metrics of entailment are those of scikit-learn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, precision_recall_fscore_support

from firth.tasks.entailment.data import EntailmentExample
from firth.tasks.entailment.score import score_entailment

labels = st.sampled_from(["entailment", "neutral", "contradiction"])


@given(st.lists(st.tuples(labels, labels), min_size=1, max_size=30))
def test_scores_are_those_of_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    gold, predicted = [one for one, _ in pairs], [one for _, one in pairs]
    examples = [EntailmentExample(("A", "dog"), ("A", "cat"), label) for label in gold]
    scores = score_entailment(examples, [{label: 1.0} for label in predicted])
    assert scores["accuracy"] == pytest.approx(accuracy_score(gold, predicted))
    found = sorted(set(gold))
    each = precision_recall_fscore_support(gold, predicted, labels=found, zero_division=0)[2]
    assert [scores[f"{label}_f1"] for label in found] == pytest.approx(list(each))
    assert scores["macro_f1"] == pytest.approx(sum(each) / len(found))
