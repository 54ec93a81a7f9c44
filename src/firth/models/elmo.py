"""ELMo's biLM, trained: two language models over the spelling of words, one reading forwards and one backwards.

The recipe says what is built and how it is trained; the work is done in `neural/`, and torch is imported only there.
"""

from __future__ import annotations

import copy
import hashlib
import json
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from firth.errors import MissingExtra, OptionError
from firth.files import Name
from firth.models.trained_recipe import origin
from firth.options import Recipe, option
from firth.progress import Report, silent
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.tokenfile import TokenFile
from firth.text.vocabulary import Vocabulary
from firth.training.checkpoints import interrupted_error, stopping

if TYPE_CHECKING:
    from firth.neural.architecture import Architecture
    from firth.neural.bilm import BiLM
    from firth.neural.training.pretrain import Plan
    from firth.neural.training.record import Record

SIZES = (
    *("encoder", "layers", "cell", "dim", "width", "character_dim", "filters", "activation", "highways"),
    *("character_cell", "cell_clip", "projection_clip", "skip", "normalized"),
)
USUAL: dict[str, dict[str, float]] = {
    "paper": {"learning_rate": 0.2, "clip": 10.0, "warmup": 0, "decay": 0.0},
    "modern": {"learning_rate": 1e-3, "clip": 1.0, "warmup": 400, "decay": 0.01},
}
LAST = 0.05  # of the learning rate is left at the end of a modern training
MARKS = 3  # <S>, </S> and <UNK>
NEVER_COUNTED = {"save_every", "log_every", "accumulation"}  # options that change nothing in the result


@dataclass(frozen=True)
class Elmo(Recipe):
    """A biLM from text.

    >>> corpus = Corpus.of(["the king rules the land .\\nthe queen rules the land ."] * 20)
    >>> bilm = Elmo(preset="tiny", batch=4, unroll=5, epochs=2).fit(corpus)
    >>> bilm.embed([["the", "king"]])[0].shape, bilm.vocabulary.words[:4]
    ((2, 32), ('<S>', '</S>', '<UNK>', 'the'))
    """

    commands = (
        "firth train elmo corpus.txt --preset tiny --epochs 3 --out model/",
        "firth train elmo corpus/ --held-out other.txt --checkpoint state/ --device cuda --minutes 30 --out model/",
        "firth train elmo domain.txt --start model/ --held-out other.txt --epochs 1 --out tuned/",
        "torchrun --nproc-per-node 8 --no-python firth train elmo corpus/ --device cuda --batch 8192 --out model/",
    )
    on_gpu = True
    name: ClassVar[str] = "elmo"

    preset: Literal["tiny", "small", "medium", "original"] = option("small", "sizes that were published, or tiny")
    encoder: Literal["character-cnn", "character-rnn", "words"] | None = option(
        None, "what a word's vector is from; as the preset says if not given, and so are all sizes"
    )
    layers: int | None = option(None, "LSTM layers in each direction", minimum=1)
    cell: int | None = option(None, "cells of an LSTM", minimum=1)
    dim: int | None = option(None, "length of the vectors of one direction", minimum=1)
    width: int | None = option(None, "characters (bytes) of a word that are looked at", minimum=3)
    character_dim: int | None = option(None, "length of a character's vector", minimum=1)
    filters: tuple[int, ...] = option(
        (), "character CNN: characters seen at once and how many such filters, again and again: 1 32 2 32 3 64"
    )
    activation: Literal["relu", "tanh"] | None = option(None, "character CNN: what filters go through")
    highways: int | None = option(None, "character CNN: highway layers", minimum=0)
    character_cell: int | None = option(None, "character RNN: cells in each direction", minimum=1)
    cell_clip: float | None = option(None, "bound of what a cell holds; 0 is none", minimum=0)
    projection_clip: float | None = option(None, "bound of what a projection says; 0 is none", minimum=0)
    skip: bool | None = option(None, "a layer above the first adds what it was given to what it says")
    normalized: bool | None = option(None, "layer normalization of what an LSTM is given")
    vocabulary: int = option(
        100_000, "words that are predicted, the most frequent; all others are one unknown word", minimum=3
    )
    min_count: int = option(2, "words that are rarer are not predicted", minimum=1)
    softmax: Literal["sampled", "full", "adaptive"] = option(
        "sampled", "how words are predicted in training: against some, against all, or in clusters"
    )
    negatives: int = option(8192, "sampled: words that are drawn for each batch", minimum=1)
    tied: bool = option(False, "encoder words: the softmax has the vectors of the words for its weights")
    packing: Literal["sentences", "streams"] | None = option(
        None,
        "sentences: memory begins anew with each; streams: it goes on, as in the original. "
        "If not given sentences, and streams for paper",
    )
    shuffled: bool = option(True, "read the sentences in another order in every epoch")
    batch: int = option(128, "rows that are read at once, over all processes", minimum=1)
    unroll: int = option(20, "words of a row that are read in one step", minimum=1)
    accumulation: int = option(1, "work on a batch in so many parts: less memory, the same result", minimum=1)
    epochs: int = option(10, "times that the text is read", minimum=1)
    steps: int | None = option(None, "steps of training, instead of epochs", minimum=1)
    minutes: float | None = option(None, "time of training, instead of epochs", minimum=0)
    optimizer: Literal["modern", "paper"] = option(
        "modern", "modern: Adam, a rate that rises and falls; paper: Adagrad, the loss times unroll, a rate of 0.2"
    )
    learning_rate: float | None = option(None, "step size. If not given 0.001, and 0.2 for paper", minimum=0)
    clip: float | None = option(None, "bound of the gradient's length. If not given 1, and 10 for paper", minimum=0)
    warmup: int | None = option(
        None, "steps in which the rate rises, at most a twentieth of all. If not given 400, and 0 for paper", minimum=0
    )
    decay: float | None = option(None, "weight decay of Adam", minimum=0)
    dropout: float = option(0.1, "share of numbers that layers do not get", minimum=0, maximum=0.99)
    precision: Literal["auto", "float32", "bfloat16"] = option("auto", "auto: bfloat16 on a GPU, float32 on a CPU")
    frozen: float | None = option(
        None,
        "share of the training in which the softmax learns alone. If not given 0.1 from a model without one, else 0",
        minimum=0,
        maximum=1,
    )
    evaluate_every: int = option(0, "steps between looks at the held-out text; 0: once an epoch", minimum=0)
    patience: int | None = option(None, "stop after so many looks at the held-out text without progress", minimum=1)
    log_every: int = option(20, "steps between lines of the log", minimum=1)
    save_every: int = option(0, "steps between checkpoints; 0: every ten minutes", minimum=0)
    seed: int = option(1, "where the random numbers start", minimum=0, maximum=2**32)

    def fit(
        self,
        corpus: Corpus,
        *,
        runtime: Runtime | None = None,
        report: Report = silent,
        checkpoint: Name | None = None,
        resume: bool = True,
        start: BiLM | None = None,
        held_out: Corpus | None = None,
        log: Name | None = None,
    ) -> BiLM:
        """The biLM of a corpus.

        With `checkpoint`, a folder, a run that was killed goes on where it was, unless `resume` is False. With `start`,
        training goes on from a biLM that is there: its sizes are taken, and its softmax too, where it has one. With
        `held_out` the perplexity on another text is taken as training goes, and the best weights of all are the result.
        `log` is a file of JSON lines; with a checkpoint there is one in its folder.
        """
        runtime = runtime or Runtime.from_env()
        _need_torch()
        from firth.neural.training.checkpoints import Checkpoints
        from firth.neural.training.pretrain import Pretraining
        from firth.neural.training.record import Watch

        plan = self.plan(runtime, start)
        tokens = corpus.tokens(report)
        apart = None if held_out is None else held_out.tokens(report)
        bilm = self.new(tokens) if start is None else self.grown(start, tokens)
        kept = None
        if checkpoint is not None:
            kept = Checkpoints(Path(checkpoint), self._identity(tokens, apart, start), resume=resume)
            log = Path(checkpoint) / "log.jsonl" if log is None else log
        runtime.join()
        with stopping(kept is not None) as is_asked_to_stop:
            watch = Watch(report, kept, None if log is None else Path(log), is_asked_to_stop)
            training = Pretraining(bilm, tokens, plan, runtime, held_out=apart, watch=watch)
            record = training.run()
        if training.stopped:
            raise interrupted_error(checkpoint)
        bilm.metadata = origin({"name": self.name, **self.as_dict()}, corpus, tokens) | _told(record, apart)
        if start is not None:
            bilm.metadata["start"] = {
                name: start.metadata[name] for name in ("source", "recipe") if name in start.metadata
            }
        return bilm.to("cpu")

    def architecture(self) -> Architecture:
        """The sizes: the preset's, but for those that are given.

        >>> Elmo(preset="medium", cell=1024).architecture().cell
        1024
        """
        _need_torch()
        from firth.neural.architecture import Architecture

        return Architecture(**(Architecture.named(self.preset).as_dict() | self._sizes()))

    def _sizes(self) -> dict[str, Any]:
        given = {name: getattr(self, name) for name in SIZES if getattr(self, name) not in (None, ())}
        if self.filters:
            if len(self.filters) % 2:
                raise OptionError(f"Elmo: filters has {len(self.filters)} numbers, but must have them in pairs")
            given["filters"] = tuple(zip(self.filters[::2], self.filters[1::2]))
        return given

    def new(self, tokens: TokenFile) -> BiLM:
        """The biLM for a text, before it has learnt anything."""
        from firth.neural.bilm import BiLM

        architecture = self.architecture()
        vocabulary = self._predicted(tokens)
        words = vocabulary if architecture.encoder == "words" else None
        bilm = BiLM(self._with_clusters(architecture, vocabulary), vocabulary=vocabulary, words=words, seed=self.seed)
        if self.tied:
            if words is None or self.softmax == "adaptive":
                problem = "tied: the softmax can share the vectors of words only where words have some"
                raise OptionError(f"Elmo: {problem}. Use encoder='words' and another softmax than adaptive")
            bilm.softmax.weight = bilm.encoder.table  # type: ignore[union-attr]
        return bilm

    def grown(self, start: BiLM, tokens: TokenFile) -> BiLM:
        """A copy of a biLM, with a new softmax for a text where it had none."""
        from firth.neural.bilm import BiLM
        from firth.neural.layers import WordEmbedding

        if isinstance(start.encoder, WordEmbedding) and start.encoder.spelled is not None:
            raise OptionError(
                "Elmo: the model to start from looks words up that it could spell. Open it without that table"
            )
        for name, value in self._sizes().items():
            if value != getattr(start.architecture, name):
                problem = f"{name} is {value!r}, but the model to start from has {getattr(start.architecture, name)!r}"
                raise OptionError(f"Elmo: {problem}. Leave it out")
        if start.softmax is not None:
            return copy.deepcopy(start)
        vocabulary = self._predicted(tokens)
        architecture = self._with_clusters(start.architecture, vocabulary)
        bilm = BiLM(architecture, vocabulary=vocabulary, words=start.words, seed=self.seed)
        bilm.load_state_dict(start.state_dict(), strict=False)
        return bilm

    def _predicted(self, tokens: TokenFile) -> Vocabulary:
        from firth.neural.training.vocabulary import select_softmax_words

        vocabulary = select_softmax_words(tokens.vocabulary, self.vocabulary, self.min_count)
        if len(vocabulary) <= MARKS:
            raise OptionError(
                f"Elmo: no word is left to predict but <UNK>. Words must occur {self.min_count} times (min_count), and "
                f"{self.vocabulary} may be told apart, <S>, </S> and <UNK> among them (vocabulary). Use other numbers, "
                "or more text"
            )
        return vocabulary

    def _with_clusters(self, architecture: Architecture, vocabulary: Vocabulary) -> Architecture:
        from firth.neural.adaptive_softmax import default_cutoffs

        return replace(architecture, cutoffs=default_cutoffs(len(vocabulary)) if self.softmax == "adaptive" else ())

    def plan(self, runtime: Runtime, start: BiLM | None = None) -> Plan:
        """How it is trained, with all that depends on the optimizer and the device worked out."""
        from firth.neural.training.optimizers import WarmupSchedule
        from firth.neural.training.pretrain import Plan

        usual = USUAL[self.optimizer]
        rate, clip, warmup, decay = (
            usual[name] if getattr(self, name) is None else getattr(self, name)
            for name in ("learning_rate", "clip", "warmup", "decay")
        )
        modern = self.optimizer == "modern"
        precision = self.precision
        if precision == "auto":
            precision = "bfloat16" if runtime.device == "cuda" else "float32"
        elif precision == "bfloat16" and runtime.device == "cpu":
            raise OptionError("Elmo: bfloat16 is for training on a GPU. On a CPU use precision='float32'")
        frozen = self.frozen
        if frozen is None:
            frozen = 0.1 if start is not None and start.softmax is None else 0.0
        same = {one.name: getattr(self, one.name) for one in fields(Plan) if hasattr(self, one.name)}
        return Plan(
            **same
            | {
                "parts": self.accumulation,
                "sentences": modern if self.packing is None else self.packing == "sentences",
                "optimizer": "adam" if modern else "adagrad",
                "schedule": WarmupSchedule(rate, int(warmup), LAST * rate if modern else None),
                "clip": clip,
                "decay": decay,
                "loss_times": 1.0 if modern else float(self.unroll),
                "precision": precision,
                "frozen": frozen,
            }
        )

    def _identity(self, tokens: TokenFile, held_out: TokenFile | None, start: BiLM | None) -> dict[str, Any]:
        """What makes this training this one: a checkpoint of another is refused."""
        options = {name: value for name, value in self.as_dict().items() if name not in NEVER_COUNTED}
        texts = {"corpus": tokens.fingerprint, "held_out": None if held_out is None else held_out.fingerprint}
        return {"recipe": self.name, **options, **texts, "start": None if start is None else fingerprint(start)}


def fingerprint(bilm: BiLM) -> str:
    """A short name for exactly these weights."""
    digest = hashlib.sha256(json.dumps(bilm.architecture.as_dict()).encode())
    for tensor in bilm.state_dict().values():
        digest.update(tensor.detach().cpu().contiguous().numpy().data)
    return digest.hexdigest()[:16]


def _told(record: Record, held_out: TokenFile | None) -> dict[str, Any]:
    """What a training tells in the card of its model."""
    told: dict[str, Any] = {"steps": record.step, "tokens_seen": record.tokens, "seconds": round(record.seconds, 1)}
    told["curve"] = record.curve
    if held_out is not None and record.held_out:
        best = next(look for look in record.held_out if look["step"] == record.best_step)
        told["held_out"] = {"fingerprint": held_out.fingerprint, "tokens": len(held_out), "looks": record.held_out}
        told["perplexity"] = {"before": record.held_out[0], "after": best}
    return told


def _need_torch() -> None:
    try:
        import torch  # noqa: F401
    except ModuleNotFoundError as error:
        raise MissingExtra("training an ELMo model", "elmo") from error
