"""ELMo vectors as a layer of a network of your own: the module that users of AllenNLP know as `Elmo`.

    elmo = ElmoEmbedding("elmo-en", num_output_representations=2, dropout=0.5)
    inputs, outputs = elmo(batch_to_ids(sentences))["elmo_representations"]

The biLM is frozen by default: it runs on the inference kernels, without gradients, and only the mixes are trained.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, TypedDict

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from firth.arguments import checked
from firth.errors import OptionError
from firth.files import Name
from firth.neural.bilm import BiLM
from firth.neural.inference.layers_of import add_marks, run
from firth.neural.inference.sentence_arrays import Numbers
from firth.neural.inference.transfer import to_device
from firth.neural.layers import CharacterCnn, CharacterRnn
from firth.neural.mix import ScalarMix
from firth.tasks.sources import Sources
from firth.text.character_ids import BEGIN, END, FILL, CharacterIds

Batch = Tensor | Sequence[Sequence[str]]


class ElmoOutput(TypedDict):
    """The result of `ElmoEmbedding`: a tensor (batch, time, 2 · dim) for each mix, and which positions are words."""

    elmo_representations: list[Tensor]
    mask: Tensor


@checked
def batch_to_ids(batch: Sequence[Sequence[str]], width: int = 50) -> Tensor:
    """The character ids of tokenized sentences, (batch, time, width); 0 is the padding after a sentence.

    >>> ids = batch_to_ids([["A", "cup"], ["Tea"]])
    >>> ids.shape, ids[0, 0, :4].tolist(), int(ids[1, 1].sum())
    (torch.Size([2, 2, 50]), [259, 66, 260, 261], 0)
    """
    spelling = CharacterIds(width)
    rows = [torch.from_numpy(spelling.of(list(words)).astype(np.int64)) for words in batch]
    return pad_sequence(rows, batch_first=True) if rows else torch.zeros(0, 0, width, dtype=torch.int64)


class ElmoEmbedding(nn.Module):
    """The vectors of words in their sentences, in `num_output_representations` mixes of the layers of a biLM.

    The options have the names and defaults of AllenNLP's `Elmo`. `bilm` is a biLM, its path or the name of a pretrained
    one. It is not copied; it is frozen and in evaluation mode, unless `requires_grad`. `dropout` applies to the mixes
    in training mode. `scalar_mix_parameters` fixes the weights of the mixes. A result has no <S> and </S>, unless
    `keep_sentence_boundaries`.

    >>> from firth.neural.architecture import Architecture
    >>> elmo = ElmoEmbedding(BiLM(Architecture.named("tiny")), 2, dropout=0.0)
    >>> output = elmo(batch_to_ids([["A", "cup", "of", "tea"], ["Rain"]]))
    >>> [one.shape for one in output["elmo_representations"]], output["mask"].sum(1).tolist()
    ([torch.Size([2, 4, 32]), torch.Size([2, 4, 32])], [4, 1])
    >>> [name for name, weight in elmo.named_parameters() if weight.requires_grad]
    ['mixes.0.weights', 'mixes.0.gamma', 'mixes.1.weights', 'mixes.1.gamma']
    """

    @checked
    def __init__(
        self,
        bilm: BiLM | Name,
        num_output_representations: int = 1,
        *,
        requires_grad: bool = False,
        do_layer_norm: bool = False,
        dropout: float = 0.5,
        keep_sentence_boundaries: bool = False,
        scalar_mix_parameters: Sequence[float] | None = None,
    ) -> None:
        super().__init__()
        if num_output_representations < 1:
            raise OptionError(f"num_output_representations is {num_output_representations}, but must be at least 1")
        self.bilm = open_bilm(bilm)
        self.is_trained = requires_grad
        self.keep_sentence_boundaries = keep_sentence_boundaries
        self.mixes = nn.ModuleList(
            ScalarMix(
                self.bilm.architecture.layers + 1,
                weights=scalar_mix_parameters,
                normalized=do_layer_norm,
                dropout=dropout,
                trainable=scalar_mix_parameters is None,
            )
            for _ in range(num_output_representations)
        )
        self.bilm.requires_grad_(requires_grad).train(requires_grad)

    def _repr_html_(self) -> str:
        tables = (mix._repr_html_() for mix in self.mixes if isinstance(mix, ScalarMix))
        return self.bilm._repr_html_() + "".join(tables)

    def get_output_dim(self) -> int:
        """The size of a vector."""
        return 2 * self.bilm.architecture.dim

    def train(self, mode: bool = True) -> Self:
        """Training or evaluation mode; a frozen biLM stays in evaluation mode."""
        super().train(mode)
        self.bilm.train(mode and self.is_trained)
        return self

    def forward(self, batch: Batch) -> ElmoOutput:
        """The mixes of a batch: character ids of `batch_to_ids`, or lists of words. Padding is zero."""
        layers, mask = self.layers(batch)
        mixed = [mix(layers, mask) for mix in self.mixes]
        if not self.keep_sentence_boundaries:
            mask = mask[:, 2:]
            mixed = [one[:, 1:-1] for one in mixed]
        return {"elmo_representations": [one * mask[:, :, None] for one in mixed], "mask": mask}

    # Compiled, its loop over words would be unrolled for each length.
    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def layers(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """All layers, (layers + 1, batch, time, 2 · dim), and the mask, (batch, time); <S> and </S> are included."""
        if torch.is_grad_enabled() and any(weight.requires_grad for weight in self.bilm.parameters()):
            return self._layers_with_gradients(batch)
        with torch.no_grad():
            return self._layers_at_once(batch)

    def _layers_with_gradients(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """By the reference, which is differentiable."""
        if isinstance(batch, Tensor):
            distinct, tokens, lengths = self._distinct_ids(batch)
            table = self._encode_ids(distinct)
            rows = torch.split(to_device(tokens, table.device), (lengths + 2).tolist())
            vectors = pad_sequence([table[row] for row in rows], batch_first=True) if rows else table[None, :0]
            sizes = to_device(lengths + 2, table.device)
        else:
            vectors, sizes = self.bilm.encode_tokens(batch)
        mask = torch.arange(vectors.shape[1], device=vectors.device) < sizes[:, None]
        return self.bilm.contextualize(vectors, sizes)[0], mask

    def _layers_at_once(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """By the inference kernels, which take the longest sentence first."""
        if isinstance(batch, Tensor):
            distinct, tokens, lengths = self._distinct_ids(batch)
            order = np.argsort(-lengths, kind="stable")
            pieces = np.split(tokens, np.cumsum(lengths + 2)[:-1])
            sorted_tokens = np.concatenate([pieces[place] for place in order]) if len(order) else tokens
            twin = self.bilm.weight_cache.layers(self.bilm, "float32")
            flat = twin.run(self._encode_ids(distinct), lengths[order] + 2, sorted_tokens)
        else:
            lengths = np.fromiter(map(len, batch), np.int64, len(batch))
            order = np.argsort(-lengths, kind="stable")
            flat = run(self.bilm, [batch[place] for place in order])
        time = int(lengths.max(initial=0)) + 2
        mask = torch.from_numpy(np.arange(time) < (lengths + 2)[:, None]).to(flat.device)
        layers = flat.new_zeros(len(flat), len(order), time, flat.shape[2])
        layers[:, mask[torch.from_numpy(order)]] = flat
        return layers[:, torch.from_numpy(np.argsort(order))], mask

    def _distinct_ids(self, ids: Tensor) -> tuple[Tensor, Numbers, Numbers]:
        """The distinct rows of ids, the row of each token, <S> and </S> included, and the lengths in words."""
        encoder = self.bilm.encoder
        if not isinstance(encoder, (CharacterCnn, CharacterRnn)):
            raise OptionError("this biLM has a table of words, and no characters: pass lists of words, not ids")
        width = encoder.spelling.width
        if ids.dim() != 3 or ids.shape[2] != width or ids.is_floating_point():
            sizes = " × ".join(map(str, ids.shape))
            problem = f"expected character ids of size batch × time × {width}, found {sizes} numbers of {ids.dtype}"
            raise OptionError(f"{problem}. Use batch_to_ids(sentences, width={width})")
        mask = (ids != 0).any(2)
        if bool((mask[:, 1:] & ~mask[:, :-1]).any()):
            raise OptionError("a row of zeros is between words: padding must come after the words of a sentence")
        marks = torch.from_numpy(encoder.spelling.of([BEGIN, END])).to(ids)
        distinct, places = torch.unique(torch.cat([marks, ids[mask]]), dim=0, return_inverse=True)
        lengths, rows = mask.sum(1).cpu().numpy(), places.cpu().numpy()
        return distinct, add_marks(rows[2:], lengths, int(rows[0]), int(rows[1])), lengths

    def _encode_ids(self, ids: Tensor) -> Tensor:
        """The vectors of words from their character ids, without padding that cannot matter."""
        encoder = self.bilm.encoder
        assert isinstance(encoder, (CharacterCnn, CharacterRnn))
        longest = int((ids != FILL).sum(1).max())
        return encoder.encode(ids[:, : longest + (encoder.longest if isinstance(encoder, CharacterCnn) else 0)])


def open_bilm(bilm: BiLM | Name) -> BiLM:
    """A biLM, or the one of a path or a name."""
    if isinstance(bilm, BiLM):
        return bilm
    opened = Sources.open(None, str(bilm)).bilm
    assert opened is not None
    return opened
