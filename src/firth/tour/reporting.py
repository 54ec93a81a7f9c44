"""The last step of the tour: what to look at."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from rich.console import Group
from rich.style import Style
from rich.text import Text

import firth
from firth.errors import OptionError
from firth.files import write_bytes
from firth.maps.cache import cache_folder
from firth.maps.report import make_report
from firth.maps.scatter import ScatterData
from firth.maps.senses import map_examples
from firth.show import terminal
from firth.tour.materials import Materials, TourStep

CARD = "Vectors by SVD of the PPMI matrix of the text of the tour. A small text gives a small map."
WORDS = ("bank", "bat", "spring")


def write_report(materials: Materials) -> TourStep:
    """Writes a report of the vectors of the tour, with a map of senses. The file stays when the tour is over."""
    vectors = materials.vectors
    senses: dict[str, ScatterData] = {}
    if materials.contextual is not None:
        with suppress(OptionError):  # a biLM that has not two layers has no map of senses
            senses = map_examples(materials.contextual[1], words=WORDS)
    page = make_report(
        "tour", vectors, card=CARD, senses=senses, version=firth.__version__, command="firth explore"
    ).encode()
    path = keep(page, materials.folder)
    address = path.resolve().as_uri()
    rows = [(path.name, len(vectors), ", ".join(senses) or "–", len(page))]
    return TourStep(
        "Look",
        "A report is one HTML file with a map of the words, their neighbors, senses, scores and the card; it needs no "
        "network. The explorer shows maps, senses, training and tasks in the browser.",
        Group(
            terminal.table("", ["file", "words", "senses of", "bytes"], rows),
            Text.assemble("Open it: ", (address, Style(link=address, underline=True))),
        ),
        "firth report word2vec-en --out report.html && firth explore",
        {"report": {"path": str(path), "words": len(vectors), "senses": list(senses), "bytes": len(page)}},
    )


def keep(page: bytes, spare: Path) -> Path:
    """Writes the page into the cache of firth, or into another folder where that cannot be written."""
    for path in (cache_folder().with_name("tour.html"), spare / "tour.html"):
        try:
            with write_bytes(path) as file:
                file.write(page)
        except OSError:
            continue
        break
    return path
