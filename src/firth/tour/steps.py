"""`firth tour`: the steps of the tour, in order. To add a step, write a function and add it to `STEPS`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from firth.temporary import TemporaryFolder
from firth.tour.answering import run_tasks
from firth.tour.context import compare_contexts, score_with_bilm
from firth.tour.counting import (
    compare_ratios,
    count_cooccurrence,
    count_words,
    draw_map,
    find_neighbors,
    tokenize,
    weight_by_tfidf,
)
from firth.tour.learning import convert_formats, embed_unseen_word, score_sentences, solve_analogies, train_vectors
from firth.tour.materials import Materials, TourStep
from firth.tour.reporting import write_report

MakeStep = Callable[[Materials], TourStep]
STEPS: tuple[MakeStep, ...] = (
    tokenize,
    count_words,
    weight_by_tfidf,
    count_cooccurrence,
    compare_ratios,
    find_neighbors,
    draw_map,
    train_vectors,
    embed_unseen_word,
    solve_analogies,
    score_sentences,
    convert_formats,
    compare_contexts,
    score_with_bilm,
    run_tasks,
    write_report,
)


def run_tour(
    paths: Sequence[str] = (), visit: Callable[[int, TourStep], None] | None = None, *, elmo: str | None = None
) -> list[TourStep]:
    """All steps on these texts, or on the text that comes with firth.

    `visit` is called with each step and its number as soon as it is made. `elmo` is a contextual model.
    """
    steps = []
    with TemporaryFolder("tour") as folder:
        materials = Materials(tuple(paths), folder.path, elmo)
        for number, make_step in enumerate(STEPS, start=1):
            steps.append(make_step(materials))
            if visit is not None:
                visit(number, steps[-1])
    return steps
