"""Changes to PyTorch files of tensors: other tensors, and other instructions of their pickles. Nothing is executed."""

from __future__ import annotations

import io
import pickletools
import zipfile
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from random import Random
from typing import Any

import torch

from firth.archives import DAMAGED

ZIP = b"PK\x03\x04"
PICKLES = 5  # of a file of PyTorch before 1.6
INSTRUCTIONS = tuple(opcode.code.encode("latin-1") for opcode in pickletools.opcodes)
PIECES = (  # of pickles
    *(
        b"\x85" * 9,
        b"\x85" * 30_000,
        b"]",
        b"(",
        b"t",
        b"N",
        b"}",
        b"u",
        b"s",
        b"R",
        b"b",
        b"Q",
        b"K\xff",
        b"J\xff\xff\xff\xff",
    ),
    *(
        b"\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
        b"cposix\nsystem\n",
        b"ctorch\nFloatStorage\n",
        b"ctorch\nHalfStorage\n",
    ),
    *(
        b"ccollections\nOrderedDict\n",
        b"ctorch._utils\n_rebuild_tensor\n",
        b"G\x7f\xf8\0\0\0\0\0\0",
        b"X\x01\0\0\0x",
        b".",
    ),
)
CHANGES: tuple[Callable[[Any, Random], Any], ...] = (
    lambda one, rng: one.double(),
    lambda one, rng: one.half(),
    lambda one, rng: one.bfloat16(),
    lambda one, rng: one.long(),
    lambda one, rng: one.bool(),
    lambda one, rng: one.to(torch.complex64),
    lambda one, rng: one.requires_grad_(),
    lambda one, rng: torch._neg_view(one),
    lambda one, rng: torch.nn.Parameter(one),
    lambda one, rng: one.T.contiguous().T if one.dim() == 2 else one.flip(0),
    lambda one, rng: one.flatten()[:1].expand(one.shape),
    lambda one, rng: one.flatten()[:1].as_strided((rng.choice((1, 10**6, 10**12)),), (0,)),
    lambda one, rng: one.flatten()[: rng.randrange(one.numel() + 1)],
    lambda one, rng: one[None],
    lambda one, rng: one * rng.choice((float("nan"), float("inf"), 1e30, -1.0, 0.0)),
    lambda one, rng: one.to_sparse(),
    lambda one, rng: one.tolist(),
)


@lru_cache(64)
def parse_tensors(data: bytes) -> dict[Any, Any]:
    """The tensors of a file, which are never changed. Raises an exception of any kind if it has none."""
    tensors = torch.load(io.BytesIO(data), weights_only=True)
    return {name: tensor.detach() for name, tensor in tensors.items()}


def change_tensors(rng: Random, data: bytes) -> bytes:
    """A file with another tensor, or with other instructions; the data itself if it cannot be changed so."""
    if rng.random() < 0.5:
        return change_instructions(rng, data)
    try:
        tensors = dict(parse_tensors(data))
        name, other = rng.choice(list(tensors)), rng.choice(list(tensors))
        draw = rng.random()
        if draw < 0.1:
            del tensors[name]
        elif draw < 0.2:
            tensors[name] = tensors[other]
        elif draw < 0.3:
            tensors[rng.choice((7, (1, 2), "", "x" * 300, "\0", other + "x"))] = tensors.pop(name)
        else:
            tensors[name] = rng.choice(CHANGES)(tensors[name].clone(), rng)
        buffer = io.BytesIO()
        torch.save(tensors, buffer, _use_new_zipfile_serialization=rng.random() < 0.5)
        return buffer.getvalue()
    except Exception:  # of torch, for a file that an earlier change has damaged
        return data


def change_instructions(rng: Random, data: bytes) -> bytes:
    """A file whose pickle has other instructions or arguments."""
    if not data.startswith(ZIP):
        return change_pickle(rng, data, PICKLES)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {member.filename: archive.read(member) for member in archive.infolist()}
    except DAMAGED:
        return data
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, member in members.items():
            archive.writestr(zipfile.ZipInfo(name), change_pickle(rng, member, 1) if name.endswith(".pkl") else member)
    return buffer.getvalue()


@lru_cache(64)
def find_instructions(data: bytes, pickles: int) -> list[int]:
    """Where the instructions of the first pickles of a file begin, as far as they are valid."""
    places, file = [], io.BytesIO(data)
    try:
        for _ in range(pickles):
            begin = file.tell()
            places += [begin + (place or 0) for _, _, place in pickletools.genops(data[begin:])]
            file.seek(places[-1] + 1)
    except (ValueError, EOFError, UnicodeDecodeError, OverflowError, AttributeError, TypeError):
        pass
    return [*places, (places[-1] + 1) if places else 0]


def change_pickle(rng: Random, data: bytes, pickles: int) -> bytes:
    """A pickle with an instruction replaced, removed, repeated or added, or with another argument."""
    spans = list(pairwise(find_instructions(data, pickles)))
    if not spans:
        return data
    start, stop = rng.choice(spans)
    one, action = data[start:stop], rng.randrange(6)
    if action == 0:
        new = b""
    elif action == 1:
        new = one * rng.choice((2, 3, 100))
    elif action == 2:
        new = rng.choice(INSTRUCTIONS) + one[1:]
    elif action == 3:
        new = rng.choice(PIECES) + one
    elif action == 4:
        other = rng.choice(spans)
        new = data[slice(*other)]
    else:
        argument = bytearray(one[1:])
        if argument:
            argument[rng.randrange(len(argument))] = rng.choice((0, 1, 2, 127, 128, 255))
        new = one[:1] + bytes(argument)
    return data[:start] + new + data[stop:]
