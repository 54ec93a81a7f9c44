"""`firth pull`: fetches the official files of GloVe, word2vec, fastText and ELMo by short names."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from firth.cli.flags import Json
from firth.cli.output import answer
from firth.errors import OptionError
from firth.hub.published import PublishedModel, published_models
from firth.hub.pull import path_of, place_of
from firth.hub.pull import pull as pull_model
from firth.show import terminal
from firth.show.numbers import format_bytes


def pull(
    names: Annotated[list[str] | None, Parameter(help="Names of published models (see --list).")] = None,
    /,
    *,
    listed: Annotated[
        bool,
        Parameter(name="--list", negative="", help="List the models: licence, size, checksum, and which are here."),
    ] = False,
    out: Annotated[
        Path | None, Parameter(help="Folder for the files. Default: the cache, where load finds them.")
    ] = None,
    keep_archive: Annotated[bool, Parameter(negative="", help="Keep the zip archives of unpacked files.")] = False,
    json: Json = False,
) -> None:
    """Fetch official files of GloVe, word2vec, fastText and ELMo by short names.

    A broken download continues with the same command. Files are checked by their published SHA-256; where none is
    published, the first download records it in lock.json beside the file.

    For example:

        firth pull --list
        firth pull glove-6b-100d
        firth pull fasttext-cc-fa elmo-original
        firth neighbors glove-6b-100d tea
    """
    if listed or not names:
        if names:
            raise OptionError(f"--list names all models. Leave out {', '.join(names)}, or leave out --list")
        show_models(out, json)
        return
    with terminal.progress() as report:
        done = [pull_model(name, folder=out, keep_archive=keep_archive, report=report) for name in names]
    values = [
        {"name": one.name, "path": str(one.path), "sha256": dict(one.sha256), "was_there": one.was_there}
        for one in done
    ]
    rows = [(one.name, "was here, checked" if one.was_there else "fetched", str(one.path)) for one in done]
    answer(values, terminal.table("", ["name", "state", "path"], rows), json, rows)


def show_models(out: Path | None, json: bool) -> None:
    """Lists the published models."""
    values, rows = [], []
    for model in published_models().values():
        is_here = is_pulled(model, out)
        values.append(
            {
                "name": model.name,
                "about": model.about,
                "licence": model.licence,
                "bytes": model.size,
                "checksum_from": model.checksum_from,
                "here": is_here,
                "addresses": [file.address for file in model.files],
                "sha256": [file.sha256 for file in model.files],
            }
        )
        size = "not published" if model.size is None else format_bytes(model.size)
        checksum = "published" if model.has_checksums else "by first download"
        rows.append((model.name, model.about, model.licence or "not stated", size, checksum, "yes" if is_here else ""))
    columns = ["name", "description", "licence", "download", "checksum", "here"]
    answer(values, terminal.table("", columns, rows), json, rows)


def is_pulled(model: PublishedModel, out: Path | None) -> bool:
    """Whether the files of a model are here."""
    place = place_of(model.name, out)
    return path_of(model, place).exists() and all((place / file.kept).is_file() for file in model.files)
