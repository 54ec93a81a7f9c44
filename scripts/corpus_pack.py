"""Kept sentences of all sources to xz files: one genre a file, blocks in a random order, files of a limited size."""

from __future__ import annotations

import lzma
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from corpus_sources import Source
from firth.errors import OptionError
from firth.files import atomic_file
from firth.runtime import map_ahead

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


def pack_genres(
    blocks: list[Block], sources: tuple[Source, ...], files: list[Path], out: Path, preset: int, shard_bytes: int
) -> list[dict[str, Any]]:
    """Writes the blocks of each genre into files of its own; returns genre, name, bytes and tokens of each file."""
    for old in out.glob("*-[0-9][0-9].txt.xz"):
        old.unlink()
    shards: list[dict[str, Any]] = []
    for genre in dict.fromkeys(source.genre for source in sources):
        own = [block for block in blocks if sources[block.source].genre == genre]
        stem = out / re.sub(r"\W+", "-", genre)
        shards += [{"genre": genre, **shard} for shard in pack_blocks(own, files, stem, preset, shard_bytes)]
    return shards


def pack_blocks(
    blocks: list[Block], files: list[Path], stem: Path, preset: int, shard_bytes: int
) -> list[dict[str, Any]]:
    """Writes blocks into xz files of at most shard_bytes, each several xz streams; returns name, bytes and tokens."""
    shards: list[dict[str, Any]] = []
    ready: list[bytes] = []
    tokens = 0
    for packed, count in pack_streams(blocks, files, preset):
        if len(packed) > shard_bytes:
            raise OptionError(f"a stream of {len(packed)} bytes is larger than a shard of {shard_bytes}")
        if sum(map(len, ready)) + len(packed) > shard_bytes:
            shards.append(write_shard(stem, len(shards), ready, tokens))
            ready, tokens = [], 0
        ready.append(packed)
        tokens += count
    if ready:
        shards.append(write_shard(stem, len(shards), ready, tokens))
    return shards


def write_shard(stem: Path, number: int, streams: list[bytes], tokens: int) -> dict[str, Any]:
    """Writes one shard; returns its name, bytes and tokens."""
    path = stem.with_name(f"{stem.name}-{number + 1:02}.txt.xz")
    with atomic_file(path) as draft:
        draft.write_bytes(b"".join(streams))
    return {"file": path.name, "bytes": sum(map(len, streams)), "tokens": tokens}


def pack_streams(blocks: list[Block], files: list[Path], preset: int) -> Iterator[tuple[bytes, int]]:
    """Blocks in groups of about STREAM bytes, each packed as one xz stream, with its tokens."""

    def pack(group: tuple[bytes, int]) -> tuple[bytes, int]:
        return lzma.compress(group[0], preset=preset), group[1]

    threads = os.cpu_count() or 1
    return map_ahead(pack, group_blocks(blocks, files), threads=threads, ahead=2 * threads)


def group_blocks(blocks: list[Block], files: list[Path]) -> Iterator[tuple[bytes, int]]:
    """The text of blocks in groups of about STREAM bytes, with its tokens."""
    with ExitStack() as stack:
        opened = [stack.enter_context(open(path, "rb")) for path in files]
        group: list[bytes] = []
        size, tokens = 0, 0
        for block in blocks:
            opened[block.source].seek(block.start)
            group.append(opened[block.source].read(block.end - block.start))
            size, tokens = size + block.end - block.start, tokens + block.tokens
            if size >= STREAM:
                yield b"".join(group), tokens
                group, size, tokens = [], 0, 0
        if group:
            yield b"".join(group), tokens
