"""Kept sentences of all sources to xz files: blocks in a random order, files of a limited size."""

from __future__ import annotations

import lzma
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from corpus_sources import Source
from firth.errors import OptionError
from firth.files import atomic_file

STREAM = 1 << 24  # bytes of text in one xz stream
BLOCK = 1000  # sentences that stay together when the sources are mixed


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
    with atomic_file(path) as draft:
        draft.write_bytes(b"".join(streams))
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
