"""ELMo's biLM: a forward and a backward language model over the characters of words (Peters et al., 2018).

The recipe defines what is built and how it is trained. The work is done in `neural/`, the only place that imports
torch.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from firth.errors import MissingExtra, OptionError
from firth.files import Name
from firth.models.trained_recipe import origin
from firth.neural.architecture import Activation, Architecture, TrainedEncoder
from firth.neural.training.options import PretrainingOptions
from firth.options import Recipe, option, redefine
from firth.progress import Report, silent
from firth.runtime import Runtime
from firth.show.bar import shows_progress
from firth.text.corpus import Corpus, Source
from firth.text.tokenfile import TokenFile
from firth.text.vocabulary import Vocabulary
from firth.text.vocabulary_file import read_softmax_vocabulary
from firth.training.monitor import Monitor
from firth.training.record import CurveRecord

if TYPE_CHECKING:
    from firth.neural.bilm import BiLM

NOT_CHOSEN = ("cutoffs", "word_dim")  # the first follow from the vocabulary, the second is of ELMoForManyLangs
SIZES = [field.name for field in fields(Architecture) if field.name not in NOT_CHOSEN]
SPECIAL_WORDS = 3  # <S>, </S> and <UNK>
NOT_IN_IDENTITY = {
    "save_every",
    "log_every",
    "accumulation",
    "shard_optimizer",
}  # options that do not change the result


@dataclass(frozen=True)
class ModelOptions(Recipe):
    """What is built: an architecture preset, the sizes that differ from it, and the vocabulary of the softmax."""

    preset: Literal["tiny", "small", "medium", "original"] = option(
        "small", "Architecture preset. The options up to `normalized` override its sizes."
    )
    encoder: TrainedEncoder | None = redefine(Architecture, "encoder", None)
    layers: int | None = redefine(Architecture, "layers", None)
    cell: int | None = redefine(Architecture, "cell", None)
    dim: int | None = redefine(Architecture, "dim", None)
    width: int | None = redefine(Architecture, "width", None)
    character_dim: int | None = redefine(Architecture, "character_dim", None)
    filters: tuple[int, ...] = option(
        (), "Character CNN: width and number of filters, as a flat list of pairs: 1 32 2 32 3 64."
    )
    activation: Activation | None = redefine(Architecture, "activation", None)
    highways: int | None = redefine(Architecture, "highways", None)
    character_cell: int | None = redefine(Architecture, "character_cell", None)
    cell_clip: float | None = redefine(Architecture, "cell_clip", None)
    projection_clip: float | None = redefine(Architecture, "projection_clip", None)
    skip: bool | None = redefine(Architecture, "skip", None)
    normalized: bool | None = redefine(Architecture, "normalized", None)
    vocabulary: int = option(
        100_000, "Number of words in the softmax, the most frequent ones; all others are <UNK>.", minimum=3
    )
    min_count: int = option(2, "Words with fewer occurrences are not in the softmax.", minimum=1)
    vocab_file: str | None = option(
        None,
        "File with the words of the softmax, one on each line, in place of those that `vocabulary` and `min_count` "
        "select. It has <S>, </S> and <UNK>.",
    )


@dataclass(frozen=True)
class Elmo(PretrainingOptions, ModelOptions):
    """ELMo: pretrains a biLM on text.

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

    @shows_progress
    def fit(
        self,
        corpus: Source,
        *,
        runtime: Runtime | None = None,
        report: Report = silent,
        progress: bool = False,
        checkpoint: Name | None = None,
        resume: bool = True,
        start: BiLM | None = None,
        held_out: Source | None = None,
        log: Name | None = None,
        callback: Callable[[BiLM, Mapping[str, float]], None] | None = None,
        teacher: BiLM | None = None,
    ) -> BiLM:
        """Trains the biLM on a corpus.

        `checkpoint` names a folder: a killed training continues from there, unless `resume` is False. With `start`,
        training continues from an existing biLM with its sizes and, if it has one, its softmax. With `held_out`, the
        perplexity on another text is measured during training, and the result has the weights with the lowest one.
        `log` is a file of JSON lines; with a checkpoint, it defaults to log.jsonl in that folder. `callback` is called
        after each evaluation on the held-out text, with the biLM and the step, tokens, seconds and perplexities.
        With `teacher`, a larger biLM whose softmax begins with the same words, training is distillation.
        """
        runtime = runtime or Runtime.from_env()
        _require_torch()
        from firth.neural.training.pretrain import Pretraining

        options = self.plan(runtime, start)
        corpus = Corpus.of(corpus)
        tokens = corpus.tokens(report, runtime)
        held_out_tokens = None
        if held_out is not None:
            held_out_tokens = Corpus.of(held_out, tokenizer=corpus.tokenizer).tokens(report)
        bilm = self.new(tokens) if start is None else self._extend(start, tokens)
        identity = self._identity(tokens, held_out_tokens, start, teacher) if checkpoint is not None else {}
        runtime.join()
        watching = Monitor.open(
            identity, report=report, checkpoint=checkpoint, resume=resume, log=log, is_main=runtime.is_main
        )
        with watching as monitor:
            training = Pretraining(
                bilm,
                tokens,
                options,
                runtime,
                held_out=held_out_tokens,
                monitor=monitor,
                callback=callback,
                teacher=teacher,
            )
            record = training.run()
            if training.stopped:
                raise monitor.interruption()
        bilm.metadata = origin({"name": self.name, **self.as_dict()}, corpus, tokens)
        bilm.metadata |= _summarize(record, held_out_tokens)
        if start is not None:
            bilm.metadata["start"] = {
                name: start.metadata[name] for name in ("source", "recipe") if name in start.metadata
            }
        return bilm.to("cpu")

    def architecture(self) -> Architecture:
        """The preset's architecture with the given sizes.

        >>> Elmo(preset="medium", cell=1024).architecture().cell
        1024
        """
        return Architecture(**(Architecture.named(self.preset).as_dict() | self._own_sizes()))

    def _own_sizes(self) -> dict[str, Any]:
        sizes = {name: getattr(self, name) for name in SIZES if getattr(self, name) not in (None, ())}
        if self.filters:
            if len(self.filters) % 2:
                raise OptionError(f"Elmo: filters has {len(self.filters)} numbers, but must have pairs of numbers")
            sizes["filters"] = tuple(zip(self.filters[::2], self.filters[1::2]))
        return sizes

    def new(self, tokens: TokenFile) -> BiLM:
        """The biLM for a text, before training."""
        from firth.neural.bilm import BiLM

        architecture = self.architecture()
        vocabulary = self._softmax_vocabulary(tokens)
        words = vocabulary if architecture.encoder == "words" else None
        bilm = BiLM(self._with_cutoffs(architecture, vocabulary), vocabulary=vocabulary, words=words, seed=self.seed)
        if self.tied:
            if words is None or self.softmax == "adaptive":
                problem = "tied: the softmax can share word vectors only if the encoder has some"
                raise OptionError(f"Elmo: {problem}. Use encoder='words' and a softmax other than adaptive")
            bilm.softmax.weight = bilm.encoder.table  # type: ignore[union-attr]
        return bilm

    def _extend(self, start: BiLM, tokens: TokenFile) -> BiLM:
        """A copy of a biLM, with a new softmax if it has none."""
        from firth.neural.bilm import BiLM
        from firth.neural.layers import LexiconCnn, WordEmbedding

        if isinstance(start.encoder, LexiconCnn):
            problem = "the start model is one of ELMoForManyLangs, which cannot be trained further"
            raise OptionError(f"Elmo: {problem}. Start from a model in the official layout, or from one of firth")
        if isinstance(start.encoder, WordEmbedding) and start.encoder.spelled is not None:
            raise OptionError("Elmo: the start model reads word vectors from a table. Open it without that table")
        for name, value in self._own_sizes().items():
            if value != getattr(start.architecture, name):
                problem = f"{name} is {value!r}, but the start model has {getattr(start.architecture, name)!r}"
                raise OptionError(f"Elmo: {problem}. Leave the option out")
        if start.softmax is not None:
            if self.vocab_file is not None:
                raise OptionError("Elmo: vocab_file is given, but the start model has a softmax. Leave the option out")
            return copy.deepcopy(start)
        vocabulary = self._softmax_vocabulary(tokens)
        architecture = self._with_cutoffs(start.architecture, vocabulary)
        bilm = BiLM(architecture, vocabulary=vocabulary, words=start.words, seed=self.seed)
        bilm.load_state_dict(start.state_dict(), strict=False)
        return bilm

    def _softmax_vocabulary(self, tokens: TokenFile) -> Vocabulary:
        if self.vocab_file is not None:
            return read_softmax_vocabulary(self.vocab_file)
        from firth.neural.training.vocabulary import select_softmax_words

        vocabulary = select_softmax_words(tokens.vocabulary, self.vocabulary, self.min_count)
        if len(vocabulary) <= SPECIAL_WORDS:
            raise OptionError(
                f"Elmo: no word but <UNK> is left to predict. A word must occur {self.min_count} times (min_count), "
                f"and the softmax has room for {self.vocabulary} words, <S>, </S> and <UNK> included (vocabulary). "
                "Change these options, or use more text"
            )
        return vocabulary

    def _with_cutoffs(self, architecture: Architecture, vocabulary: Vocabulary) -> Architecture:
        from firth.neural.adaptive_softmax import default_cutoffs

        return replace(architecture, cutoffs=default_cutoffs(len(vocabulary)) if self.softmax == "adaptive" else ())

    def _identity(
        self, tokens: TokenFile, held_out: TokenFile | None, start: BiLM | None, teacher: BiLM | None
    ) -> dict[str, Any]:
        """What a checkpoint must agree with."""
        options = {name: value for name, value in self.as_dict().items() if name not in NOT_IN_IDENTITY}
        texts = {"corpus": tokens.fingerprint, "held_out": None if held_out is None else held_out.fingerprint}
        identity = {"recipe": self.name, **options, **texts, "start": None if start is None else fingerprint(start)}
        if self.vocab_file is not None:
            identity["vocab_file"] = read_softmax_vocabulary(self.vocab_file).fingerprint
        return identity if teacher is None else identity | {"teacher": fingerprint(teacher)}


def fingerprint(bilm: BiLM) -> str:
    """A hash of the architecture and the weights."""
    digest = hashlib.sha256(json.dumps(bilm.architecture.as_dict()).encode())
    for tensor in bilm.state_dict().values():
        digest.update(tensor.detach().cpu().contiguous().numpy().data)
    return digest.hexdigest()[:16]


def _summarize(record: CurveRecord, held_out: TokenFile | None) -> dict[str, Any]:
    """The training in the metadata of its model."""
    summary: dict[str, Any] = {"steps": record.step, "tokens_seen": record.tokens, "seconds": round(record.seconds, 1)}
    summary["curve"] = record.curve
    if held_out is not None and record.held_out:
        best = next(line for line in record.held_out if line["step"] == record.best_step)
        summary["held_out"] = {"fingerprint": held_out.fingerprint, "tokens": len(held_out), "looks": record.held_out}
        summary["perplexity"] = {"before": record.held_out[0], "after": best}
    return summary


def _require_torch() -> None:
    try:
        import torch  # noqa: F401
    except ModuleNotFoundError as error:
        raise MissingExtra("training an ELMo model", "elmo") from error
