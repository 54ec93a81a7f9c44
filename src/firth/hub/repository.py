"""Models in repositories of the Hugging Face Hub: `from_pretrained`, `push_to_hub`, and hf:// addresses.

A repository is made by somebody else. So only files of names that firth's formats have are fetched, and only firth's
own readers open them: no pickle, no code. A repository in firth's own format has `config.json`, `model.safetensors`,
word lists and its card; a repository may instead have the files of an ELMo model, or one file of vectors.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from firth.arguments import checked
from firth.array_names import array_files
from firth.errors import FirthError, FormatError, OptionError
from firth.files import Name, read_json, refuse_outer_link
from firth.formats import elmo_files, native
from firth.formats.precision import Precision
from firth.formats.registry import FORMATS, load, save
from firth.hub.card import CARD, hub_card
from firth.lazy import import_name
from firth.temporary import TemporaryFolder
from firth.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from firth.opening import AnyModel

SCHEME = "hf://"
REPOSITORY = re.compile(r"[\w][\w.-]{0,95}/[\w][\w.-]{0,95}")
ADDRESS = re.compile(r"hf://(?P<repository>[^/@]+/[^/@]+)(@(?P<revision>[^/]+))?(/(?P<file>.+))?")
ENDINGS = tuple(sorted({ending for format in FORMATS.values() for ending in format.endings}))
PACKED = (".gz", ".bz2", ".xz", ".zst")
NOT_OURS = {"pytorch_model.bin", "training_args.bin", "optimizer.bin", "requirements.txt", "merges.txt", "vocab.txt"}


class HubAddress(NamedTuple):
    """A repository, and optionally a revision (a branch, a tag or a commit) and a file in it.

    >>> HubAddress.parse("hf://owner/name@v1.0/vectors/en.vec")
    HubAddress(repository='owner/name', revision='v1.0', file='vectors/en.vec')
    >>> HubAddress.parse("hf://owner")
    Traceback (most recent call last):
    firth.errors.OptionError: hf://owner: is no address of a model. Use hf://owner/name, hf://owner/name@revision ...
    """

    repository: str
    revision: str | None = None
    file: str | None = None

    @classmethod
    def parse(cls, address: str) -> HubAddress:
        """The parts of an address."""
        match = ADDRESS.fullmatch(address)
        if match is None or REPOSITORY.fullmatch(match["repository"]) is None:
            forms = "hf://owner/name, hf://owner/name@revision or hf://owner/name/file"
            raise OptionError(f"{address}: is no address of a model. Use {forms}")
        return cls(match["repository"], match["revision"], match["file"])


def locate_address(address: str) -> Path:
    """The local path of the model at an hf:// address; it is fetched to the hub's cache."""
    parsed = HubAddress.parse(address)
    return fetch_repository(parsed.repository, revision=parsed.revision, file=parsed.file)


@checked
def from_pretrained(
    name: Name,
    *,
    revision: str | None = None,
    file: str | None = None,
    token: str | bool | None = None,
    cache: Name | None = None,
    offline: bool = False,
    limit: int | None = None,
    vocabulary: Vocabulary | Iterable[str] | Name | None = None,
) -> AnyModel:
    """Opens a model from the Hugging Face Hub, "owner/name", or from a local folder of the same layout.

    `revision` is a branch, a tag or a commit, `file` one file of vectors in the repository, `token` that of a user, for
    private repositories (default: the one that `hf auth login` stored), `cache` the folder of downloads (default: that
    of huggingface_hub). With `offline` only the cache is used. `limit` and `vocabulary` are those of `firth.load`.
    Needs the extra `hub`.

    >>> from_pretrained("tea")
    Traceback (most recent call last):
    firth.errors.OptionError: tea: is neither a folder nor the name of a repository, such as owner/name
    """
    if os.path.isdir(name):
        path = Path(name) if file is None else _inside(Path(name), file)
    else:
        repository = os.fspath(name).removeprefix(SCHEME)
        path = fetch_repository(repository, revision=revision, file=file, token=token, cache=cache, offline=offline)
    return load(path, limit=limit, vocabulary=vocabulary)


def _inside(folder: Path, file: str) -> Path:
    path = folder / file
    if not path.resolve().is_relative_to(folder.resolve()):
        raise OptionError(f"{file}: is not in the folder {folder}")
    return path


def fetch_repository(
    repository: str,
    *,
    revision: str | None = None,
    file: str | None = None,
    token: str | bool | None = None,
    cache: Name | None = None,
    offline: bool = False,
) -> Path:
    """Fetches the files of the model in a repository to the cache, and returns what `firth.load` opens."""
    if REPOSITORY.fullmatch(repository) is None:
        raise OptionError(f"{repository}: is neither a folder nor the name of a repository, such as owner/name")
    hub = Repository(repository, revision, token, cache, offline)
    with translated(hub):
        if file is not None:
            check_name(repository, file)
            return hub.fetch(file)
        config = hub.fetch_optional(native.CONFIG)
        if config is not None and _is_firth(config):
            return _fetch_native(hub, config)
        return _fetch_other(hub)


class Repository:
    """A repository of the hub at a revision. All files come from one commit: that of the first file."""

    def __init__(self, name: str, revision: str | None, token: str | bool | None, cache: Name | None, offline: bool):
        self.name, self.revision, self.token, self.offline = name, revision, token, offline
        self.cache = None if cache is None else os.fspath(cache)
        self.package: Any = import_name("huggingface_hub", "a model from the Hugging Face Hub", "hub")
        self.errors: Any = import_name("huggingface_hub.errors", "a model from the Hugging Face Hub", "hub")
        self.commit: str | None = None

    def fetch(self, file: str) -> Path:
        """The local path of a file."""
        path = Path(
            self.package.hf_hub_download(
                self.name,
                file,
                revision=self.commit or self.revision,
                token=self.token,
                cache_dir=self.cache,
                local_files_only=self.offline,
                library_name="firth",
            )
        )
        parts = path.parts[: len(path.parts) - len(PurePosixPath(file).parts)]
        if self.commit is None and len(parts) > 1 and parts[-2] == "snapshots":
            self.commit = parts[-1]
        return refuse_outer_link(path) if len(PurePosixPath(file).parts) == 1 else path

    def fetch_optional(self, file: str) -> Path | None:
        """As `fetch`; None if the repository has no such file."""
        if self.is_cached(file) is False:
            return None
        try:
            return self.fetch(file)
        except self.errors.LocalEntryNotFoundError:
            if self.offline:
                return None  # the cache does not tell a missing file from one that was not fetched
            raise
        except self.errors.EntryNotFoundError:
            return None

    def is_cached(self, file: str) -> bool | None:
        """Whether the cache has a file of the commit; False if it knows that the commit has none, None if neither."""
        if self.commit is None:
            return None
        found = self.package.try_to_load_from_cache(self.name, file, cache_dir=self.cache, revision=self.commit)
        return None if found is None else isinstance(found, str)

    def files(self) -> list[str]:
        """The names of all files; those in the cache if there is no connection."""
        if not self.offline:
            api = self.package.HfApi(token=self.token, library_name="firth")
            names: list[str] = api.list_repo_files(self.name, revision=self.revision)
            return names
        folder = Path(
            self.package.snapshot_download(
                self.name, revision=self.revision, cache_dir=self.cache, local_files_only=True
            )
        )
        return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def _is_firth(config: Path) -> bool:
    try:
        settings = read_json(config, native.LONGEST_CONFIG)
    except FormatError:
        return False
    return isinstance(settings, dict) and settings.get("library") == "firth"


def _fetch_native(hub: Repository, config: Path) -> Path:
    """Fetches the files that a config of firth names, and its card."""
    settings = read_json(config, native.LONGEST_CONFIG)
    lists = settings.get("vocabularies", [])
    if not isinstance(lists, list) or not all(
        isinstance(one, str) and native.LIST_NAME.fullmatch(one) for one in lists
    ):
        raise FormatError(config, "has invalid names of word lists")
    try:
        files = array_files(settings)
    except OptionError as error:
        raise FormatError(config, str(error)) from error
    for name in files:
        hub.fetch(name)
    for name in lists:
        forms = name, name + native.COMPRESSED
        if not any(map(hub.is_cached, forms)) and hub.fetch_optional(forms[1]) is None:
            hub.fetch(name)
    with suppress(hub.errors.LocalEntryNotFoundError):  # the model opens without its card
        hub.fetch_optional(CARD)
    return config.parent


def _fetch_other(hub: Repository) -> Path:
    """Fetches the files of an ELMo model, or the only file of vectors."""
    names = [name for name in hub.files() if "/" not in name]
    options, weights = ([name for name in names if test(name)] for test in (elmo_files.is_options, elmo_files.is_hdf5))
    if options and weights:
        paths = [hub.fetch(name) for name in [*options[:1], *weights]]
        return paths[0].parent
    vectors = [name for name in names if is_vector_file(name)]
    if len(vectors) == 1:
        return hub.fetch(vectors[0])
    problem = f"{hub.name}: the repository contains no model that firth opens, only {_shorten(names)}"
    if vectors:
        problem = f"{hub.name}: the repository contains several files of vectors ({_shorten(vectors)}). Name one: file="
        problem += repr(vectors[0])
    raise OptionError(problem)


def is_vector_file(name: str) -> bool:
    """Whether a file of a repository has a name of one of firth's formats; those of other tools' models have not.

    >>> [is_vector_file(name) for name in ("model.bin", "wiki.fa.vec.gz", "pytorch_model.bin", "model.pkl", "a.py")]
    [True, True, False, False, False]
    """
    stem = name
    for packing in PACKED:
        stem = stem.removesuffix(packing)
    return stem.endswith(ENDINGS) and stem not in NOT_OURS


def is_word_list(name: str) -> bool:
    """Whether a file of firth's own format is a word list, compressed or not.

    >>> [is_word_list(name) for name in ("vocab", "labels.xz", "config.json", "README.md")]
    [True, True, False, False]
    """
    return native.LIST_NAME.fullmatch(name.removesuffix(native.COMPRESSED)) is not None


def check_name(repository: str, file: str) -> None:
    """Refuses a file that leads out of the repository, or that no format of firth has."""
    parts = PurePosixPath(file).parts
    if not parts or any(part in ("..", "/") for part in parts) or "\\" in file or file.startswith("/"):
        raise OptionError(f"{repository}: {file!r} is no file of a repository")
    if not is_vector_file(parts[-1]):
        raise OptionError(f"{repository}: {file} has no ending of firth's formats. These are {', '.join(ENDINGS)}")


def _shorten(names: Sequence[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6:,} more" if len(names) > 6 else "") if names else "nothing"


@contextmanager
def translated(hub: Repository) -> Iterator[None]:
    """Errors of huggingface_hub as errors of firth, each with its cure."""
    errors = hub.errors
    place = hub.name + (f" at revision {hub.revision}" if hub.revision else "")
    try:
        yield
    except errors.GatedRepoError as error:
        raise OptionError(f"{place}: needs an agreement. Accept it on the hub's page, and pass your token") from error
    except errors.RepositoryNotFoundError as error:
        raise OptionError(f"{place}: no such repository, or a private one. Check the name, or pass a token") from error
    except errors.RevisionNotFoundError as error:
        raise OptionError(f"{place}: the repository has no such revision. Use a branch, a tag or a commit") from error
    except (errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled) as error:
        problem = "is not in the cache" + ("" if hub.offline else ", and there is no connection to the hub")
        raise OptionError(f"{place}: {problem}. Open it once with a connection") from error
    except errors.EntryNotFoundError as error:
        raise OptionError(f"{place}: the repository lacks a file of the model ({_first_line(error)})") from error
    except errors.HFValidationError as error:
        raise OptionError(f"{place}: {_first_line(error)}") from error
    except FirthError:
        raise
    except ValueError as error:  # the hub does not accept the metadata of the card
        raise OptionError(f"{place}: {' '.join(str(error).split())}") from error
    except errors.HfHubHTTPError as error:
        raise OptionError(f"{place}: the hub refused the request ({_first_line(error)})") from error
    except OSError as error:
        if error.filename is not None or error.errno is not None:
            raise
        raise OptionError(f"{place}: the hub cannot be reached ({_first_line(error)})") from error


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].rstrip(".") if lines else type(error).__name__


@checked
def push_to_hub(
    model: Any,
    repository: str,
    *,
    license: str | None = None,
    language: str | Sequence[str] | None = None,
    tags: Sequence[str] = (),
    card: str | None = None,
    private: bool = False,
    revision: str | None = None,
    token: str | bool | None = None,
    message: str = "Upload a model of firth",
    precision: Precision | None = None,
) -> str:
    """Uploads a model in firth's own format with its card to the Hugging Face Hub; returns the address of the commit.

    A repository that does not exist is created, `private` or public. `license` is the hub's name of a licence, such as
    "cc-by-sa-4.0", `language` a code such as "fa", or several. `card` replaces the text of the card; its metadata
    stays. `revision` is a branch; a new one is created. `precision` is that of `firth.save`. Needs the extra `hub`.
    """
    if REPOSITORY.fullmatch(repository) is None:
        raise OptionError(f"{repository}: is no name of a repository. Use owner/name")
    if not hasattr(model, "to_parts"):
        raise OptionError(f"{model!r:.80} is no model. Pass what firth.load or fit returns")
    page = hub_card(model, repository, license=license, language=language, tags=tags, text=card)
    hub = Repository(repository, revision, token, None, False)
    api = hub.package.HfApi(token=token, library_name="firth")
    with TemporaryFolder("hub") as folder, translated(hub):
        place = folder.path / "model"
        save(model, place, format="native", precision=precision)
        (place / CARD).write_text(page, encoding="utf-8")
        api.create_repo(repository, private=private, exist_ok=True)
        if revision is not None:
            api.create_branch(repository, branch=revision, exist_ok=True)
        lists = [path.name.removesuffix(native.COMPRESSED) for path in place.iterdir() if is_word_list(path.name)]
        old = [name + ending for name in lists for ending in ("", native.COMPRESSED)]  # of an earlier upload
        done = api.upload_folder(
            repo_id=repository,
            folder_path=place,
            commit_message=message,
            revision=revision,
            delete_patterns=old,
        )
    return str(done.commit_url)
