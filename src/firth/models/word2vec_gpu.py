"""Word2Vec's network on a GPU: the same recipe, loop and checkpoints; only the two matrices live elsewhere.

The rows go to the GPU at the first block and come back when `arrays` is asked for. A block of text goes there once and
stays, so that later epochs find the whole text in the GPU's memory; which words are kept, how far windows reach and
what the negatives are is decided there.
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
from firth.models.window_network import Floats, WindowNetwork, stream
from firth.text.vocabulary import Vocabulary
from firth.training.loop import HELD_OUT, Block, Tally

WARPS = 4  # windows that a processor of the GPU works on at once; more would be faster, and learn from older rows
CROWD = 8  # of all windows at work, about so many may have the same word in their middle
SPARE = 2**30  # bytes of the GPU's memory that are never filled with text


class CudaNetwork(WindowNetwork[Any]):
    """Skip-gram with shared negatives, trained by thousands of threads at once."""

    block = 500_000  # to start the GPU takes as long as it needs for 50,000 words

    def __init__(self, recipe: Any, vocabulary: Vocabulary, inputs: Floats) -> None:
        if (recipe.architecture, recipe.objective) != ("skip-gram", "negative-sampling") or not recipe.shared_negatives:
            raise OptionError(
                "Word2Vec: a GPU trains skip-gram with negative-sampling, where windows share their negatives "
                f"(architecture is {recipe.architecture}, objective {recipe.objective}, shared_negatives "
                f"{recipe.shared_negatives}). Train this on the CPU: device='cpu'"
            )
        super().__init__(recipe, vocabulary, inputs)
        self.lock = Lock()  # the desk holds one block at a time
        self.is_away = False  # whether the rows have gone to the GPU
        self.texts: dict[tuple[bool, int], Any] = {}

    @property
    def arrays(self) -> Mapping[str, Floats]:
        """The rows, brought back from the GPU if they are there."""
        if self.is_away:
            for host, tensor in zip((self.inputs, self.outputs), self.layers):
                host[:, : self.recipe.dim] = tensor[:, : self.recipe.dim].cpu().numpy()
        return {"inputs": self.inputs, "outputs": self.outputs}

    @cached_property
    def layers(self) -> tuple[Any, Any]:
        """Both matrices on the GPU."""
        import torch

        try:
            sent = padded_on_gpu(self.inputs, self.recipe.dim), padded_on_gpu(self.outputs, self.recipe.dim)
        except torch.cuda.OutOfMemoryError as error:
            problem = f"two rows of {self.recipe.dim} numbers for each of {len(self.inputs):,} words do not fit"
            raise OptionError(f"Word2Vec: {problem} into the GPU. Use a larger min_count, or device='cpu'") from error
        self.is_away = True
        return sent

    @cached_property
    def kernels(self) -> dict[str, Any]:
        """The kernels, compiled for these rows."""
        try:
            return kernel.compile_kernels(kernel.width(self.recipe.dim), self.recipe.negatives)
        except OSError as error:
            raise OptionError(f"Word2Vec cannot train on the GPU: {error}, or use device='cpu'") from error

    @cached_property
    def tables(self) -> tuple[Any, Any]:
        """On the GPU: how often words are kept, and the noise."""
        return to_gpu(self.keep), to_gpu(self.noise)

    @cached_property
    def desk(self) -> tuple[Any, ...]:
        return kernel.make_scratch(self.block)

    @cached_property
    def warps(self) -> int:
        """How many windows this GPU trains at the same time."""
        import torch

        processors = torch.cuda.get_device_properties(0).multi_processor_count
        return windows_at_once(self.counts * (self.keep / 2.0**32), processors)

    def train(self, block: Block) -> Tally:
        """Trains one block. While the GPU works on it, another thread may send the next."""
        import torch

        recipe = self.recipe
        with self.lock:
            ids, sentences = self._text(block)
            keep, noise = self.tables
            tally = torch.zeros(2, dtype=torch.float64, device="cuda")
            windows = recipe.window, recipe.dynamic_window, stream(recipe.seed, block, 0)
            kernel.draw_windows(self.kernels, ids, sentences, keep, *windows, self.desk)
            steps = block.rate, block.last_rate, stream(recipe.seed, block, 1)
            layers = *self.layers, noise, recipe.shared_negatives
            kernel.skip_gram(self.kernels, self.desk, *layers, *steps, self.warps, tally)
            found = torch.empty(2, dtype=torch.float64, pin_memory=True)
            found.copy_(tally, non_blocking=True)
            done = torch.cuda.current_stream().record_event()
        done.synchronize()
        loss, count = found.tolist()
        return Tally(loss, int(count))

    def _text(self, block: Block) -> Any:
        """The ids of a block and the sentences that they are in, on the GPU."""
        import torch

        place = block.epoch == HELD_OUT, block.number
        if place in self.texts:
            return self.texts[place]
        places = torch.arange(len(block.ids), dtype=torch.int32, device="cuda")
        sentences = torch.searchsorted(to_gpu(block.ends.astype(np.int32)), places, right=True, out_int32=True)
        sent = to_gpu(block.ids), sentences
        if torch.cuda.mem_get_info()[0] > SPARE:
            self.texts[place] = sent
        return sent


def windows_at_once(kept: NDArray[np.float64], processors: int) -> int:
    """How many windows are trained at the same time; fewer, where one word is a large part of all that are `kept`.

    Windows at work do not see each other's steps, so a word that is in many of them would take one step that is too
    long.

    >>> windows_at_once(np.full(1000, 3.0), 100), windows_at_once(np.array([60.0, 20.0, 20.0]), 100)
    (400, 13)
    """
    return min(WARPS * processors, max(1, int(CROWD * kept.sum() / kept.max())))


def padded_on_gpu(rows: Floats, dim: int) -> Any:
    """The rows as a tensor, with zeros after the first `dim` numbers."""
    import torch

    tensor = torch.zeros(len(rows), kernel.width(dim), device="cuda")
    tensor[:, :dim] = torch.from_numpy(rows[:, :dim]).cuda()
    return tensor


def to_gpu(array: NDArray[Any]) -> Any:
    """A tensor of 32-bit numbers, whose bits are those of the array."""
    import torch

    return torch.tensor(np.ascontiguousarray(array).view(np.int32), device="cuda")
