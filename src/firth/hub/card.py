"""The card of a model on the Hugging Face Hub: README.md with metadata that the hub reads, in YAML.

Values are written as JSON strings, which are YAML too, so that the language "no" stays a text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence, Sized
from typing import Any

from firth.errors import OptionError
from firth.lazy import import_name
from firth.show.cards import LIBRARY, model_card
from firth.show.markdown import markdown_table

CARD = "README.md"
LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*|multilingual|code")
TAG = re.compile(r"[\w][\w .:/+-]{0,95}")
# The names of licences that the hub knows and that texts and vectors have; any other is "other" with its name.
LICENSES = frozenset(
    (
        *("afl-3.0", "agpl-3.0", "apache-2.0", "artistic-2.0", "bsd", "bsd-2-clause", "bsd-3-clause", "bsl-1.0"),
        *("c-uda", "cc", "cc-by-2.0", "cc-by-2.5", "cc-by-3.0", "cc-by-4.0", "cc-by-nc-2.0", "cc-by-nc-3.0"),
        *("cc-by-nc-4.0", "cc-by-nc-nd-3.0", "cc-by-nc-nd-4.0", "cc-by-nc-sa-2.0", "cc-by-nc-sa-3.0"),
        *("cc-by-nc-sa-4.0", "cc-by-nd-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0", "cc0-1.0", "cdla-permissive-1.0"),
        *("cdla-permissive-2.0", "cdla-sharing-1.0", "ecl-2.0", "epl-1.0", "epl-2.0", "eupl-1.1", "eupl-1.2", "gfdl"),
        *("gpl", "gpl-2.0", "gpl-3.0", "isc", "lgpl", "lgpl-2.1", "lgpl-3.0", "lgpl-lr", "lppl-1.3c", "mit", "mpl-2.0"),
        *("ms-pl", "ncsa", "odbl", "odc-by", "ofl-1.1", "openrail", "osl-3.0", "other", "pddl", "postgresql"),
        *("unknown", "unlicense", "wtfpl", "zlib"),
    )
)
PIPELINES = {"task: ner": "token-classification", "task: sentiment": "text-classification"}
PIPELINES |= {"task: entailment": "text-classification", "task: qa": "question-answering"}
VECTORS = ("word-vectors", "subword-vectors", "word2vec", "document-vectors", "bilm")


def hub_card(
    model: Any,
    repository: str,
    *,
    license: str | None = None,
    language: str | Sequence[str] | None = None,
    tags: Sequence[str] = (),
    text: str | None = None,
) -> str:
    """The card of a model for the hub. `text` is its body; by default it is made from the metadata of the model.

    >>> from firth.vectors.words import WordVectors
    >>> page = hub_card(WordVectors(["tea"], [[1.0]]), "ada/tea", license="CC BY-SA 4.0", language="no")
    >>> print(page.split("---")[1].strip())
    library_name: firth
    license: "cc-by-sa-4.0"
    language:
    - "no"
    pipeline_tag: "feature-extraction"
    tags:
    - "firth"
    - "word-representations"
    - "word-vectors"
    """
    kind = describe_kind(model)
    lines = ["---", LIBRARY, *_license_lines(license)]
    languages = [language] if isinstance(language, str) else list(language or ())
    for code in languages:
        if not LANGUAGE.fullmatch(code):
            raise OptionError(f"language is {code!r:.60}, but must be a code such as 'fa' or 'pt-BR'")
    if languages:
        lines += ["language:", *(f"- {json.dumps(code)}" for code in languages)]
    pipeline = "feature-extraction" if model.kind in VECTORS else PIPELINES.get(kind)
    if pipeline is not None:
        lines.append(f"pipeline_tag: {json.dumps(pipeline)}")
    for tag in tags:
        if not TAG.fullmatch(tag):
            raise OptionError(f"{tag!r:.60} is no tag. Use letters, digits, and - _ . : / between them")
    known = dict.fromkeys(["firth", "word-representations", kind.removeprefix("task: "), *tags])
    lines += ["tags:", *(f"- {json.dumps(tag, ensure_ascii=False)}" for tag in known), "---"]
    body = make_body(model, repository) if text is None else _without_front_matter(text)
    return "\n".join(lines) + "\n\n" + body.strip() + "\n"


def describe_kind(model: Any) -> str:
    """What a model is: the name of its recipe, else its kind; for a task model, "task: NAME"."""
    if model.kind == "task":
        return f"task: {model.task.name}"
    recipe = getattr(model, "metadata", {}).get("recipe")
    name = recipe.get("name") if isinstance(recipe, Mapping) else None
    return str(name or model.kind)


def _license_lines(license: str | None) -> list[str]:
    """The metadata of a licence, in the hub's spelling.

    >>> _license_lines("Apache-2.0"), _license_lines("My own terms")
    (['license: "apache-2.0"'], ['license: "other"', 'license_name: "my-own-terms"'])
    """
    if license is None:
        return []
    name = re.sub(r"[\s_]+", "-", license.strip()).lower()
    name = {"pddl-1.0": "pddl", "cc0": "cc0-1.0", "unlicence": "unlicense"}.get(name, name)
    if name in LICENSES:
        return [f"license: {json.dumps(name)}"]
    return ['license: "other"', f"license_name: {json.dumps(name)}"]


def make_body(model: Any, repository: str) -> str:
    """The body of a card, from the metadata of the model, with the line that opens it from the hub."""
    name = repository.rpartition("/")[2]
    metadata = getattr(model, "metadata", {})
    if model.kind == "task":
        page = str(import_name("firth.tasks.card:task_card", "the card of a task", "elmo")(name, model))
    else:
        words = (getattr(model, "vocabulary", None) or ()) if model.kind == "bilm" else model
        page = model_card(name, len(words) if isinstance(words, Sized) else 0, getattr(model, "dim", None), metadata)
    page = _without_front_matter(page)
    page = page.replace(f'firth.load("{name}")', f'firth.from_pretrained("{repository}")')
    if model.kind == "task":
        page += f'\n## From the hub\n\n```python\nmodel = firth.from_pretrained("{repository}")\n```\n'
    scores = metadata.get("scores")
    if isinstance(scores, Mapping) and all(isinstance(one, Mapping) and "value" in one for one in scores.values()):
        rows = [
            (test, one.get("metric", ""), one["value"], f"{one['used']:,} of {one['of']:,}" if "of" in one else "")
            for test, one in scores.items()
        ]
        page += "\n## Scores\n\n" + markdown_table(["test set", "metric", "score", "used"], rows, right=[2]) + "\n"
    return page


def _without_front_matter(page: str) -> str:
    if not page.startswith("---\n"):
        return page
    return page.removeprefix("---\n").split("\n---\n", 1)[-1].lstrip("\n")
