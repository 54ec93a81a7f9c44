"""The plots of the page of analogies."""

from __future__ import annotations

from collections.abc import Mapping

from firth.explorer.models import Models
from firth.explorer.translations import LANGUAGES, Language
from firth.maps.analogies import RelationPlot, draw_parallelogram, find_relation, solve

SHOWN = 4  # answers in the plot


def guess_language(model: str) -> Language:
    """The language of relations and examples for a model, by its name.

    >>> guess_language("fasttext-fa"), guess_language("vectors/")
    ('fa', 'en')
    """
    return next((language for language in LANGUAGES if model.rstrip("/").endswith(f"-{language}")), "en")


def pack_analogy(models: Models, parameters: Mapping[str, str]) -> bytes:
    """The parallelogram of a, b, c and its answers.

    >>> from firth.maps.scatter import unpack
    >>> head, _ = unpack(pack_analogy(Models(), {"model": "word2vec-en", "a": "man", "b": "king", "c": "woman"}))
    >>> head["names"][:3]
    ['man', 'king', 'woman']
    """
    vectors = models.load(parameters.get("model", ""))
    a, b, c = (parameters.get(name, "") for name in "abc")
    near = solve(vectors, a, b, c, SHOWN, keep_inputs=parameters.get("inputs") == "kept")
    answers = [word for word, _ in near if word not in (a, b, c)]
    return draw_parallelogram(vectors, a, b, c, answers, parameters.get("label", "answer")).pack()


def pack_relation(models: Models, parameters: Mapping[str, str]) -> bytes:
    """A whole relation as arrows.

    >>> from firth.maps.scatter import unpack
    >>> head, _ = unpack(pack_relation(Models(), {"model": "word2vec-en", "relation": "gender"}))
    >>> [head["names"][head["arrows"][1][end]] for end in ("from", "to")]
    ['king', 'queen']
    """
    model = parameters.get("model", "")
    pairs = find_relation(parameters.get("relation", ""), guess_language(model))
    plot = RelationPlot.of(models.load(model), pairs)
    first, second, label = (parameters.get(name, name) for name in ("first", "second", "label"))
    return plot.scatter(first, second, label).pack()
