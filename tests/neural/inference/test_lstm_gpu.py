"""The LSTM layers for inference on a GPU against the reference; without a GPU their plain form runs on the CPU."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from firth.errors import OptionError
from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.neural.inference.embed import pad_rows
from firth.neural.inference.lstm_gpu import LayersGpu

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
LENGTHS = [9, 9, 5, 3, 2]


def make_bilm(**more: object) -> BiLM:
    sizes = Architecture.from_dict({**Architecture.named("tiny").as_dict(), **more})
    return BiLM(sizes, seed=3).to(DEVICE).eval()


def run_both(bilm: BiLM, precision: str) -> tuple[torch.Tensor, torch.Tensor]:
    """All layers by the fast path and by the reference, (layers, tokens, 2 · dim)."""
    vectors = torch.randn(sum(LENGTHS), bilm.architecture.dim, generator=torch.Generator().manual_seed(1)).to(DEVICE)
    with torch.no_grad():
        found = LayersGpu(bilm, precision).run(vectors, LENGTHS)
        plain, _ = bilm.contextualize(pad_rows(vectors, LENGTHS), torch.tensor(LENGTHS, device=DEVICE))
    return found, torch.cat([plain[:, row, :length] for row, length in enumerate(LENGTHS)], 1)


@pytest.mark.parametrize(
    "sizes",
    [{}, {"skip": False}, {"normalized": True}, {"cell": 16}, {"cell_clip": 0.05, "projection_clip": 0.02}],
    ids=["plain", "no skip", "normalized", "no projection", "tight clips"],
)
def test_float32_is_the_reference(sizes: dict[str, object]) -> None:
    found, plain = run_both(make_bilm(**sizes), "float32")
    assert plain[1:].abs().max() > 0.01
    torch.testing.assert_close(found, plain, atol=1e-6, rtol=0)


def test_bfloat16_stays_near() -> None:
    found, plain = run_both(make_bilm(), "bfloat16")
    assert float(torch.cosine_similarity(found, plain, dim=2).min()) > 0.999
    assert not torch.equal(found, plain)


def test_words_stand_for_vectors() -> None:
    bilm = make_bilm()
    vectors = torch.randn(4, bilm.architecture.dim, device=DEVICE)
    words = np.random.default_rng(1).integers(0, 4, sum(LENGTHS)).tolist()
    with torch.no_grad():
        layers = LayersGpu(bilm, "float32")
        torch.testing.assert_close(
            layers.run(vectors, LENGTHS, words), layers.run(vectors[words], LENGTHS), atol=1e-6, rtol=0
        )


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_the_first_layers_alone_are_those_of_all_layers(depth: int) -> None:
    layers, vectors = LayersGpu(make_bilm(), "float32"), torch.randn(sum(LENGTHS), 16, device=DEVICE)
    with torch.no_grad():
        found, every = layers.run(vectors, LENGTHS, depth=depth), layers.run(vectors, LENGTHS)
    assert len(found) == depth + 1
    torch.testing.assert_close(found, every[: depth + 1], atol=1e-6, rtol=0)


def test_a_precision_that_a_gpu_does_not_have_is_refused() -> None:
    with pytest.raises(OptionError, match="Use float32 or bfloat16"):
        LayersGpu(make_bilm(), "int8")
