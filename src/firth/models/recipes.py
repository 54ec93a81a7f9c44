"""Every recipe by the name that the command line uses."""

from __future__ import annotations

from firth.models.counts import Counts
from firth.models.ngram import Ngram

RECIPES: dict[str, type[Counts] | type[Ngram]] = {"counts": Counts, "ngram": Ngram}
