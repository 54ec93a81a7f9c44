"""What a command must not overwrite: its inputs and, without `--force`, files that are not models.

Every command that writes calls `check_outputs` before any work.
"""

import glob
import os
from collections.abc import Iterable
from pathlib import Path

from firth.errors import OptionError
from firth.files import STDIN, check_output, is_file
from firth.formats.registry import is_binary_model
from firth.pretrained import shipped
from firth.remote.addresses import address_of


def check_outputs(
    outputs: Iterable[str | Path | None], inputs: Iterable[str | None], *, force: bool = False, models: bool = True
) -> None:
    """Raises an OptionError if an output is an input, contains one or lies in one, or may not be replaced.

    Inputs are paths, glob patterns or names of pretrained models. An existing file is replaced if it is a model in a
    binary format, and any other with `force`. With `models=False` a model needs `force`, too. The library protects
    folders: it replaces only those that it wrote.

    >>> check_outputs(["README.md"], ["README.md"])
    Traceback (most recent call last):
    firth.errors.OptionError: README.md: is an input and cannot be the output. Choose another name
    >>> check_outputs(["README.md"], [])
    Traceback (most recent call last):
    firth.errors.OptionError: README.md: the file exists. Choose another name, or replace it with --force
    """
    given = [str(name) for name in inputs if name not in (None, STDIN)]
    addresses = [address for name in given if (address := address_of(name)) is not None]
    named = [name for name in given if address_of(name) is None]
    read = [path for name in named for path in find_files(name)]
    for out in [os.fspath(one) for one in outputs if one is not None]:
        if out == STDIN:
            continue
        address = address_of(out)
        if address is not None:
            check_address(address, addresses, force=force)
            continue
        check_inputs_remain(out, read)
        check_outside(out, named)
        if not os.path.exists(out) or os.path.isdir(out):
            continue
        if not os.path.isfile(out):
            raise OptionError(f"{out}: is neither a file nor a folder. Choose another name")
        if not force and not (models and is_binary_model(out)):
            raise OptionError(f"{out}: the file exists. Choose another name, or replace it with --force")


def check_address(out: str, inputs: Iterable[str], *, force: bool) -> None:
    """As `check_outputs`, for an output at an address. A file there is replaced with `force` only."""
    for address in (one.rstrip("/") for one in inputs):
        if address == out.rstrip("/"):
            raise OptionError(f"{out}: is an input and cannot be the output. Choose another name")
        if address.startswith(out.rstrip("/") + "/"):
            raise OptionError(f"{out}: contains the input {address} and cannot be the output. Choose another name")
        if out.startswith(address + "/"):
            raise OptionError(f"{out}: lies in the input {address}; the next run would read it. Choose a place outside")
    if is_file(out):
        check_output(out)
        if not force:
            raise OptionError(f"{out}: the file exists. Choose another name, or replace it with --force")


def find_files(name: str) -> list[str]:
    """The files of an input, and the folder that it is. A missing input has none: the library reports it."""
    path = os.fspath(shipped.locate(name))
    if os.path.isdir(path):
        return [path, *map(str, Path(path).rglob("*"))]
    return [path] if os.path.exists(path) else glob.glob(path, recursive=True)


def check_inputs_remain(out: str, inputs: Iterable[str]) -> None:
    """Raises an OptionError if the output is one of the inputs or a folder that contains one."""
    target = Path(os.path.realpath(out))
    for path in inputs:
        source = Path(os.path.realpath(path))
        if source == target or (target.is_file() and source.exists() and source.samefile(target)):
            raise OptionError(f"{out}: is an input and cannot be the output. Choose another name")
        if target in source.parents:
            raise OptionError(f"{out}: contains the input {path} and cannot be the output. Choose another name")


def check_outside(out: str, inputs: Iterable[str]) -> None:
    """Raises an OptionError if the output lies in a folder of texts: the next run would read it as one of them."""
    above = Path(os.path.realpath(out)).parents
    for name in inputs:
        if (
            os.path.isdir(name)
            and Path(os.path.realpath(name)) in above
            and not os.path.isfile(Path(name, shipped.CONFIG))
        ):
            raise OptionError(f"{out}: lies in the input {name}; the next run would read it. Choose a place outside")
