"""The result of a test."""

from __future__ import annotations

import json

from firth.evaluate import (
    Score,
)
from firth.evaluate.score import Scores


def test_a_score_is_plain_json_with_its_coverage() -> None:
    score = Score("similarity", "men", "spearman", 0.5, (0.4, 0.6), 1, 2, {"pearson": 0.4})
    assert json.loads(json.dumps(score.as_dict())) == {
        "task": "similarity",
        "name": "men",
        "metric": "spearman",
        "value": 0.5,
        "interval": [0.4, 0.6],
        "used": 1,
        "total": 2,
        "coverage": 0.5,
        "details": {"pearson": 0.4},
    }
    assert len({score, score}) == 1


def test_a_notebook_shows_scores_as_a_table() -> None:
    score = Score("similarity", "<men>", "spearman", 0.5, (0.4, 0.6), used=9, total=10)
    page = Scores([score, score])._repr_html_()
    assert page.count("&lt;men&gt;") == 2
    assert "0.4000 to 0.6000" in score._repr_html_()
