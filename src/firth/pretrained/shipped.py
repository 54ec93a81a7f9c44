"""The models that come with firth, by name: each is a folder beside this file, with its card in README.md.

`scripts/pretrained.py` makes every one of them again, `scripts/task_models.py` those of the tasks.
"""

from __future__ import annotations

import difflib
import json
import os
from pathlib import Path

from firth.errors import OptionError

HERE = Path(__file__).resolve().parent
SHIPPED = {
    "elmo-en": "English ELMo with its softmax: words in context, scores, gaps filled, text drawn",
    "word2vec-en": "English skip-gram vectors: neighbors, analogies",
    "glove-en": "English GloVe vectors",
    "fasttext-en": "English vectors of words and their n-grams: a vector for nearly any word",
    "svd-en": "English vectors by counting: PPMI, then SVD",
    "fasttext-fa": "Persian vectors of words and their n-grams: a vector for any word",
    "task-sentiment": "English sentiment in five grades, on glove-en and elmo-en",
    "task-entailment": "English entailment: does one sentence follow from another? On glove-en and elmo-en",
    "task-ner": "English names of people, places, organizations and others, on glove-en and elmo-en",
    "task-srl": "English predicates and their roles: who did what to whom? On glove-en and elmo-en",
    "task-coref": "English coreference: which words speak of the same thing? On glove-en and elmo-en",
    "task-qa": "English questions: where in a passage is the answer? On glove-en and elmo-en",
}
EXAMPLES: dict[str, tuple[str, ...]] = {  # texts to try the model of each task on
    "ner": ("Elon Musk founded SpaceX.",),
    "srl": ("John broke the vase.",),
    "coref": ("Mary went to the store. She bought some milk.",),
    "qa": ("The cat sat on the mat.", "Where did the cat sit?"),
    "entailment": ("All birds can fly.", "Penguins can fly."),
    "sentiment": ("The movie was fantastic!",),
}
TASK, CONFIG = "task-", "config.json"  # how names of models of tasks begin, and the file that tells what a model is


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
        raise OptionError(f"{name}: no shipped model has this name. {suggest(name)}")
    if name not in available():
        raise OptionError(f"{name}: this model is missing from the installation. Install firth again")
    return HERE / name


def locate(path: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """Where a model lies: a path as it is where something is there, else the folder of the shipped model it names.

    >>> locate("README.md"), os.path.basename(locate("svd-en"))
    ('README.md', 'svd-en')
    """
    name = os.fspath(path)
    return place(name) if not os.path.exists(path) and name in SHIPPED else path


def locate_task(name: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """Where the model of a task lies: a file or the folder of a model that has this name, else what ships for the task.

    >>> os.path.basename(locate_task("ner")), os.path.basename(locate_task("task-ner")), locate_task("models/mine")
    ('task-ner', 'task-ner', 'models/mine')
    """
    if os.path.isfile(name) or Path(name, CONFIG).is_file():
        return name
    of_this_name = f"{TASK}{os.fspath(name)}"
    return place(of_this_name) if of_this_name in SHIPPED else locate(name)


def kind(name: str) -> str:
    """What a shipped model is: the kind of its file, and the task of a task's model.

    >>> kind("elmo-en"), kind("svd-en"), kind("task-ner")
    ('bilm', 'word-vectors', 'task: ner')
    """
    told = json.loads((place(name) / CONFIG).read_bytes())
    return f"task: {told['config']['task']}" if told["kind"] == "task" else str(told["kind"])


def suggest(name: str) -> str:
    """What to say to someone who asked for a model that is not there: a near spelling, and all names.

    >>> suggest("fastext-fa").split(" There")[0]
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
