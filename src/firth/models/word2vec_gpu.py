"""Word2Vec's network on a GPU: the same recipe, loop and checkpoints; only the two matrices are in GPU memory.

The rows are copied to the GPU at the first block, and back whenever `arrays` is read. A block of text is copied once
and stays in GPU memory for later epochs. Subsampling, windows and negative samples are drawn on the GPU.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.errors import OptionError
from firth.kernels import word2vec_gpu as kernel
from firth.models.window_network import Floats, WindowNetwork, random_state
from firth.text.vocabulary import Vocabulary
from firth.training.loop import HELD_OUT, BlockLoss
from firth.training.schedule import TextBlock

WARPS = 4  # windows per multiprocessor at once; more would be faster, but learn from older rows
SAME_CENTER = 8  # expected number of concurrent windows with the same center word, at most
SPARE = 2**30  # bytes of GPU memory that are never filled with text


class Word2VecGpuNetwork(WindowNetwork[Any]):
    """Skip-gram with shared negative samples, trained by thousands of threads at once."""

    block = 500_000  # launching the kernels takes as long as training 50,000 words

    def __init__(self, recipe: Any, vocabulary: Vocabulary, inputs: Floats) -> None:
        if (recipe.architecture, recipe.objective) != ("skip-gram", "negative-sampling") or not recipe.shared_negatives:
            raise OptionError(
                "Word2Vec: the GPU trains skip-gram with negative-sampling and shared_negatives above 0 only "
                f"(architecture is {recipe.architecture}, objective {recipe.objective}, shared_negatives "
                f"{recipe.shared_negatives}). Train this on the CPU: device='cpu'"
            )
        super().__init__(recipe, vocabulary, inputs)
        self.lock = Lock()  # the scratch arrays hold one block at a time
        self.is_on_gpu = False
        self.texts: dict[tuple[bool, int], Any] = {}

    @property
    def arrays(self) -> Mapping[str, Floats]:
        """The rows, copied back from the GPU if they are there."""
        if self.is_on_gpu:
            for host, tensor in zip((self.inputs, self.outputs), self.layers):
                host[:, : self.recipe.dim] = tensor[:, : self.recipe.dim].cpu().numpy()
        return {"inputs": self.inputs, "outputs": self.outputs}

    @cached_property
    def layers(self) -> tuple[Any, Any]:
        """Both matrices on the GPU."""
        import torch

        try:
            layers = pad_on_gpu(self.inputs, self.recipe.dim), pad_on_gpu(self.outputs, self.recipe.dim)
        except torch.cuda.OutOfMemoryError as error:
            problem = f"two rows of {self.recipe.dim} numbers for each of {len(self.inputs):,} words do not fit"
            raise OptionError(f"Word2Vec: {problem} into the GPU. Use a larger min_count, or device='cpu'") from error
        self.is_on_gpu = True
        return layers

    @cached_property
    def kernels(self) -> dict[str, Any]:
        """The kernels, compiled for these rows."""
        try:
            return kernel.compile_kernels(kernel.width(self.recipe.dim), self.recipe.negatives)
        except OSError as error:
            raise OptionError(f"Word2Vec cannot train on the GPU: {error}, or use device='cpu'") from error

    @cached_property
    def tables(self) -> tuple[Any, Any]:
        """On the GPU: the keep thresholds of subsampling, and the noise distribution."""
        return to_gpu(self.keep), to_gpu(self.noise)

    @cached_property
    def scratch(self) -> tuple[Any, ...]:
        return kernel.make_scratch(self.block)

    @cached_property
    def warps(self) -> int:
        """The number of windows this GPU trains concurrently."""
        import torch

        processors = torch.cuda.get_device_properties(0).multi_processor_count
        return concurrent_windows(self.counts * (self.keep / 2.0**32), processors)

    def train(self, block: TextBlock) -> BlockLoss:
        """Trains one block. While the GPU works on it, another thread may copy the next."""
        import torch

        recipe = self.recipe
        with self.lock:
            ids, sentences = self._text(block)
            keep, noise = self.tables
            total = torch.zeros(2, dtype=torch.float64, device="cuda")
            windows = recipe.window, recipe.dynamic_window, random_state(recipe.seed, block, 0)
            kernel.draw_windows(self.kernels, ids, sentences, keep, *windows, self.scratch)
            steps = block.rate, block.last_rate, random_state(recipe.seed, block, 1)
            layers = *self.layers, noise, recipe.shared_negatives
            kernel.skip_gram(self.kernels, self.scratch, *layers, *steps, self.warps, total)
            result = torch.empty(2, dtype=torch.float64, pin_memory=True)
            result.copy_(total, non_blocking=True)
            done = torch.cuda.current_stream().record_event()
        done.synchronize()
        loss, count = result.tolist()
        return BlockLoss(loss, int(count))

    def _text(self, block: TextBlock) -> Any:
        """The word ids of a block and the sentence number of each, on the GPU."""
        import torch

        key = block.epoch == HELD_OUT, block.number
        if key in self.texts:
            return self.texts[key]
        places = torch.arange(len(block.ids), dtype=torch.int32, device="cuda")
        sentences = torch.searchsorted(to_gpu(block.ends.astype(np.int32)), places, right=True, out_int32=True)
        text = to_gpu(block.ids), sentences
        if torch.cuda.mem_get_info()[0] > SPARE:
            self.texts[key] = text
        return text


def concurrent_windows(kept: NDArray[np.float64], processors: int) -> int:
    """The number of windows trained concurrently; fewer if one word is a large part of all `kept` occurrences.

    Concurrent windows do not see each other's updates, so a word in many of them would take too long a step.

    >>> concurrent_windows(np.full(1000, 3.0), 100), concurrent_windows(np.array([60.0, 20.0, 20.0]), 100)
    (400, 13)
    """
    return min(WARPS * processors, max(1, int(SAME_CENTER * kept.sum() / kept.max())))


def pad_on_gpu(rows: Floats, dim: int) -> Any:
    """Copies rows to the GPU, padded with zeros after the first `dim` columns."""
    import torch

    tensor = torch.zeros(len(rows), kernel.width(dim), device="cuda")
    tensor[:, :dim] = torch.from_numpy(rows[:, :dim]).cuda()
    return tensor


def to_gpu(array: NDArray[Any]) -> Any:
    """Copies an array of 32-bit numbers to the GPU, bit by bit."""
    import torch

    return torch.tensor(np.ascontiguousarray(array).view(np.int32), device="cuda")
