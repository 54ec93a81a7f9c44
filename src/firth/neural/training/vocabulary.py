"""The vocabulary of a training text: the character ids or table row of each word, and its target in the softmax."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from firth.errors import OptionError
from firth.neural.language import SPELLINGS
from firth.neural.layers import UNKNOWN, CharacterCnn, LexiconCnn, WordEmbedding, find_mark
from firth.neural.softmax import RowLookup
from firth.neural.training import cnn_gpu
from firth.text.character_ids import BEGIN, END, FILL
from firth.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from firth.neural.bilm import BiLM

GROUP = 128  # words that are encoded together on a CPU, padded to the longest of them
CHUNK = 1 << 16  # words that are spelled at once


class TrainingVocabulary:
    """Every distinct word of a text, by its id in the text's vocabulary; then <S> and </S>.

    What does not change in training is computed once: the character ids of each word, or its row of a table.
    `lengths` are those of the words in characters, `targets` their ids in the softmax.
    """

    def __init__(self, bilm: BiLM, vocabulary: Vocabulary) -> None:
        if isinstance(bilm.encoder, LexiconCnn):
            raise OptionError("models of ELMoForManyLangs have no softmax and cannot be trained further")
        self.encoder = encoder = bilm.encoder
        self.device = next(bilm.parameters()).device
        names = *vocabulary.words, BEGIN, END
        if isinstance(encoder, WordEmbedding):
            rows = find_ids(encoder.vocabulary, names)
            self.lengths: NDArray[np.int64] = np.zeros(len(names), np.int64)
            self.inputs = torch.from_numpy(rows).to(self.device)
        else:
            ids = np.concatenate(
                [
                    encoder.spelling.of(names[start : start + CHUNK]).astype(np.int16)
                    for start in range(0, len(names), CHUNK)
                ]
            )
            self.lengths = (ids != FILL).sum(1)
            self.inputs = torch.from_numpy(ids[:, : self.reach(int(self.lengths.max()))].copy()).to(self.device)
        self.targets: NDArray[np.int64] = np.full(len(names), -1)
        if bilm.vocabulary is not None:
            self.targets = find_ids(bilm.vocabulary, names)

    def reach(self, length: int) -> int:
        """The characters that matter in a word of a length: its own, and a window of padding for each filter."""
        return length + (self.encoder.longest if isinstance(self.encoder, CharacterCnn) else 0)

    def vectors(self, words: Tensor, precision: torch.dtype = torch.float32) -> Tensor:
        """The vectors of words (n), sorted by their lengths, (n, dim), with gradients."""
        with torch.autocast(self.device.type, torch.bfloat16, enabled=precision == torch.bfloat16):
            vectors = self._encode(words, precision)
        return vectors.bfloat16() if precision == torch.bfloat16 else vectors

    def _encode(self, words: Tensor, precision: torch.dtype) -> Tensor:
        inputs = self.inputs[words.to(self.device)]
        if isinstance(self.encoder, WordEmbedding):
            rows, places = torch.unique(inputs, return_inverse=True)
            table: Tensor = RowLookup.apply(self.encoder.table, None, rows)[0]  # type: ignore[no-untyped-call]
            return table[places]
        on_gpu = precision == torch.bfloat16 and cnn_gpu.fits(self.encoder, self.device)
        if on_gpu and isinstance(self.encoder, CharacterCnn):
            return cnn_gpu.encode(self.encoder, inputs.int())
        lengths = self.lengths[words.cpu().numpy()]
        groups = [
            inputs[start : start + GROUP, : self.reach(int(lengths[start : start + GROUP].max()))].int()
            for start in range(0, len(words), GROUP)
        ]
        return torch.cat([self.encoder.encode(group) for group in groups])


def find_ids(vocabulary: Vocabulary, names: tuple[str, ...]) -> NDArray[np.int64]:
    """The ids of words in a vocabulary: that of <UNK> for missing words, of <s> for <S> where it has that spelling."""
    places = vocabulary.ids(names)
    for name, at in ((BEGIN, len(names) - 2), (END, len(names) - 1)):
        places[at] = find_mark(vocabulary, SPELLINGS[name])
    unknown = find_mark(vocabulary, UNKNOWN)
    missing = places < 0
    if unknown < 0 and missing.any():
        word = names[int(np.argmax(missing))]
        raise OptionError(
            f"the vocabulary of the softmax has neither {word!r} nor <UNK> for missing words. "
            "Train a new softmax: start from the model without its softmax"
        )
    return np.where(missing, unknown, places)


def select_softmax_words(vocabulary: Vocabulary, most: int, min_count: int) -> Vocabulary:
    """The vocabulary of a new softmax: <S>, </S>, <UNK>, and the most frequent words of a text.

    >>> select_softmax_words(Vocabulary.from_counts({"tea": 5, "<UNK>": 3, "rain": 2, "fog": 1}), 5, 2).words
    ('<S>', '</S>', '<UNK>', 'tea', 'rain')
    """
    marks = BEGIN, END, UNKNOWN[0]
    kept = [pair for pair in vocabulary.cut(min_count).most_common(most) if pair[0] not in marks][: most - len(marks)]
    rest = vocabulary.total - sum(count for _, count in kept)
    return Vocabulary(*zip(*((mark, max(1, rest)) for mark in marks), *kept))
