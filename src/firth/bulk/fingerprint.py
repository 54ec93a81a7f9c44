"""The fingerprint of a model: it tells whether an unfinished output, or a worker, has the same model."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

from firth.files import Name
from firth.formats.elmo_files import find_files, has_many_languages
from firth.formats.elmo_zip import is_zip
from firth.formats.registry import detect
from firth.pretrained import shipped


def fingerprint(path: Name) -> str:
    """A hash of a model: sizes and samples of its files, so that it is fast for large files too."""
    seen = blake2b(digest_size=16)
    for file in _files_of(shipped.locate(path)):
        size = file.stat().st_size
        seen.update(f"{file.name} {size}\n".encode())
        with open(file, "rb") as opened:
            for part in range(64):
                opened.seek(size * part // 64)
                seen.update(opened.read(1 << 14))
    return seen.hexdigest()


def _files_of(path: Name) -> list[Path]:
    if detect(path) == "elmo" and not is_zip(path) and not has_many_languages(path):
        elmo = find_files(path)
        return [file for file in (elmo.options, elmo.weights, elmo.softmax, elmo.vocabulary) if file is not None]
    return sorted(file for file in Path(path).rglob("*") if file.is_file()) if Path(path).is_dir() else [Path(path)]
