"""`firth align`: map the vectors of one model into the space of another."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Group
from rich.text import Text

from firth.cli.flags import Force, Json, Model, Target
from firth.cli.loading import load_vectors
from firth.cli.output import answer
from firth.cli.overwrite import check_outputs
from firth.errors import FormatError
from firth.files import read_lines
from firth.formats.registry import check_target, save
from firth.models.vector_map import align as align_vectors
from firth.show import terminal


def align(
    source: Model,
    target: Model,
    /,
    *,
    out: Target,
    dictionary: Annotated[
        str | None,
        Parameter(
            help="Pairs of words, one per line: a word of SOURCE, a tab, one of TARGET. Default: the words that both "
            "models have."
        ),
    ] = None,
    test: Annotated[
        str | None, Parameter(help="Pairs to evaluate the map on, in the same form. They are not trained on.")
    ] = None,
    vectors: Annotated[
        str | None, Parameter(help="Also write the vectors of SOURCE in the space of TARGET to this file or folder.")
    ] = None,
    refine: Annotated[
        int, Parameter(help="Rounds of refinement, with the mutual nearest neighbors of both models as pairs.")
    ] = 5,
    frequent: Annotated[int, Parameter(help="Number of the most frequent words that refinement looks at.")] = 10_000,
    force: Force = False,
    json: Json = False,
) -> None:
    """Map the vectors of one model into the space of another, such as English into Persian.

    The map is a rotation (orthogonal Procrustes). Precision at 1 and 5 on --test says how often the translation of a
    word is its nearest neighbor in TARGET, or among the five nearest, by CSLS.

    For example:

        firth align word2vec-en fasttext-fa --dictionary pairs.tsv --test held-out.tsv --out en-fa/
        firth align 1950s/ 1990s/ --out map/ --vectors 1950s-in-1990s/
    """
    check_target(out)
    check_outputs([out, vectors], [source, target, dictionary, test], force=force)
    pairs = None if dictionary is None else read_translations(dictionary)
    held_out = None if test is None else read_translations(test)
    first, second = load_vectors(source), load_vectors(target)
    with terminal.progress() as report:
        found = align_vectors(first, second, pairs, refine=refine, frequent=frequent, report=report)
    found.metadata |= {"source": Path(source).name, "target": Path(target).name}
    save(found, out)
    if vectors is not None:
        save(found.apply(first), vectors)
    values = {"out": out, "pairs": found.metadata["pairs"], "refined pairs": found.metadata["refined"]}
    if held_out is not None:
        values |= found.evaluate(first, second, held_out).as_dict()
    picture = Group(Text(repr(found)), terminal.table("", ["", "value"], list(values.items())))
    answer(values, picture, json, values.items())


def read_translations(path: str) -> list[tuple[str, str]]:
    """The pairs of a dictionary: a word, a tab and its translation on each line; lines with # in front are skipped."""
    pairs = []
    for number, line in read_lines(path, blank=False):
        if line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split("\t")]
        if len(fields) != 2 or not all(fields):
            raise FormatError(path, f"expected a word, a tab and its translation, found {line!r:.60}", line=number)
        pairs.append((fields[0], fields[1]))
    return pairs
