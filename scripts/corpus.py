"""Assembles the English training corpus of firth from public repositories and from the data folder.

    python scripts/corpus.py --clones ../clones --out ../corpus

Three stages, each resumable: `read` cleans, splits and tokenizes a source into `text/`; `sift` drops what is no
sentence, what a dev or test set holds and what was seen before, into `kept/`; `pack` mixes blocks of all sources into
xz files and writes `report.json`. A stage whose outputs are there, made with the same settings, is not run again.
The same clones, data folder and settings give the same bytes. docs/data.md describes the result.
"""

from __future__ import annotations

import argparse
import json
import lzma
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

import corpus_kernels as kernels
from corpus_heldout import HELD_OUT, TITLED, read_titles
from corpus_readers import GAP, Unreadable
from corpus_sources import SOURCES, Source, read_files
from firth import data as data_folder
from firth.errors import FirthError, OptionError
from firth.files import whole_file
from firth.text.tokenize import Tokenizer

Keys = NDArray[np.uint64]
TOKENIZER = Tokenizer()
BATCH = 1 << 20  # characters tokenized at once
CHUNK = 1 << 24  # bytes sifted at once
STREAM = 1 << 24  # bytes of text in one xz stream
BLOCK = 1000  # sentences that stay together when the sources are mixed
PARAGRAPH = "¶"  # a line of its own between paragraphs while a batch is tokenized

LONGEST = 256  # tokens of a sentence
TEST_RUN = 13  # words in a row that a sentence may not share with a dev or test set
NEAR_RUN, NEAR_SHARE, NEAR_LEAST = 8, 0.5, 2  # see kernels.decide
REASONS = (
    "kept",
    "near-duplicate paragraph",
    "sentence of a dev or test set",
    "13 words in a row of a dev or test set",
    "duplicate sentence",
    "formula or link",
    "shorter than 3 words",
    "longer than 256 tokens",
    "no end of a sentence",
    "symbols and numbers",
    "capitals",
    "not English",
)
GAPPED, SHORT, LONG, UNENDED, SYMBOLS, CAPITALS, FOREIGN = range(5, 12)
ENDS = np.frombuffer(b".!?\"')]:;\xa6\x94", np.uint8)  # the last bytes are those of an ellipsis and of a dash
FUNCTION_WORDS = (
    "a about after all also an and any are as at be been before being but by can could did do does each for from had "
    "has have he her him his how i if in into is it its made may me more most much must my no not of on one only or "
    "other our out over s she should so some such t than that the their them then there these they this those "
    "through to two under up upon us very was we were what when where which while who whom whose will with would "
    "you your"
)
QUOTES = (
    ("“", '"'),
    ("”", '"'),
    ("„", '"'),
    ("‘", "'"),
    ("’", "'"),
    ("\u00a0", " "),
    ("\u2028", " "),
    (PARAGRAPH, " "),
)
PRIVATE = re.compile("[\ue001-\uf8ff\ufffd]+")  # glyphs of somebody's font, and broken bytes
LINK = re.compile(r"(?:https?://|www\.)\S+")
LETTERS = re.compile(r"[^a-z0-9]+")


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


def clean(text: str) -> str:
    """A batch of paragraphs with plain quotes and spaces; links become gaps.

    >>> clean("“It’s here”: see http://a.b/c")
    '"It\\'s here": see \\ue000'
    """
    if not text.isascii():
        for old, new in QUOTES:
            text = text.replace(old, new)
        text = PRIVATE.sub("", text)
    if "http" in text or "www." in text:
        text = LINK.sub(GAP, text)
    return text


def tokenize(paragraphs: list[str]) -> bytes:
    """One tokenized sentence a line and a blank line after each paragraph.

    >>> tokenize(["He left. Why?", "It's late."])
    b"He left .\\nWhy ?\\n\\nIt 's late .\\n\\n"
    """
    text = f"\n{PARAGRAPH}\n".join(clean(paragraph.replace("\n", " ")) for paragraph in paragraphs)
    lines = TOKENIZER.to_lines(f"{text}\n{PARAGRAPH}\n")
    return lines.replace(f"{PARAGRAPH}\n".encode(), b"\n")


def key_of_title(title: str) -> str:
    """The letters and digits of a title, lower-cased."""
    return LETTERS.sub("", title.lower())


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


class Measures(NamedTuple):
    """Lines and words of a piece of tokenized text, as `kernels.measure` fills them."""

    raw: NDArray[np.uint8]
    lines: NDArray[np.int64]  # (lines, 10)
    keys: Keys  # (lines,)
    words: Keys  # (words,)
    line_of: NDArray[np.int64]  # (words,)


def measure(text: bytes, functions: Keys) -> Measures:
    """The lines and words of a text."""
    raw = np.frombuffer(text, np.uint8)
    most_lines, most_words = text.count(b"\n") + 2, len(text) // 2 + 2
    lines, keys = np.empty((most_lines, 10), np.int64), np.empty(most_lines, np.uint64)
    words, line_of = np.empty(most_words, np.uint64), np.empty(most_words, np.int64)
    count, found = kernels.measure(raw, functions, lines, keys, words, line_of)
    return Measures(raw, lines[:count], keys[:count], words[:found], line_of[:found])


def hash_words(words: str) -> Keys:
    """The sorted hashes of words."""
    return np.sort(measure(words.encode(), np.empty(0, np.uint64)).words)


class Seen:
    """A set of 64-bit keys in one array, at most half full."""

    def __init__(self) -> None:
        self.table: Keys = np.zeros(1 << 16, np.uint64)
        self.count = 0

    def reserve(self, more: int) -> None:
        """Makes room for so many new keys."""
        size = len(self.table)
        while 2 * (self.count + more) > size:
            size *= 2
        if size > len(self.table):
            old, self.table = self.table, np.zeros(size, np.uint64)
            kernels.insert_all(self.table, old[old != 0])

    def add(self, keys: Keys) -> None:
        """Adds keys; those that are there already change nothing."""
        self.reserve(len(keys))
        self.count += kernels.insert_all(self.table, keys[keys != 0])


class HeldOut(NamedTuple):
    """What dev and test sets hold: sentence keys, runs of words, titles, and the number of sentences by set."""

    sentences: Seen
    runs: Seen
    titles: set[str]
    sizes: dict[str, int]


def load_held_out(data: Path) -> HeldOut:
    """The held-out text of every set in HELD_OUT. A sentence counts as the set splits it and as we split it."""
    sentences, runs, sizes = Seen(), Seen(), {}
    none = np.empty(0, np.uint64)
    for name, reader in HELD_OUT.items():
        if not (data / name).is_file():
            raise OptionError(f"{data / name}: no such file, so its sentences cannot be removed. Set FIRTH_DATA")
        texts = [text for text in reader(data / name) if text]
        whole = measure("\n".join(texts).encode(), none)
        split = measure(tokenize(texts), none)
        sentences.add(whole.keys)
        sentences.add(split.keys)
        found = np.empty(len(split.words) + 1, np.uint64)
        runs.add(found[: kernels.hash_runs(split.words, TEST_RUN, found)])
        sizes[name] = len(split.lines)
    titles = {key_of_title(title) for name in TITLED for title in read_titles(data / name)}
    return HeldOut(sentences, runs, titles, sizes)


def reject(text: Measures) -> NDArray[np.int8]:
    """For each line the reason why it is no English sentence, or 0."""
    _, ends, _, tokens, words, alphabetic, functions, capitals, foreign, gaps = text.lines.T
    starts = text.lines[:, 0]
    reasons = np.zeros(len(tokens), np.int8)
    reasons[((words >= 8) & (15 * functions < words)) | (5 * foreign > ends - starts)] = FOREIGN
    reasons[(alphabetic >= 3) & (2 * capitals > alphabetic)] = CAPITALS
    reasons[5 * alphabetic < 2 * tokens] = SYMBOLS
    reasons[~np.isin(text.raw[ends - 1], ENDS)] = UNENDED
    reasons[tokens > LONGEST] = LONG
    reasons[words < 3] = SHORT
    reasons[gaps > 0] = GAPPED
    return reasons


@dataclass(frozen=True)
class Sieve:
    """Decides what stays, with what was seen so far."""

    held_out: HeldOut
    sentences: Seen
    runs: Seen
    functions: Keys

    def sift(self, chunk: bytes) -> tuple[bytes, NDArray[np.int8], NDArray[np.int64], Keys, Keys]:
        """The kept lines of whole paragraphs; reasons and tokens of all lines; new sentence keys and new runs."""
        text = measure(chunk, self.functions)
        reasons = reject(text)
        in_test = np.zeros(len(reasons), np.bool_)
        kernels.mark_runs(text.words, text.line_of, TEST_RUN, self.held_out.runs.table, in_test)
        self.sentences.reserve(len(text.lines))
        self.runs.reserve(len(text.words))
        new = np.empty((2, len(text.words) + len(text.lines)), np.uint64)
        new_keys, new_runs = kernels.decide(
            text.lines,
            text.keys,
            text.words,
            text.line_of,
            reasons > 0,
            in_test,
            self.held_out.sentences.table,
            NEAR_RUN,
            NEAR_SHARE,
            NEAR_LEAST,
            self.sentences.table,
            self.runs.table,
            reasons,
            new,
        )
        self.sentences.count += new_keys
        self.runs.count += new_runs
        out = np.empty(len(text.raw) + 1, np.uint8)
        size = kernels.gather(text.raw, text.lines, reasons == kernels.KEPT, out)
        return out[:size].tobytes(), reasons, text.lines[:, 3], new[0, :new_keys].copy(), new[1, :new_runs].copy()


def read_chunks(path: Path, size: int = CHUNK) -> Iterator[bytes]:
    """A file in pieces of about this size that end with a paragraph."""
    rest = b""
    with open(path, "rb") as file:
        while piece := file.read(size):
            piece = rest + piece
            end = piece.rfind(b"\n\n") + 2
            if end == 1:
                rest = piece
                continue
            rest = piece[end:]
            yield piece[:end]
    if rest:
        yield rest


def sift_source(path: Path, sieve: Sieve, out: BinaryIO) -> tuple[dict[str, Any], Keys, Keys]:
    """Writes the kept sentences of a tokenized source; returns counts by reason, new sentence keys and new runs."""
    sentences, tokens = np.zeros(len(REASONS), np.int64), np.zeros(len(REASONS), np.int64)
    keys, runs = [np.empty(0, np.uint64)], [np.empty(0, np.uint64)]
    for chunk in read_chunks(path):
        kept, reasons, lengths, new_keys, new_runs = sieve.sift(chunk)
        out.write(kept)
        sentences += np.bincount(reasons, minlength=len(REASONS))
        tokens += np.bincount(reasons, lengths, len(REASONS)).astype(np.int64)
        keys.append(new_keys)
        runs.append(new_runs)
    counts = {name: {"sentences": int(sentences[i]), "tokens": int(tokens[i])} for i, name in enumerate(REASONS)}
    return {"reasons": counts}, np.concatenate(keys), np.concatenate(runs)


class Block(NamedTuple):
    """A piece of kept/NAME.txt: up to BLOCK sentences."""

    source: int
    start: int
    end: int
    tokens: int


def list_blocks(path: Path, source: int) -> Iterator[Block]:
    """The blocks of a file of sentences, in order."""
    with open(path, "rb") as file:
        start = 0
        while True:
            lines = [line for _ in range(BLOCK) if (line := file.readline())]
            if not lines:
                return
            end = start + sum(map(len, lines))
            yield Block(source, start, end, sum(line.count(b" ") + 1 for line in lines))
            start = end


def mix_blocks(blocks: list[Block], sources: tuple[Source, ...], seed: int) -> tuple[list[Block], list[Block]]:
    """All blocks in a random order, less the historical ones beyond half of the tokens; and those left out."""
    order = np.random.default_rng(seed).permutation(len(blocks)).tolist()
    room = sum(block.tokens for block in blocks if sources[block.source].modern)
    mixed, left_out = [], []
    for block in (blocks[i] for i in order):
        if not sources[block.source].modern:
            if block.tokens > room:
                left_out.append(block)
                continue
            room -= block.tokens
        mixed.append(block)
    return mixed, left_out


def pack_blocks(
    blocks: list[Block], files: list[Path], out: Path, preset: int, shard_bytes: int
) -> list[dict[str, Any]]:
    """Writes blocks into xz files of at most shard_bytes, each several xz streams; returns name, bytes and tokens."""
    for old in out.glob("en-[0-9][0-9][0-9].txt.xz"):
        old.unlink()
    shards: list[dict[str, Any]] = []
    ready: list[bytes] = []
    tokens = 0
    for packed, count in pack_streams(blocks, files, preset):
        if len(packed) > shard_bytes:
            raise OptionError(f"a stream of {len(packed)} bytes is larger than a shard of {shard_bytes}")
        if sum(map(len, ready)) + len(packed) > shard_bytes:
            shards.append(write_shard(out, len(shards), ready, tokens))
            ready, tokens = [], 0
        ready.append(packed)
        tokens += count
    if ready:
        shards.append(write_shard(out, len(shards), ready, tokens))
    return shards


def write_shard(out: Path, number: int, streams: list[bytes], tokens: int) -> dict[str, Any]:
    """Writes one shard; returns its name, bytes and tokens."""
    path = out / f"en-{number + 1:03}.txt.xz"
    with whole_file(path) as draft:
        draft.write_bytes(b"".join(streams))
    say(f"pack {path.name}: {tokens:,} tokens")
    return {"file": path.name, "bytes": sum(map(len, streams)), "tokens": tokens}


def pack_streams(blocks: list[Block], files: list[Path], preset: int) -> Iterator[tuple[bytes, int]]:
    """Blocks in groups of about STREAM bytes, each packed as one xz stream, with its tokens."""
    with ExitStack() as stack:
        opened = [stack.enter_context(open(path, "rb")) for path in files]
        group: list[bytes] = []
        size, tokens = 0, 0
        for block in blocks:
            opened[block.source].seek(block.start)
            group.append(opened[block.source].read(block.end - block.start))
            size, tokens = size + block.end - block.start, tokens + block.tokens
            if size >= STREAM:
                yield lzma.compress(b"".join(group), preset=preset), tokens
                group, size, tokens = [], 0, 0
        if group:
            yield lzma.compress(b"".join(group), preset=preset), tokens


def is_done(path: Path, made_with: dict[str, Any]) -> bool:
    """Whether the counts of a stage are there and were made with these settings."""
    return path.is_file() and json.loads(path.read_text(encoding="utf-8"))["made_with"] == made_with


def write_json(path: Path, values: dict[str, Any]) -> None:
    with whole_file(path) as draft:
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
        with whole_file(folder / f"{source.name}.txt") as draft, open(draft, "wb") as out:
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
            with whole_file(base.with_suffix(".txt")) as draft, open(draft, "wb") as out:
                counts, keys, runs = sift_source(read.with_suffix(".txt"), sieve, out)
            for name, array in ((".sentences.npy", keys), (".runs.npy", runs)):
                with whole_file(base.with_suffix(name)) as draft, open(draft, "wb") as out:
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
    shards = pack_blocks(mixed, files, settings.out, settings.preset, settings.shard_bytes)
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
    parser.add_argument("--preset", type=int, default=1, help="Preset of xz, 0 to 9: higher is smaller and slower. Default: 1.")
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
