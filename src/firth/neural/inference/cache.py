"""What the fast path has made of a model's weights, kept as long as the weights stay what they are."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from torch import Tensor

from firth.neural.inference.cnn_cpu import CnnCpu
from firth.neural.inference.lstm_cpu import LayersCpu
from firth.neural.inference.lstm_gpu import CnnGpu, LayersGpu
from firth.neural.inference.token_vectors import WordEncoder, version_of
from firth.neural.layers import CharacterCnn

if TYPE_CHECKING:
    from firth.neural.bilm import BiLM


class WeightCache:
    """The fast encoder of a biLM, and its fast layers in the precision that was last asked for."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.kept: dict[str, tuple[Any, Any]] = {}

    def __deepcopy__(self, memo: Any) -> WeightCache:
        return WeightCache()  # a copy of a model packs its own

    def __reduce__(self) -> tuple[type[WeightCache], tuple[()]]:
        return WeightCache, ()

    def encoder(self, bilm: BiLM) -> WordEncoder:
        """What turns words into vectors: fast where it is a character CNN, else the encoder itself."""
        encoder = bilm.encoder
        if not isinstance(encoder, CharacterCnn):
            return encoder
        if encoder.table.is_cuda:
            return CnnGpu(encoder)
        made: WordEncoder = self._keep("encoder", "", encoder.parameters(), lambda: CnnCpu(encoder))
        return made

    def layers(self, bilm: BiLM, precision: str) -> LayersCpu:
        """The LSTMs of a biLM on a CPU."""
        made: LayersCpu = self._keep("layers", precision, lstm_weights(bilm), lambda: LayersCpu(bilm, precision))
        return made

    def gpu_layers(self, bilm: BiLM, precision: str) -> LayersGpu:
        """The LSTMs of a biLM on a GPU."""
        made: LayersGpu = self._keep("gpu", precision, lstm_weights(bilm), lambda: LayersGpu(bilm, precision))
        return made

    def _keep(self, name: str, kind: str, weights: Iterable[Tensor], make: Callable[[], Any]) -> Any:
        key = (kind, *((one.data_ptr(), version_of(one)) for one in weights))
        with self.lock:
            if name not in self.kept or self.kept[name][0] != key:
                self.kept.pop(name, None)  # before the new one takes as much memory
                self.kept[name] = key, make()
            return self.kept[name][1]


def lstm_weights(bilm: BiLM) -> list[Tensor]:
    """The numbers of both stacks of LSTMs."""
    return [*bilm.forward_layers.parameters(), *bilm.backward_layers.parameters()]
