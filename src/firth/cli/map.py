"""`firth map`: the map of a model as a table."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter, validators
from rich.text import Text

from firth.cli.flags import Force, Json, Model
from firth.cli.loading import load_as
from firth.cli.output import answer
from firth.cli.overwrite import check_outputs
from firth.maps.layout import Layout
from firth.maps.table import NEIGHBORS, check_form, write_map_table
from firth.show.numbers import format_bytes
from firth.vectors.words import WordVectors


def write_map(
    model: Model,
    /,
    *,
    out: Annotated[Path, Parameter(help="File to write: .parquet, for embedding-atlas and data frames, or .tsv.")],
    words: Annotated[
        int, Parameter(help="Number of words, the most frequent ones.", validator=validators.Number(gte=1))
    ] = 100_000,
    layout: Annotated[
        Literal["umap", "tsne"], Parameter(help="Layout: UMAP, or t-SNE, which keeps more and needs openTSNE.")
    ] = "umap",
    neighbors: Annotated[
        int, Parameter(help="Neighbors of each word in a Parquet file; 0 for none.", validator=validators.Number(gte=0))
    ] = NEIGHBORS,
    force: Force = False,
    json: Json = False,
) -> None:
    """Write the map of word vectors as a table: word, rank, position, cluster, kept neighbors.

    The positions are those that `firth explore` shows. A Parquet file opens in embedding-atlas.

    For example:

        firth map word2vec-en --out map.parquet
        embedding-atlas map.parquet --text word --x x --y y --neighbors neighbors
        firth map vectors/ --out map.tsv --words 5000
    """
    check_form(out)
    check_outputs([out], [model], force=force, models=False)
    vectors = load_as(model, WordVectors, "word vectors")
    result = write_map_table(vectors, out, words, layout=Layout(method=layout), neighbors=neighbors)
    size, kept = len(result.positions), round(result.quality, 4)
    picture = Text(f"{out}: {size:,} words, {format_bytes(out.stat().st_size)}. {kept:.0%} of neighbors are kept.")
    answer({"map": str(out), "words": size, "kept": kept, "bytes": out.stat().st_size}, picture, json)
