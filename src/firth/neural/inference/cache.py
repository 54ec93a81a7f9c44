"""The weights of a biLM packed for inference, cached until the weights change."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from torch import Tensor

from firth.neural.context import ContextVectors
from firth.neural.inference.cnn_cpu import CnnCpu
from firth.neural.inference.cnn_gpu import CnnGpu
from firth.neural.inference.lstm_cpu import LayersCpu
from firth.neural.inference.lstm_gpu import LayersGpu
from firth.neural.inference.token_vectors import ModelCache, WordEncoder, version_of
from firth.neural.layers import CharacterCnn

if TYPE_CHECKING:
    from firth.neural.bilm import BiLM


class WeightCache(ModelCache):
    """The inference twins of a biLM's encoder and of its LSTM layers, in the last precision that was used.

    This is the one place that decides whether the biLM runs on the CPU kernels or on those of a GPU.
    """

    def __init__(self) -> None:
        super().__init__()
        self.entries: dict[str, tuple[Any, Any]] = {}

    def encoder(self, bilm: BiLM) -> WordEncoder:
        """The twin of a character CNN; other encoders run as they are."""
        encoder = bilm.encoder
        if not isinstance(encoder, CharacterCnn):
            return encoder
        make = CnnGpu if encoder.table.is_cuda else CnnCpu
        twin: WordEncoder = self._find("encoder", make, encoder.parameters(), lambda: make(encoder))
        return twin

    def layers(self, bilm: BiLM, precision: str) -> LayersCpu | LayersGpu:
        """The twin of the LSTM layers."""
        weights = [*bilm.forward_layers.parameters(), *bilm.backward_layers.parameters()]
        make = LayersGpu if weights[0].is_cuda else LayersCpu
        twin: LayersCpu | LayersGpu = self._find("layers", (make, precision), weights, lambda: make(bilm, precision))
        return twin

    def contexts(self, bilm: BiLM) -> ContextVectors:
        """What `layers="context"` is computed with."""
        weights = [] if bilm.softmax is None else bilm.softmax.parameters()
        found: ContextVectors = self._find("contexts", ContextVectors, weights, lambda: ContextVectors.of(bilm))
        return found

    def _find(self, name: str, kind: object, weights: Iterable[Tensor], make: Callable[[], Any]) -> Any:
        key = (kind, *((weight.data_ptr(), version_of(weight)) for weight in weights))
        with self.lock:
            if name not in self.entries or self.entries[name][0] != key:
                self.entries.pop(name, None)  # before the new one takes as much memory
                self.entries[name] = key, make()
            return self.entries[name][1]
