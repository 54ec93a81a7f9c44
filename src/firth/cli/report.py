"""`firth report`: a model in one HTML file."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.text import Text

import firth
from firth.cli.flags import Force, Json, Model
from firth.cli.loading import is_bilm, load_as
from firth.cli.models import interval, make_card
from firth.cli.output import answer
from firth.cli.overwrite import check_outputs
from firth.evaluate.intrinsic import evaluate
from firth.files import write_bytes
from firth.formats.registry import load
from firth.maps.report import make_report
from firth.maps.senses import map_examples
from firth.pretrained import shipped
from firth.show import terminal
from firth.show.cards import card_of
from firth.show.numbers import format_bytes
from firth.vectors.words import WordVectors


def report(
    model: Model,
    /,
    *,
    out: Annotated[Path, Parameter(help="HTML file to write.")],
    words: Annotated[int, Parameter(help="Number of words, the most frequent ones.")] = 20_000,
    evaluation: Annotated[
        bool, Parameter(negative="--no-evaluation", help="Evaluate on the test sets at hand.")
    ] = True,
    force: Force = False,
    json: Json = False,
) -> None:
    """Write a report: one HTML file with map, neighbors, evaluation and card of word vectors, or the senses of a biLM.

    The file opens from disk without a network, and can be sent by mail.

    For example:

        firth report word2vec-en --out report.html
        firth report vectors/ --out report.html --words 5000 --no-evaluation
        firth report elmo-en --out senses.html
    """
    check_outputs([out], [model], force=force, models=False)
    opened = load(model)
    path = card_of(Path(shipped.locate(model)))
    card = path.read_text(encoding="utf-8") if path.is_file() else make_card(model)
    card = remove_title(card.removeprefix("---\n").split("\n---\n", 1)[-1].strip())
    senses = map_examples(opened) if is_bilm(opened) else {}
    vectors = None if senses else load_as(model, WordVectors, "word vectors, or a biLM", opened)
    with terminal.progress() as progress:
        scores = evaluate(vectors, report=progress) if vectors is not None and evaluation else []
    rows = [(one.task, one.name, one.metric, one.value, interval(one.interval), one.used, one.total) for one in scores]
    page = make_report(
        model, opened, card=card, scores=rows, senses=senses, words=words, version=firth.__version__
    ).encode()
    with write_bytes(out) as file:
        file.write(page)
    picture = Text(f"{out}: {format_bytes(len(page))}. Open it in a browser.")
    shown = len(senses) if vectors is None else min(words, len(vectors))
    answer({"report": str(out), "bytes": len(page), "words": shown}, picture, json)


def remove_title(card: str) -> str:
    """A card without its first heading, which repeats the name of the model.

    >>> remove_title("# tea\\n\\nHot.")
    'Hot.'
    """
    return card.partition("\n")[2].strip() if card.startswith("# ") else card
