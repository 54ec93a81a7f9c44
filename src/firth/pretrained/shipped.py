"""The pretrained models that come with firth. Each is a folder beside this file, with its card in README.md.

`scripts/pretrained.py` trains the word vectors and the biLM, `scripts/task_models.py` the task models. To add a model,
add its folder and its line in `SHIPPED`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from firth.errors import OptionError
from firth.errors import suggest as suggest_name
from firth.pretrained.places import find_elsewhere
from firth.remote.addresses import address_of

HERE = Path(__file__).resolve().parent
SHIPPED = {
    "elmo-en": "English ELMo with its softmax: contextual vectors, sentence scores, word prediction and generation",
    "elmo-fa": "Persian ELMo with its softmax: contextual vectors, sentence scores, word prediction and generation",
    "word2vec-en": "English word2vec vectors, trained with skip-gram",
    "glove-en": "English GloVe vectors",
    "fasttext-en": "English fastText vectors: character n-grams give unseen words vectors too",
    "svd-en": "English count-based vectors: truncated SVD of a PPMI matrix",
    "fasttext-fa": "Persian fastText vectors: character n-grams give unseen words vectors too",
    "task-sentiment": "English sentiment classification in five classes, on glove-en and elmo-en",
    "task-entailment": "English textual entailment: entailment, neutral or contradiction, on glove-en and elmo-en",
    "task-ner": "English named entity recognition, on glove-en and elmo-en",
    "task-srl": "English semantic role labeling: predicates and their arguments, on glove-en and elmo-en",
    "task-coref": "English coreference resolution: mentions of the same entity, on glove-en and elmo-en",
    "task-qa": "English extractive question answering: the answer as a span of a passage, on glove-en and elmo-en",
}
TASK, CONFIG = "task-", "config.json"  # prefix of the names of task models, and the file that says what a model is


def available() -> list[str]:
    """The names of the pretrained models that are installed."""
    return [name for name in SHIPPED if (HERE / name).is_dir()]


def tasks() -> list[str]:
    """The tasks that have a pretrained model.

    >>> tasks()
    ['sentiment', 'entailment', 'ner', 'srl', 'coref', 'qa']
    """
    return [name.removeprefix(TASK) for name in SHIPPED if name.startswith(TASK)]


def place(name: str) -> Path:
    """The folder of a pretrained model.

    >>> place("word2vec-en").name
    'word2vec-en'
    >>> place("word2vec-em")
    Traceback (most recent call last):
    firth.errors.OptionError: word2vec-em: no pretrained model has this name. Did you mean 'word2vec-en'?
    """
    if name not in SHIPPED:
        raise OptionError(f"{name}: no pretrained model has this name. {suggest(name)}")
    if name not in available():
        raise OptionError(f"{name}: this model is missing from the installation. Install firth again")
    return HERE / name


def locate(path: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """The path of a model: the path itself if it exists, else the folder of the pretrained model of that name or task.

    For an address, such as s3://bucket/model or hf://owner/name, it is the path of a copy in the cache, which is
    downloaded if need be. The name of a published model is the file that `firth pull` fetched.

    >>> locate("README.md"), os.path.basename(locate("svd-en")), os.path.basename(locate("ner"))
    ('README.md', 'svd-en', 'task-ner')
    """
    if os.path.exists(path):
        return path
    name = os.fspath(path)
    ships = next((place(known) for known in (name, TASK + name) if known in SHIPPED), None)
    return ships or find_elsewhere(name) or path


def locate_task(name: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """The path of a task model: a file or model folder of this name, else the pretrained model of the task.

    >>> os.path.basename(locate_task("ner")), os.path.basename(locate_task("task-ner")), locate_task("models/mine")
    ('task-ner', 'task-ner', 'models/mine')
    """
    if os.path.isfile(name) or Path(name, CONFIG).is_file() or address_of(name) is not None:
        return locate(name)
    of_this_name = f"{TASK}{os.fspath(name)}"
    return place(of_this_name) if of_this_name in SHIPPED else locate(name)


def kind(name: str) -> str:
    """The kind of a pretrained model; for a task model, its task.

    >>> kind("elmo-en"), kind("svd-en"), kind("task-ner")
    ('bilm', 'word-vectors', 'task: ner')
    """
    config = json.loads((place(name) / CONFIG).read_bytes())
    return f"task: {config['config']['task']}" if config["kind"] == "task" else str(config["kind"])


def suggest(name: str) -> str:
    """The end of an error about an unknown model: the most similar name of a model or a task, or all names.

    >>> suggest("fastext-fa"), suggest("nerr")
    ("Did you mean 'fasttext-fa'?", "Did you mean 'ner'?")
    """
    return suggest_name(name.lower(), [*available(), *tasks()])


def card(name: str) -> str:
    """The card of a pretrained model, as Markdown."""
    return (place(name) / "README.md").read_text(encoding="utf-8")


def size(name: str) -> int:
    """The size of a pretrained model on disk in bytes, with its card."""
    return sum(file.stat().st_size for file in place(name).iterdir() if file.is_file())
