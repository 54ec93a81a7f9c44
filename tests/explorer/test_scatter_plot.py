"""The texts of the plot are those that the script knows."""

from __future__ import annotations

import re

from firth.explorer.models import Models
from firth.explorer.scatter_plot import TEXTS, make_texts
from firth.explorer.visit import Visit
from firth.maps.scatter import SCRIPT


def test_every_text_of_the_script_is_translated() -> None:
    source = SCRIPT.read_text(encoding="utf-8")
    block = source.partition("const TEXTS = {")[2].partition("};")[0]
    assert set(re.findall(r"(\w+): \"", block)) == set(TEXTS)
    for language in ("en", "fa"):
        texts = make_texts(Visit(Models(), language, "/map"))
        assert "{count}" in texts["selected"]
        assert "{layer}" in texts["layer"]
