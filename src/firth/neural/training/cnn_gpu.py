"""The character CNN for training on a GPU: a kernel computes convolution and max over time in tiles.

`firth.neural.layers.CharacterCnn.encode` is the reference; here filters, highway layers and projection are in bfloat16.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from firth.kernels import character_cnn_gpu as kernel
from firth.kernels.triton_support import blocks, supports, triton
from firth.neural.layers import CharacterCnn
from firth.text.character_ids import FILL

TILE = {"WORDS": 64, "FILTERS": 128, "num_warps": 8, "num_stages": 2}
SHARES = 8  # of the words, whose filter gradients are summed apart
PARTS, POSITIONS = 128, 64  # parts in which the gradients of characters are summed, and positions at a time


def fits(encoder: Any, device: torch.device) -> bool:
    """Whether these kernels support an encoder on this device."""
    return isinstance(encoder, CharacterCnn) and supports(device)


def encode(encoder: CharacterCnn, ids: Tensor) -> Tensor:
    """The vectors of words from their character ids (n, width), as `encoder.encode`; best sorted by length.

    The width is that of the encoder, or the shorter one of `CharacterCnn.spell`.
    """
    ids = ids.int().contiguous()
    maxima: Tensor = MaxPoolFunction.apply(ids, encoder.table, *join_filters(encoder, ids))  # type: ignore[no-untyped-call]
    with torch.autocast(ids.device.type, torch.bfloat16):
        return encoder.finish(maxima)


def join_filters(encoder: CharacterCnn, ids: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Filters of every width, padded to (features, numbers of a window), their bias, and their last positions."""
    width, character_dim = ids.shape[1], encoder.table.shape[1]
    depth = max(16, triton.next_power_of_2(character_dim * encoder.longest))
    filters: list[Tensor] = []
    biases: list[Tensor] = []
    last_position: list[int] = []
    for one in encoder.filters:
        weight, bias = one.parameters()  # (filters of this size, character_dim, size)
        filters.append(functional.pad(weight.transpose(1, 2).flatten(1), (0, depth - weight[0].numel())))
        biases.append(bias)
        last_position += [width - weight.shape[2]] * len(bias)
    positions = torch.tensor(last_position, dtype=torch.int32).to(ids.device, non_blocking=True)
    return torch.cat(filters), torch.cat(biases), positions


class MaxPoolFunction(torch.autograd.Function):
    """The maximum of each filter over each word, (words, features), in bfloat16."""

    @staticmethod
    def forward(ctx: Any, ids: Tensor, table: Tensor, filters: Tensor, bias: Tensor, last_position: Tensor) -> Tensor:
        words, character_dim, (features, depth) = len(ids), table.shape[1], filters.shape
        filled = functional.pad(ids, (0, blocks(depth, character_dim)))  # so that the last windows stay inside
        characters = functional.embedding(filled, table.bfloat16()).flatten(1)  # (words, stride)
        filters, lengths = filters.bfloat16(), (ids != FILL).sum(1, dtype=torch.int32)
        maxima = characters.new_empty(words, features)
        positions = torch.empty_like(maxima, dtype=torch.uint8)
        grid = blocks(words, TILE["WORDS"]), blocks(features, TILE["FILTERS"])
        sizes = words, features, characters.stride(0)
        kernel.max_pool[grid](
            *(characters, lengths, filters, bias.float(), last_position, maxima, positions, *sizes),
            CHARACTER_DIM=character_dim,
            DEPTH=depth,
            **TILE,
        )
        ctx.save_for_backward(ids, characters, lengths, filters, positions)
        ctx.character_dim, ctx.characters = character_dim, len(table)
        return maxima

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        ids, characters, lengths, filters, positions = ctx.saved_tensors
        grad_maxima, (features, depth) = grads[0].bfloat16().contiguous(), filters.shape
        words, width = ids.shape
        sizes = words, features, characters.stride(0)
        grad_filters = grad_maxima.new_empty(SHARES, features, depth, dtype=torch.float32)
        kernel.filter_gradients[(blocks(features, TILE["FILTERS"]), SHARES)](
            *(characters, lengths, positions, grad_maxima, grad_filters, *sizes),
            CHARACTER_DIM=ctx.character_dim,
            DEPTH=depth,
            **TILE,
        )
        grad_characters = torch.zeros_like(characters, dtype=torch.float32)
        kernel.character_gradients[(blocks(words, TILE["WORDS"]), width)](
            *(lengths, positions, grad_maxima, filters, grad_characters, *sizes),
            CHARACTER_DIM=ctx.character_dim,
            DEPTH=depth,
            **TILE,
        )
        grad_table = sum_by_character(ids, grad_characters, ctx.characters, ctx.character_dim)
        return None, grad_table, grad_filters.sum(0), grad_maxima.sum(0, dtype=torch.float32), None


def sum_by_character(ids: Tensor, grad_characters: Tensor, characters: int, character_dim: int) -> Tensor:
    """The gradients of the character table, (characters, character_dim), from those of the characters of words."""
    size, numbers = triton.next_power_of_2(characters), max(16, triton.next_power_of_2(character_dim))
    share = blocks(blocks(ids.numel(), PARTS), POSITIONS) * POSITIONS
    parts = grad_characters.new_empty(blocks(ids.numel(), share), size, numbers)
    kernel.table_gradients[(len(parts),)](
        *(ids, grad_characters, parts, ids.numel(), ids.shape[1], grad_characters.stride(0), share, character_dim),
        SIZE=numbers,
        CHARACTERS=size,
        POSITIONS=POSITIONS,
        num_warps=8,
    )
    return parts.sum(0)[:characters, :character_dim]
