"""The models that come with firth, by name: each is a folder beside this file, with its card in README.md.

`studies/pretrained.py` makes every one of them again.
"""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from firth.errors import OptionError

HERE = Path(__file__).resolve().parent
SHIPPED = {
    "elmo-en": "English ELMo with its softmax: words in context, scores, gaps filled, text drawn",
    "word2vec-en": "English skip-gram vectors: neighbours, analogies",
    "glove-en": "English GloVe vectors",
    "fasttext-en": "English vectors of words and their n-grams: a vector for nearly any word",
    "svd-en": "English vectors by counting: PPMI, then SVD",
    "fasttext-fa": "Persian vectors of words and their n-grams: a vector for any word",
}


def available() -> list[str]:
    """The names of the models that are there."""
    return [name for name in SHIPPED if (HERE / name).is_dir()]


def place(name: str) -> Path:
    """The folder of a shipped model.

    >>> place("word2vec-en").name
    'word2vec-en'
    >>> place("word2vec-em")
    Traceback (most recent call last):
    firth.errors.OptionError: word2vec-em: no shipped model has this name. Did you mean 'word2vec-en'? There are: ...
    """
    if name not in SHIPPED:
        raise OptionError(f"{name}: no shipped model has this name. {suggestion(name)}")
    if name not in available():
        raise OptionError(f"{name}: this model is missing from the installation. Install firth again")
    return HERE / name


def located(path: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """Where a model lies: a path as it is where something is there, else the folder of the shipped model it names.

    >>> located("README.md"), os.path.basename(located("svd-en"))
    ('README.md', 'svd-en')
    """
    name = os.fspath(path)
    return place(name) if not os.path.exists(path) and name in SHIPPED else path


def suggestion(name: str) -> str:
    """What to say to someone who asked for a model that is not there: a near spelling, and all names.

    >>> suggestion("fastext-fa").split(" There")[0]
    "Did you mean 'fasttext-fa'?"
    """
    near = difflib.get_close_matches(name.lower(), SHIPPED, 1)
    meant = f"Did you mean {near[0]!r}? " if near else ""
    return f"{meant}There are: {', '.join(available())}"


def card(name: str) -> str:
    """The card of a shipped model, as Markdown."""
    return (place(name) / "README.md").read_text(encoding="utf-8")


def size(name: str) -> int:
    """The bytes of a shipped model on disk, its card included."""
    return sum(file.stat().st_size for file in place(name).iterdir() if file.is_file())
