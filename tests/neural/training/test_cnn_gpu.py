"""The character CNN for training on a GPU against its reference; its layout of filters on a CPU."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from firth.neural.layers import CharacterCnn
from firth.neural.training import cnn_gpu
from firth.text.character_ids import CharacterIds

Compare = Callable[[Tensor, Tensor], float]


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize(
    "sizes",
    [
        {"dim": 32, "filters": ((1, 32), (2, 32), (3, 64), (7, 40)), "highways": 1},
        {
            "dim": 8,
            "width": 12,
            "character_dim": 4,
            "filters": ((1, 4), (5, 16)),
            "highways": 0,
            "activation": "tanh",
        },
    ],
)
def test_the_gpu_encodes_words_as_the_reference_does(sizes: dict[str, object], relative_error: Compare) -> None:
    cnn = CharacterCnn(**sizes).cuda()  # type: ignore[arg-type]
    generator = torch.Generator("cuda").manual_seed(3)
    for parameter in cnn.parameters():
        parameter.data = (torch.randn(parameter.shape, generator=generator, device="cuda") * 0.3).bfloat16().float()
    words = ["a", "the", "<S>", *(f"w{number}" for number in range(90)), "anticonstitutionnellement", "x" * 60]
    ids = torch.from_numpy(CharacterIds(int(sizes.get("width", 50))).of(words)).cuda()  # type: ignore[call-overload]
    expected, found = cnn.encode(ids), cnn_gpu.encode(cnn, ids)
    assert relative_error(found, expected) < 0.01
    direction, weights = torch.randn(expected.shape, generator=generator, device="cuda"), list(cnn.parameters())
    expected_grads = torch.autograd.grad((expected * direction).sum(), weights)
    for grad, expected_grad in zip(torch.autograd.grad((found.float() * direction).sum(), weights), expected_grads):
        assert relative_error(grad, expected_grad) < 0.08  # rounding decides between equal windows


def test_a_padded_filter_times_a_run_of_characters_is_its_convolution(monkeypatch: pytest.MonkeyPatch) -> None:
    powers = SimpleNamespace(next_power_of_2=lambda count: 1 << (count - 1).bit_length())
    monkeypatch.setattr(cnn_gpu, "triton", powers)
    cnn = CharacterCnn(8, width=12, character_dim=4, filters=((1, 3), (3, 5)), highways=0)
    ids = torch.from_numpy(CharacterIds(12).of(["tea", "rain"]))
    filters, bias, last_position = cnn_gpu.join_filters(cnn, ids)
    assert filters.shape == (8, 16)
    assert last_position.tolist() == [11] * 3 + [9] * 5
    characters = functional.pad(cnn.table[ids.long()].flatten(1), (0, 16))
    convolved = [conv(cnn.table[ids.long()].transpose(1, 2)) for conv in cnn.filters]
    for position in (0, 4, 9):
        window = characters[:, 4 * position : 4 * position + 16]
        expected = torch.cat([outputs[:, :, position] for outputs in convolved], 1)
        assert torch.allclose(window @ filters.T + bias, expected, atol=1e-6)


def test_a_cpu_and_other_encoders_are_not_supported() -> None:
    cnn = CharacterCnn(8, character_dim=4, filters=((1, 3),), highways=0)
    assert not cnn_gpu.fits(cnn, torch.device("cpu"))
    assert not cnn_gpu.fits(torch.nn.Linear(2, 2), torch.device("cpu"))
