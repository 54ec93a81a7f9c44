"""The character CNN on a GPU, for training: filters as products of tiles that keep the best answers alone.

`firth.neural.layers.CharacterCnn.encode` is the reference; here filters, highways and projection are in bfloat16.
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
SHARES = 8  # of the words, whose slopes are summed apart
SUMMED, PLACES = 128, 64  # parts that the places of characters are summed in, and places at a time


def fits(encoder: Any, device: torch.device) -> bool:
    """Whether these kernels are made for an encoder on this device."""
    return isinstance(encoder, CharacterCnn) and supports(device)


def encode(encoder: CharacterCnn, ids: Tensor) -> Tensor:
    """The vectors of spelled words (n, width), as `encoder.encode` gives them; best sorted by length.

    The width is the encoder's own, or `CharacterCnn.spell`'s shorter one.
    """
    ids = ids.int().contiguous()
    best: Tensor = BestAnswers.apply(ids, encoder.table, *side_by_side(encoder, ids))  # type: ignore[no-untyped-call]
    with torch.autocast(ids.device.type, torch.bfloat16):
        x = encoder.activation(best)
        for highway in encoder.highways:
            x = highway(x)
        return x if encoder.projection is None else encoder.projection(x)


def side_by_side(encoder: CharacterCnn, ids: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Filters of every size, filled up to (features, numbers of a window), their bias, and their last places."""
    width, letter = ids.shape[1], encoder.table.shape[1]
    depth = max(16, triton.next_power_of_2(letter * encoder.longest))
    filters: list[Tensor] = []
    biases: list[Tensor] = []
    last: list[int] = []
    for one in encoder.filters:
        weight, bias = one.parameters()  # (filters of this size, letter, size)
        filters.append(functional.pad(weight.transpose(1, 2).flatten(1), (0, depth - weight[0].numel())))
        biases.append(bias)
        last += [width - weight.shape[2]] * len(bias)
    places = torch.tensor(last, dtype=torch.int32).to(ids.device, non_blocking=True)
    return torch.cat(filters), torch.cat(biases), places


class BestAnswers(torch.autograd.Function):
    """The best answer of each word to each filter, (words, features), in bfloat16."""

    @staticmethod
    def forward(ctx: Any, ids: Tensor, table: Tensor, filters: Tensor, bias: Tensor, last: Tensor) -> Tensor:
        words, letter, (features, depth) = len(ids), table.shape[1], filters.shape
        filled = functional.pad(ids, (0, blocks(depth, letter)))  # so that windows at the end stay inside
        characters = functional.embedding(filled, table.bfloat16()).flatten(1)  # (words, stride)
        filters, lengths = filters.bfloat16(), (ids != FILL).sum(1, dtype=torch.int32)
        best = characters.new_empty(words, features)
        places = torch.empty_like(best, dtype=torch.uint8)
        grid = blocks(words, TILE["WORDS"]), blocks(features, TILE["FILTERS"])
        sizes = words, features, characters.stride(0)
        kernel.best_answers[grid](
            *(characters, lengths, filters, bias.float(), last, best, places, *sizes),
            LETTER=letter,
            DEPTH=depth,
            **TILE,
        )
        ctx.save_for_backward(ids, characters, lengths, filters, places)
        ctx.letter, ctx.characters = letter, len(table)
        return best

    @staticmethod
    def backward(ctx: Any, *outers: Tensor) -> Any:
        ids, characters, lengths, filters, places = ctx.saved_tensors
        slopes, (features, depth) = outers[0].bfloat16().contiguous(), filters.shape
        words, width = ids.shape
        sizes = words, features, characters.stride(0)
        by_filter = slopes.new_empty(SHARES, features, depth, dtype=torch.float32)
        kernel.filter_slopes[(blocks(features, TILE["FILTERS"]), SHARES)](
            *(characters, lengths, places, slopes, by_filter, *sizes),
            LETTER=ctx.letter,
            DEPTH=depth,
            **TILE,
        )
        by_character = torch.zeros_like(characters, dtype=torch.float32)
        kernel.character_slopes[(blocks(words, TILE["WORDS"]), width)](
            *(lengths, places, slopes, filters, by_character, *sizes),
            LETTER=ctx.letter,
            DEPTH=depth,
            **TILE,
        )
        by_table = slopes_of_table(ids, by_character, ctx.characters, ctx.letter)
        return None, by_table, by_filter.sum(0), slopes.sum(0, dtype=torch.float32), None


def slopes_of_table(ids: Tensor, by_character: Tensor, characters: int, letter: int) -> Tensor:
    """The slopes of the characters' vectors, (characters, letter), from those of the characters of words."""
    size, numbers = triton.next_power_of_2(characters), max(16, triton.next_power_of_2(letter))
    share = blocks(blocks(ids.numel(), SUMMED), PLACES) * PLACES
    parts = by_character.new_empty(blocks(ids.numel(), share), size, numbers)
    kernel.table_slopes[(len(parts),)](
        *(ids, by_character, parts, ids.numel(), ids.shape[1], by_character.stride(0), share, letter),
        LETTER=numbers,
        CHARACTERS=size,
        PLACES=PLACES,
        num_warps=8,
    )
    return parts.sum(0)[:characters, :letter]
