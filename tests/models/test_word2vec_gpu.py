"""Word2Vec's network for a GPU, as far as a machine without one can tell."""

from __future__ import annotations

import numpy as np
import pytest

from firth.errors import OptionError
from firth.kernels import word2vec_gpu as kernel
from firth.kernels.simd_float import matrix
from firth.models.word2vec import NETWORKS, Word2Vec
from firth.models.word2vec_gpu import Word2VecGpuNetwork, concurrent_windows
from firth.text.vocabulary import Vocabulary


@pytest.mark.parametrize("options", [{"architecture": "cbow"}, {"objective": "softmax"}, {"shared_negatives": 0}])
def test_what_the_gpu_cannot_do_is_an_error(options):
    with pytest.raises(OptionError, match="on the CPU"):
        Word2VecGpuNetwork(Word2Vec(dim=8, **options), Vocabulary(["a", "b"], [2, 1]), matrix(2, 8))


def test_a_compiler_that_is_not_there_is_a_clear_error(monkeypatch):
    def missing(width, negatives):
        raise OSError("libnvrtc.so.13 is not there")

    monkeypatch.setattr(kernel, "compile_kernels", missing)
    network = Word2VecGpuNetwork(Word2Vec(dim=8), Vocabulary(["a", "b"], [2, 1]), matrix(2, 8))
    with pytest.raises(OptionError, match=r"cannot train on the GPU: libnvrtc.so.13 is not there"):
        network.kernels  # noqa: B018


def test_rows_that_never_went_to_the_gpu_are_the_first_rows():
    rows = matrix(2, 8)
    rows[:, :8] = 0.5
    assert Word2VecGpuNetwork(Word2Vec(dim=8), Vocabulary(["a", "b"], [2, 1]), rows).arrays["inputs"] is rows


def test_the_device_chooses_the_network():
    assert NETWORKS["cuda"] is Word2VecGpuNetwork
    assert NETWORKS.keys() == {"cpu", "cuda"}


def test_a_word_that_is_everywhere_allows_fewer_windows_at_once():
    even, uneven = np.full(1000, 10.0), np.append(np.full(999, 0.01), 1000.0)
    assert concurrent_windows(even, 100) == 400
    assert concurrent_windows(uneven, 100) == 8
