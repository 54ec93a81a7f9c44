"""The card of a model, a Markdown page with its recipe, its text, its losses and its use."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from firth.files import atomic_file, is_file, is_folder, read_bytes
from firth.show.markdown import markdown_table

RUNNING_LOSS = (
    "The mean loss is measured during training, each example before its own step, while the vectors adapt to the text\n"
    "around it. Where the text is in order, this lowers it most in the first epoch, when the learning rate is high:\n"
    "it may rise from epoch to epoch while the loss on held-out text falls."
)
LIBRARY = "library_name: firth"  # the line of a card that says who wrote it


def model_card(name: str, words: int, dim: int | None, metadata: Mapping[str, Any]) -> str:
    """The card of a model, from its metadata. Sections without metadata are left out.

    >>> page = model_card("tea", 3, 2, {"recipe": {"name": "word2vec", "dim": 2}, "loss": [4.1, 2.5]})
    >>> print(page.split("## ")[1].strip())
    Recipe
    <BLANKLINE>
    | option | value |
    |---|---|
    | name | `"word2vec"` |
    | dim | `2` |
    """
    recipe = dict(metadata.get("recipe") or {})
    kind = str(recipe.get("name", "vectors"))
    unit = "tags" if kind == "doc2vec" else "words"
    parts = [
        f"---\n{LIBRARY}\ntags:\n- word-representations\n- {kind}\n---",
        f"# {name}",
        f"A {kind} model of {words:,} {unit}" + (f", {dim} numbers each." if dim else "."),
    ]
    if recipe:
        parts += ["## Recipe", _table(recipe, "option")]
    corpus = metadata.get("corpus", {})
    corpus = dict(corpus) if isinstance(corpus, Mapping) else {"fingerprint": corpus}
    corpus |= {name: metadata[name] for name in ("tokens", "tokenizer") if name in metadata}
    if corpus:
        parts += ["## Text it was made from", _table(corpus, "what")]
    if _are_numbers(metadata.get("loss")):
        held_out = metadata.get("held_out_loss")
        parts += ["## Loss", _losses(metadata["loss"], held_out if _are_numbers(held_out) else None)]
        if kind in ("word2vec", "fasttext"):
            parts.append(RUNNING_LOSS)
    perplexity = metadata.get("perplexity")
    if perplexity and isinstance(perplexity, Mapping) and all(isinstance(one, Mapping) for one in perplexity.values()):
        names = "forward", "backward", "average"
        shown = {when: {name: values.get(name) for name in names} for when, values in perplexity.items()}
        parts += ["## Perplexity on held-out text", _table(shown, "training")]
    use = f'import firth\n\nmodel = firth.load("{name}")'
    if kind == "doc2vec":
        use += '\nmodel.infer(["The text of a new document."])'
    elif dim:
        use += '\nmodel.most_similar("word")'
    parts += ["## Use", f"```python\n{use}\n```"]
    return "\n\n".join(parts) + "\n"


def card_of(path: Path) -> Path:
    """The path of a model's card: README.md in its folder, or NAME.md beside its file.

    >>> card_of(Path("vectors.bin")).as_posix()
    'vectors.bin.md'
    """
    return path / "README.md" if is_folder(path) else path.with_name(path.name + ".md")


def is_card(path: Path) -> bool:
    """Whether a file is a card that firth wrote.

    >>> is_card(Path("README.md"))
    False
    """
    return is_file(path) and LIBRARY in read_bytes(path).decode("utf-8", "replace")


def write_card(path: Path, page: str) -> Path:
    """Writes the card of a model. Returns its path."""
    card = card_of(path)
    with atomic_file(card) as draft:
        draft.write_text(page, encoding="utf-8", errors="backslashreplace")  # file names need not be UTF-8
    return card


def _are_numbers(values: Any) -> bool:
    """Whether values are a list of numbers with at least one."""
    return isinstance(values, (list, tuple)) and bool(values) and all(isinstance(one, (int, float)) for one in values)


def _losses(trained: Sequence[float], held_out: Sequence[float] | None) -> str:
    columns = {"mean loss": trained} if held_out is None else {"mean loss": trained, "on held-out text": held_out}
    epochs = enumerate(zip(*columns.values()), start=1)
    rows = [(epoch, *(f"{loss:.6f}" for loss in losses)) for epoch, losses in epochs]
    return markdown_table(["epoch", *columns], rows)


def _table(values: Mapping[str, Any], head: str) -> str:
    rows = [(name, f"`{json.dumps(value, ensure_ascii=False)}`") for name, value in values.items()]
    return markdown_table([head, "value"], rows)
