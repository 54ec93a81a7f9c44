"""The kernels of the character CNN on a GPU against plain loops.

Whole encoders are compared with their reference in tests/neural/training/test_cnn_gpu.py.
"""

from __future__ import annotations

import pytest
import torch

from firth.kernels import character_cnn_gpu as kernel

TILE = {"WORDS": 16, "FILTERS": 16, "num_warps": 4}
CHARACTER_DIM, DEPTH, WIDTH = 4, 16, 9


@pytest.mark.usefixtures("gpu")
def test_the_maximum_of_each_filter_and_its_position() -> None:
    generator = torch.Generator().manual_seed(1)
    lengths = torch.tensor([9, 3, 1], dtype=torch.int32)
    characters = torch.randn(3, WIDTH, CHARACTER_DIM, generator=generator)
    for row, length in enumerate(lengths.tolist()):
        characters[row, length:] = 0
    characters = torch.nn.functional.pad(characters.flatten(1), (0, DEPTH)).bfloat16()
    filters = torch.randn(5, DEPTH, generator=generator).bfloat16()
    bias, last = torch.randn(5, generator=generator), torch.tensor([8, 8, 7, 6, 5], dtype=torch.int32)
    maxima = torch.empty(3, 5, dtype=torch.bfloat16, device="cuda")
    positions = torch.empty(3, 5, dtype=torch.uint8, device="cuda")
    tensors = (tensor.cuda() for tensor in (characters, lengths, filters, bias, last))
    sizes = 3, 5, characters.shape[1]
    kernel.max_pool[(1, 1)](*tensors, maxima, positions, *sizes, CHARACTER_DIM=CHARACTER_DIM, DEPTH=DEPTH, **TILE)
    for word in range(3):
        for feature in range(5):
            windows = [characters[word, p * CHARACTER_DIM :][:DEPTH].float() for p in range(int(last[feature]) + 1)]
            outputs = torch.stack([window @ filters[feature].float() for window in windows])
            assert positions[word, feature].item() == outputs.argmax().item()
            assert maxima[word, feature].item() == pytest.approx(
                (outputs.max() + bias[feature]).item(), rel=0.01, abs=0.01
            )


@pytest.mark.usefixtures("gpu")
def test_gradients_of_characters_are_summed_by_character() -> None:
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(0, 6, (7, WIDTH), generator=generator, dtype=torch.int32)
    grads = torch.randn(7, WIDTH * CHARACTER_DIM, generator=generator).bfloat16().float()
    share, shares = 32, 2
    found = torch.empty(shares, 16, 16, device="cuda")
    sizes = ids.numel(), WIDTH, WIDTH * CHARACTER_DIM, share, CHARACTER_DIM
    kernel.table_gradients[(shares,)](ids.cuda(), grads.cuda(), found, *sizes, SIZE=16, CHARACTERS=16, POSITIONS=16)
    expected = torch.zeros(16, CHARACTER_DIM)
    expected.index_add_(0, ids.flatten().long(), grads.view(-1, CHARACTER_DIM))
    torch.testing.assert_close(found.sum(0)[:, :CHARACTER_DIM].cpu(), expected, atol=1e-4, rtol=0)


def test_the_kernels_can_be_imported_without_triton() -> None:
    for name in ("max_pool", "filter_gradients", "character_gradients", "table_gradients"):
        assert callable(getattr(kernel, name))
