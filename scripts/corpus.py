"""Assembles the English training corpus of firth from public repositories and from the data folder.

    python scripts/corpus.py --clones ../clones --out ../corpus

Three stages, each resumable: `read` cleans, splits and tokenizes a source into `text/`; `sift` drops what is no
sentence, what a dev or test set holds and what was seen before, into `kept/`; `pack` mixes the blocks of a genre into
xz files and writes `report.json`. A stage whose outputs are there, made with the same settings, is not run again.
The same clones, data folder and settings give the same bytes. docs/data.md describes the result.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from corpus_pack import Block, list_blocks, mix_blocks, pack_genres
from corpus_readers import Unreadable
from corpus_sieve import FUNCTION_WORDS, HeldOut, Seen, Sieve, hash_words, load_held_out, sift_source
from corpus_sources import SOURCES, Source, read_files
from corpus_text import key_of_title, tokenize
from firth import data as data_folder
from firth.errors import FirthError
from firth.files import atomic_file

BATCH = 1 << 20  # characters tokenized at once


@dataclass(frozen=True)
class Settings:
    """What a run is given."""

    clones: Path
    data: Path
    out: Path
    sources: tuple[Source, ...] = SOURCES
    files: int = 0
    seed: int = 0
    preset: int = 1
    shard_bytes: int = 48_000_000


def read_source(source: Source, settings: Settings, titles: set[str], out: BinaryIO) -> dict[str, Any]:
    """Writes the tokenized text of a source; returns its counts."""
    counts: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    batch: list[str] = []
    size = 0
    for raw in read_files(source, settings.clones, settings.data):
        if settings.files and counts["files"] >= settings.files:
            break
        counts["files"] += 1
        counts["bytes"] += len(raw)
        try:
            documents = list(source.reader(raw))
        except Unreadable as error:
            refused[str(error)] += 1
            continue
        for document in documents:
            counts["documents"] += 1
            if document.title and key_of_title(document.title) in titles:
                refused["held-out article"] += 1
                counts["held_out_tokens"] += len(tokenize(document.paragraphs).split())
                continue
            batch += document.paragraphs
            size += sum(map(len, document.paragraphs))
        if size > BATCH:
            out.write(tokenize(batch))
            batch, size = [], 0
    if batch:
        out.write(tokenize(batch))
    return {**counts, "refused": dict(sorted(refused.items()))}


def is_done(path: Path, made_with: dict[str, Any]) -> bool:
    """Whether the counts of a stage are there and were made with these settings."""
    return path.is_file() and json.loads(path.read_text(encoding="utf-8"))["made_with"] == made_with


def write_json(path: Path, values: dict[str, Any]) -> None:
    with atomic_file(path) as draft:
        draft.write_text(json.dumps(values, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def load_json(path: Path) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return values


def say(message: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {message}", file=sys.stderr, flush=True)


def read_all(settings: Settings, held_out: HeldOut) -> None:
    """The stage `read` for every source."""
    folder = settings.out / "text"
    for source in settings.sources:
        made_with = {"repository": source.repository, "commit": source.commit, "files": settings.files}
        if is_done(folder / f"{source.name}.json", made_with):
            continue
        began = time.monotonic()
        with atomic_file(folder / f"{source.name}.txt") as draft, open(draft, "wb") as out:
            counts = read_source(source, settings, held_out.titles, out)
        counts["seconds"] = round(time.monotonic() - began, 1)
        write_json(folder / f"{source.name}.json", {"made_with": made_with, **counts})
        say(f"read {source.name}: {counts['documents']:,} documents, {counts['seconds']} s")


def sift_all(settings: Settings, held_out: HeldOut) -> None:
    """The stage `sift` for every source, in order, because each source is compared with those before it."""
    folder = settings.out / "kept"
    sieve = Sieve(held_out, Seen(), Seen(), hash_words(FUNCTION_WORDS))
    made_with: dict[str, Any] = {"held_out": held_out.sizes, "before": []}
    for source in settings.sources:
        read = settings.out / "text" / source.name
        made_with = {**made_with, "source": [source.name, source.commit, settings.files]}
        base = folder / source.name
        if is_done(base.with_suffix(".json"), made_with):
            sieve.sentences.add(np.load(base.with_suffix(".sentences.npy")))
            sieve.runs.add(np.load(base.with_suffix(".runs.npy")))
        else:
            began = time.monotonic()
            with atomic_file(base.with_suffix(".txt")) as draft, open(draft, "wb") as out:
                counts, keys, runs = sift_source(read.with_suffix(".txt"), sieve, out)
            for name, array in ((".sentences.npy", keys), (".runs.npy", runs)):
                with atomic_file(base.with_suffix(name)) as draft, open(draft, "wb") as out:
                    np.save(out, array, allow_pickle=False)
            counts["seconds"] = round(time.monotonic() - began, 1)
            write_json(base.with_suffix(".json"), {"made_with": made_with, **counts})
            say(f"sift {source.name}: {counts['reasons']['kept']['tokens']:,} tokens kept, {counts['seconds']} s")
        made_with = {**made_with, "before": [*made_with["before"], made_with["source"]]}


def pack_all(settings: Settings, held_out: HeldOut) -> dict[str, Any]:
    """The stage `pack`; returns the report."""
    began = time.monotonic()
    files = [settings.out / "kept" / f"{source.name}.txt" for source in settings.sources]
    blocks = [block for i, path in enumerate(files) for block in list_blocks(path, i)]
    mixed, left_out = mix_blocks(blocks, settings.sources, settings.seed)
    shards = pack_genres(mixed, settings.sources, files, settings.out, settings.preset, settings.shard_bytes)
    report = make_report(settings, held_out, mixed, left_out, shards)
    report["seconds"]["pack"] = round(time.monotonic() - began, 1)
    return report


def make_report(
    settings: Settings, held_out: HeldOut, mixed: list[Block], left_out: list[Block], shards: list[dict[str, Any]]
) -> dict[str, Any]:
    """Counts by source, by genre and by reason."""
    kept = np.bincount([block.source for block in mixed], [block.tokens for block in mixed], len(settings.sources))
    unused = np.bincount([b.source for b in left_out], [b.tokens for b in left_out], len(settings.sources))
    sources, genres, removed = [], Counter[str](), Counter[str]()
    seconds: Counter[str] = Counter()
    for i, source in enumerate(settings.sources):
        read = load_json(settings.out / "text" / f"{source.name}.json")
        sifted = load_json(settings.out / "kept" / f"{source.name}.json")
        reasons = {name: values["tokens"] for name, values in sifted["reasons"].items() if name != "kept"}
        reasons["held-out article"] = read.get("held_out_tokens", 0)
        reasons["historical text beyond half"] = int(unused[i])
        sources.append(
            {
                "name": source.name,
                "repository": source.repository,
                "licence": source.licence,
                "commit": source.commit,
                "genre": source.genre,
                "modern": source.modern,
                "files": read["files"],
                "bytes": read["bytes"],
                "documents": read["documents"],
                "refused_documents": read["refused"],
                "tokens_read": int(kept[i]) + sum(reasons.values()),
                "tokens_kept": int(kept[i]),
                "tokens_removed": reasons,
                "sentences_removed": {k: v["sentences"] for k, v in sifted["reasons"].items() if k != "kept"},
            }
        )
        genres[source.genre] += int(kept[i])
        removed.update(reasons)
        seconds.update(read=read["seconds"], sift=sifted["seconds"])
    total = sum(genres.values())
    modern = sum(int(kept[i]) for i, source in enumerate(settings.sources) if source.modern)
    return {
        "tokens": total,
        "modern_tokens": modern,
        "modern_share": round(modern / max(1, total), 4),
        "tokens_by_genre": dict(genres),
        "tokens_removed": dict(removed),
        "held_out_sentences": held_out.sizes,
        "seconds": {stage: round(spent, 1) for stage, spent in seconds.items()},
        "shards": shards,
        "sources": sources,
    }


def run(settings: Settings) -> dict[str, Any]:
    """All stages; returns the report, which is also written to report.json."""
    held_out = load_held_out(settings.data)
    read_all(settings, held_out)
    sift_all(settings, held_out)
    report = pack_all(settings, held_out)
    write_json(settings.out / "report.json", report)
    return report


def parse(arguments: list[str] | None = None) -> Settings:
    """The settings that the command line names."""
    parser = argparse.ArgumentParser(description="Assemble the English training corpus of firth.")
    parser.add_argument("--clones", type=Path, required=True, help="Folder of clones: owner/name, bare or not.")
    parser.add_argument("--out", type=Path, required=True, help="Folder for the corpus, its report and the stages.")
    parser.add_argument("--sources", nargs="+", choices=[each.name for each in SOURCES], help="Only these sources.")
    parser.add_argument("--files", type=int, default=0, help="Read only so many files of each source, for a trial.")
    parser.add_argument("--seed", type=int, default=0, help="Seed of the order of blocks. Default: 0.")
    parser.add_argument(
        "--preset", type=int, default=1, help="Preset of xz, 0 to 9: higher is smaller and slower. Default: 1."
    )
    given = parser.parse_args(arguments)
    chosen = tuple(each for each in SOURCES if not given.sources or each.name in given.sources)
    return Settings(given.clones, data_folder.folder(), given.out, chosen, given.files, given.seed, given.preset)


def main() -> None:
    try:
        report = run(parse())
    except FirthError as error:
        sys.exit(f"corpus: {error}")
    print(json.dumps({key: value for key, value in report.items() if key != "sources"}, indent=1))


if __name__ == "__main__":
    main()
