"""The network of paragraph vectors: word2vec's, with the tags of the document as further rows of each context.

`inputs` has the rows of the words, a row for places outside a document (concatenation only), and the rows of the tags.
PV-DBOW that does not train words has the rows of the tags alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from firth.kernels import doc2vec as kernel
from firth.kernels import word2vec
from firth.kernels.simd_float import matrix, stride
from firth.models.document_tags import DocumentTags
from firth.models.window_network import Floats, KernelLoss, Objective, WindowNetwork, Windows, random_rows
from firth.runtime import Runtime
from firth.text.vocabulary import Vocabulary
from firth.training.loop import BlockLoss
from firth.training.schedule import LOWEST_RATE, TextBlock


class DocumentNetwork(WindowNetwork[Any]):
    """The rows of words and tags, and the output rows.

    `offsets` are the words before each document. A network that only infers has neither tags nor offsets.
    """

    def __init__(
        self,
        recipe: Any,
        vocabulary: Vocabulary,
        inputs: Floats,
        tags: DocumentTags | None = None,
        offsets: NDArray[np.uint64] | None = None,
        places: int = 1,
    ) -> None:
        super().__init__(recipe, vocabulary, inputs)
        self.tags, self.offsets = tags, offsets
        if recipe.is_concatenated:  # an output row has a part for each place of the context; `places` are those of tags
            self.dynamic_window = False
            self.outputs = matrix(len(vocabulary), (places + 2 * recipe.window) * stride(recipe.dim))
        if tags is not None:
            first = count_word_rows(recipe, len(vocabulary))
            self.tag_rows = tags.starts, (tags.ids.astype(np.int64) + first).astype(np.uint32)

    def train(self, block: TextBlock) -> BlockLoss:
        """Trains one block."""
        assert self.offsets is not None, "this network only infers"
        windows, ends = self._draw_windows(block)
        first = int(np.searchsorted(self.offsets, np.uint64(block.first), "right")) - 1
        documents = np.repeat(np.arange(first, first + len(ends)), np.diff(ends, prepend=0))
        targets, objective = self._objective(block)
        loss, count = self._run_tagged(block, windows, targets, objective, (documents, *self.tag_rows))
        return BlockLoss(float(loss), int(count))

    def _draw_windows(self, block: TextBlock) -> tuple[Windows, NDArray[np.int64]]:
        """As for words, but PV-DBOW that does not train words has no context."""
        (words, before, after, window), ends = super()._draw_windows(block)
        if not self.recipe.has_words:
            before[:] = after[:] = 0
            window = len(words)  # no row of a word is loaded ahead
        return (words, before, after, window), ends

    def _run_tagged(
        self, block: TextBlock, windows: Windows, targets: int, objective: Objective, tags: tuple[Any, ...]
    ) -> KernelLoss:
        """Trains the windows of a block with a kernel."""
        recipe, is_sampled = self.recipe, self.recipe.objective == "negative-sampling"
        most = 0 if self.tags is None else self.tags.most
        scratch = word2vec.make_scratch(recipe.window, targets, self.outputs.shape[1], most)
        rest = self.inputs, self.outputs, *objective, (block.rate, block.last_rate), scratch, tags
        if recipe.is_concatenated:
            return kernel.concatenation(windows, len(self.vocabulary), *rest)
        if recipe.architecture == "pv-dm":
            train = word2vec.cbow_two_centers if is_sampled and recipe.shared_negatives > 1 else word2vec.cbow
            return train(windows, recipe.combination == "mean", *rest)
        by_pair = recipe.objective == "softmax" or (is_sampled and not recipe.shared_negatives)
        return (word2vec.skip_gram_by_pair if by_pair else word2vec.skip_gram)(windows, *rest)

    def infer(self, ids: NDArray[np.uint32], epochs: int, rate: float) -> Floats:
        """The vector of a new document: its row is trained, and all other rows stay.

        The random numbers depend on the seed of the recipe alone, so a document always has the same vector.
        """
        recipe = self.recipe
        document = random_rows(1, recipe.dim, 1.0 / recipe.dim, recipe.seed, Runtime(1))
        for epoch in range(epochs):
            first, last = (rate * max(LOWEST_RATE, 1 - done / epochs) for done in (epoch, epoch + 1))
            block = TextBlock(ids, np.array([len(ids)]), epoch, 0, first, last, first=0)
            windows, _ = self._draw_windows(block)
            targets, objective = self._objective(block)
            scratch = word2vec.make_scratch(recipe.window, targets, self.outputs.shape[1], self.outputs.shape[1])
            rest = document, self.inputs, self.outputs, *objective, (first, last), scratch
            if recipe.is_concatenated:
                kernel.infer_concatenation(windows, len(self.vocabulary), *rest)
            else:
                kernel.infer(windows, recipe.combination == "mean", *rest)
        vector: Floats = document[0, : recipe.dim]
        return vector


def count_word_rows(recipe: Any, words: int) -> int:
    """The number of input rows before those of the tags."""
    return (words if recipe.has_words else 0) + int(recipe.is_concatenated)


def fits_outputs(recipe: Any, columns: int) -> bool:
    """Whether output vectors have a column for each input: those of a row or, with concatenation, of all places."""
    width = stride(recipe.dim)
    if not recipe.is_concatenated:
        return columns == width
    return columns % width == 0 and columns // width > 2 * recipe.window
