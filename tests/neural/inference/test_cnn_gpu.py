"""The character CNN for inference on a GPU against its reference. Its matrix products run on a CPU too."""

from __future__ import annotations

import pytest
import torch

from firth.neural.architecture import PRESETS
from firth.neural.bilm import BiLM
from firth.neural.inference.cnn_gpu import CnnGpu

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU and a torch built for it")


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=needs_gpu)])
def test_words_are_encoded_as_the_reference_encodes_them(device: str) -> None:
    encoder = BiLM(PRESETS["tiny"], seed=3).to(device).encoder
    words = ["tea", "", "a", "x" * 60, "چای", "<S>"]
    with torch.no_grad(), torch.backends.cudnn.flags(enabled=False):
        torch.testing.assert_close(CnnGpu(encoder)(words), encoder(words), atol=1e-6, rtol=0)
