"""The options of pretraining a biLM. No torch here: the recipe `Elmo` inherits them, and `Pretraining` reads them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Self

from firth.errors import OptionError
from firth.options import Recipe, option
from firth.runtime import Runtime

if TYPE_CHECKING:
    from firth.neural.bilm import BiLM

OPTIMIZER_DEFAULTS: dict[str, dict[str, float]] = {
    "paper": {"learning_rate": 0.2, "clip": 10.0, "warmup": 0, "decay": 0.0},
    "modern": {"learning_rate": 1e-3, "clip": 1.0, "warmup": 400, "decay": 0.01},
    "muon": {"learning_rate": 2e-3, "clip": 0.3, "warmup": 400, "decay": 0.03},
}
FROZEN = 0.1  # default fraction of a training in which a new softmax learns alone


@dataclass(frozen=True)
class PretrainingOptions(Recipe):
    """How a biLM is trained: for `steps`, else for `minutes`, else for `epochs`."""

    softmax: Literal["sampled", "full", "adaptive"] = option(
        "sampled", "Softmax of the training: over sampled words, over all words, or adaptive (frequency clusters)."
    )
    negatives: int = option(8192, "Sampled softmax: negative samples per batch.", minimum=1)
    tied: bool = option(False, "Encoder words: use the word vectors as the weights of the softmax too.")
    packing: Literal["sentences", "streams"] | None = option(
        None,
        "LSTM state between sentences: sentences resets it, streams carries it over as the original does. Default: "
        "sentences, or streams for the paper optimizer.",
    )
    shuffled: bool = option(True, "Shuffle the sentences in every epoch.")
    batch: int = option(128, "Batch size in rows, over all processes.", minimum=1)
    unroll: int = option(20, "Tokens per row and step (truncated backpropagation through time).", minimum=1)
    accumulation: int = option(
        1, "Process a batch in this many parts: needs less memory, gives the same result.", minimum=1
    )
    shard_optimizer: bool = option(
        False,
        "Split the state of the optimizer over the processes (ZeRO-1): less memory, and time to exchange weights.",
    )
    epochs: int = option(10, "Passes over the corpus.", minimum=1, maximum=1_000_000)
    steps: int | None = option(None, "Training steps, instead of epochs.", minimum=1)
    minutes: float | None = option(None, "Training time in minutes, instead of epochs.", minimum=0)
    optimizer: Literal["modern", "muon", "paper"] = option(
        "modern",
        "Optimizer: modern is AdamW with warmup and decay; muon is the same with Muon for the matrices of the LSTMs "
        "and highways; paper is Adagrad with a constant learning rate, and sums the loss over the unrolled steps.",
    )
    learning_rate: float | None = option(
        None, "Peak learning rate. Default: 0.001; 0.002 for muon, 0.2 for the paper optimizer.", minimum=0
    )
    clip: float | None = option(
        None,
        "Maximum gradient norm; 0 disables clipping. Default: 1; 0.3 for muon, 10 for the paper optimizer.",
        minimum=0,
    )
    warmup: int | None = option(
        None,
        "Steps of linear warmup, at most 5% of the training. Default: 400, or 0 for the paper optimizer.",
        minimum=0,
    )
    decay: float | None = option(None, "Weight decay of AdamW and Muon. Default: 0.01, or 0.03 for muon.", minimum=0)
    cooldown: float | None = option(
        None,
        "Fraction of the training, at its end, in which the learning rate falls linearly; before, it is constant. "
        "Default: cosine decay over the whole training.",
        minimum=0,
        maximum=1,
    )
    distillation: float = option(
        0.5,
        "With a teacher: weight of its distributions in the loss, against the words of the text.",
        minimum=0,
        maximum=1,
    )
    averaging: int = option(
        0,
        "Weight averaging: steps over which the weights are averaged exponentially; 0 disables it. The average is "
        "evaluated, and it is the result.",
        minimum=0,
    )
    dropout: float = option(0.1, "Dropout probability between layers.", minimum=0, maximum=0.99)
    precision: Literal["auto", "float32", "bfloat16"] = option(
        "auto", "Precision of the computation. auto is bfloat16 on a GPU and float32 on a CPU."
    )
    frozen: float | None = option(
        None,
        "Fraction of the training in which only the softmax is trained. Default: 0.1 if the start model has no "
        "softmax, else 0.",
        minimum=0,
        maximum=1,
    )
    evaluate_every: int = option(
        0, "Steps between evaluations on the held-out text; 0 evaluates every epoch.", minimum=0
    )
    patience: int | None = option(
        None, "Stop after this many evaluations in a row without improvement. Default: never.", minimum=1
    )
    log_every: int = option(20, "Steps between lines of the log.", minimum=1)
    save_every: int = option(0, "Steps between checkpoints; 0 saves every minute.", minimum=0)
    seed: int = option(1, "Seed of the random numbers.", minimum=0, maximum=2**32)

    def plan(self, runtime: Runtime, start: BiLM | None = None) -> Self:
        """The same options, with `precision` chosen for the device and `frozen` for the start model."""
        precision = self.precision
        if precision == "auto":
            precision = "bfloat16" if runtime.device == "cuda" else "float32"
        elif precision == "bfloat16" and runtime.device == "cpu":
            raise OptionError("Elmo: bfloat16 is for training on a GPU. On a CPU use precision='float32'")
        frozen = self.frozen
        if frozen is None:
            frozen = FROZEN if start is not None and start.softmax is None else 0.0
        return replace(self, precision=precision, frozen=frozen)

    def value(self, name: str) -> float:
        """The learning rate, clip, warmup or decay: as given, or the default of the optimizer.

        >>> PretrainingOptions(optimizer="paper").value("clip"), PretrainingOptions(clip=5.0).value("clip")
        (10.0, 5.0)
        """
        own: float | None = getattr(self, name)
        return OPTIMIZER_DEFAULTS[self.optimizer][name] if own is None else own

    @property
    def is_modern(self) -> bool:
        """Whether the optimizer is AdamW or Muon rather than the paper's Adagrad."""
        return self.optimizer != "paper"

    @property
    def resets_at_sentences(self) -> bool:
        """Whether the LSTM state is reset at each sentence."""
        return self.is_modern if self.packing is None else self.packing == "sentences"
