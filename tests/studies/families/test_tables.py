"""Tables of families, from numbers made up so that the answer is known."""

from __future__ import annotations

from typing import Any

from firth.show.charts import LineChart
from firth.studies.families.tables import cost_tables, curve_tables, describe, elmo_table, power


def measured(family: str, words: int, seconds: float, megabytes: float, value: float | None) -> dict[str, Any]:
    score = {"value": value, "used": 5, "total": 7}
    return {
        "family": family,
        "words": words,
        "reading": {"cpu": 0.0, "wall": 0.0},
        "training": {"cpu": seconds, "wall": 2 * seconds},
        "megabytes_before": 100.0,
        "megabytes": megabytes,
        "same": {"google": score},
        "whole": {"google": score},
    }


TRAINED = [
    measured("CBOW", 1_000_000, 2.0, 110.0, 10.0),
    measured("CBOW", 2_000_000, 8.0, 120.0, 20.04),
    measured("PPMI", 1_000_000, 1.0, 100.0, None),
    measured("PPMI", 2_000_000, 2.0, 110.0, 7.0),
]


def test_costs_are_for_a_million_words_and_say_how_they_grow() -> None:
    (time, memory), charts = cost_tables(TRAINED)
    assert time.columns == ("family", "1 M words", "2 M words", "grows with")
    assert time.rows == (("CBOW", 2.0, 4.0, 2.0), ("PPMI", 1.0, 1.0, 1.0))
    assert memory.rows == (("CBOW", 110.0, 120.0, 1.0), ("PPMI", 100.0, 110.0, None))  # nothing grows from nothing
    drawn = charts["time"]
    assert isinstance(drawn, LineChart)
    assert drawn.series["CBOW"] == [(1_000_000, 2.0), (2_000_000, 4.0)]
    assert drawn.log_x


def test_a_score_that_is_missing_is_no_point_of_a_line() -> None:
    (table,), charts = curve_tables(TRAINED)
    assert table.title == "Google analogies, 5 of its 7 questions: percent"
    assert table.rows == (("CBOW", 10.0, 20.0), ("PPMI", None, 7.0))
    drawn = charts["google"]
    assert isinstance(drawn, LineChart)
    assert drawn.series["PPMI"] == [(2_000_000, 7.0)]
    assert drawn.y_label == "right answers, percent"


def test_elmo_is_told_by_token() -> None:
    one = {
        "preset": "tiny",
        "training": {"cpu": 30.0},
        "tokens_seen": 60_000,
        "tokens_a_second": 1000,
        "megabytes": 500,
    }
    (table,), _ = elmo_table([one])
    assert table.rows == (("tiny", 1000, 500.0, 500),)
    assert "benchmarks/RESULTS.md" in table.note
    assert elmo_table([]) == ([], {})


def test_the_power_of_a_law_is_found() -> None:
    assert power([1, 10, 100], [5 * x**0.5 for x in (1, 10, 100)]) == 0.5


def test_the_words_say_how_long_it_took() -> None:
    text = describe({"contexts": 1000, "dim": 8, "training_threads": 1, "turns": 1}, "a.txt", {"training": 90.0})
    assert "in 1,000\nwords of text" in text
    assert "By the clock: training 1.5 minutes." in text
