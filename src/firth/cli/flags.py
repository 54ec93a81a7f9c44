"""Flags that several commands share."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from cyclopts import Parameter, validators

from firth.errors import OptionError
from firth.files import STDIN, open_bytes
from firth.lazy import import_name
from firth.options import Recipe, option
from firth.runtime import Runtime
from firth.text.corpus import Corpus
from firth.text.languages import NORMALIZERS, Language, language_normalizer
from firth.text.model_tokenizer import tokenizer_of
from firth.text.tokenize import Tokenizer

Model = Annotated[
    str,
    Parameter(
        help="A model: a file of any supported format, a folder that firth wrote, an address such as "
        "s3://bucket/model, or the name of a pretrained model (see `firth models`)."
    ),
]
Inputs = Annotated[
    list[str],
    Parameter(
        allow_leading_hyphen=True,
        help="Text: files, folders, glob patterns, addresses such as s3://bucket/text, or - for standard input.",
    ),
]
Texts = Annotated[
    list[str], Parameter(allow_leading_hyphen=True, help="Texts in quotes, or - to read one text per line.")
]
Words = Annotated[list[str], Parameter(help="Words of the vocabulary.")]
Out = Annotated[str, Parameter(allow_leading_hyphen=True, help="Output file, or - for standard output.")]
Target = Annotated[
    str,
    Parameter(allow_leading_hyphen=True, help="Output folder, or a file whose extension selects the format."),
]
Json = Annotated[bool, Parameter(negative="", show_default=False, help="Print the result as JSON.")]
Force = Annotated[
    bool, Parameter(negative="", show_default=False, help="Replace an existing output file, whatever it contains.")
]
Device = Annotated[Literal["cpu", "cuda"], Parameter(help="Device to compute on; cuda is an NVIDIA GPU.")]
BilmDevice = Annotated[
    str | None, Parameter(help="Contextual models only: device to compute on, such as cpu, cuda or cuda:1.")
]
Threads = Annotated[int | None, Parameter(help="Number of threads. Default: one per CPU core.")]
Top = Annotated[int, Parameter(name=["--top", "--topn", "-n"], help="Number of results.")]
Seed = Annotated[int, Parameter(help="Seed of the random numbers.", validator=validators.Number(gte=0, lte=2**32))]
Checkpoint = Annotated[
    str | None,
    Parameter(help="Folder for checkpoints. The same command resumes an interrupted training from there."),
]
Log = Annotated[str | None, Parameter(help="File for the training log, as JSON lines.")]


@dataclass(frozen=True)
class ClusterOptions:
    """Where the work runs, if not in threads of this process."""

    cluster: Annotated[
        str | None,
        Parameter(
            help="Ray cluster to run on: host:port, auto for the one of this machine, local for processes of this "
            "machine. Needs the extra ray."
        ),
    ] = None
    workers: Annotated[
        int | None, Parameter(help="With --cluster: number of tasks at once. Default: one per CPU of the cluster.")
    ] = None
    average_every: Annotated[
        int,
        Parameter(help="With --cluster: words that a worker trains on before the copies of the vectors are averaged."),
    ] = 200_000
    cluster_folder: Annotated[
        str | None,
        Parameter(help="With --cluster: folder that keeps finished tasks. The same command resumes a killed run."),
    ] = None

    def connect(self, threads: int | None, device: str, paths: Iterable[str]) -> Runtime | None:
        """The cluster, or None. Every node must see the paths."""
        if self.cluster is None:
            for name in ("workers", "cluster_folder"):
                if getattr(self, name) is not None:
                    raise OptionError(f"--{name.replace('_', '-')} is for a cluster. Name it with --cluster")
            return None
        if self.workers is not None and self.workers < 1:
            raise OptionError(f"--workers is {self.workers}, but must be at least 1")
        if self.average_every < 1:
            raise OptionError(f"--average-every is {self.average_every}, but must be at least 1")
        connect = import_name("firth.distributed.cluster:connect", "running on a cluster", "ray")
        runtime: Runtime = connect(
            self.cluster,
            threads=threads,
            device=device,
            workers=self.workers,
            folder=self.cluster_folder,
            round_words=self.average_every,
            paths=[path for path in paths if os.path.exists(path)],
        )
        return runtime


OnCluster = Annotated[ClusterOptions, Parameter(name="*", group="Cluster")]


def read_texts(texts: list[str], *, keep_blank: bool = False) -> list[str]:
    """The texts of a command line; `-` stands for the lines of standard input, by default those that are not blank."""
    lines: list[str] = []
    for text in texts:
        if text == STDIN:
            with open_bytes(STDIN) as file:
                kept = (line for line in file if keep_blank or line.strip())
                lines += [line.decode("utf-8", "surrogateescape").rstrip("\r\n") for line in kept]
        else:
            lines.append(text)
    return lines


@dataclass(frozen=True)
class TextOptions(Recipe):
    """How text is decoded and tokenized."""

    tokens: Literal["running", "whitespace"] = option(
        "running",
        "running: tokenize running text. whitespace: the text is tokenized already, one sentence per line; split it at "
        "white space.",
    )
    language: Language = option(
        "any",
        "Language of the text: its abbreviations, elisions and ordinals, and its spelling. persian: unify letters and "
        "digits, restore half-spaces. arabic: unify letters, strip vowel signs. turkish: fold the case of I to ı.",
    )
    segment: str | None = option(
        None,
        "Split text without spaces, such as Chinese, Japanese and Thai, into words: icu, jieba, sudachi, kiwi or "
        "pythainlp, or the folder of a segmenter (see `firth train segmenter`).",
    )
    fold_case: bool = option(False, "Convert letters to lower case.")
    errors: Literal["strict", "replace"] = option(
        "strict", "Bytes that are not UTF-8. strict: stop with an error. replace: read them as U+FFFD."
    )
    column: str | None = option(
        None,
        "Read tables (CSV, or separated by tabs) and take the text from this column: its name, or its number from 1 if "
        "the table has no line of names. 0: read tables as plain text.",
    )
    html: bool | None = option(None, "Take the visible text of HTML pages. --no-html: read them with their tags.")

    def tokenizer(self) -> Tokenizer:
        """The tokenizer with these options."""
        normalizer = None
        if self.language in NORMALIZERS or self.fold_case or self.tokens == "running":
            normalizer = language_normalizer(self.language, fold_case=self.fold_case)
            if self.tokens == "whitespace":
                normalizer = replace(normalizer, half_spaces=False)  # tokens are not joined
        return Tokenizer(mode=self.tokens, normalizer=normalizer, language=self.language, segment=self.segment)

    def tokenizer_for(self, model: Any) -> Tokenizer:
        """The tokenizer with these options; without any, that of the model's training text, if the model stores it."""
        chosen = {name: getattr(self, name) for name in ("tokens", "language", "segment", "fold_case")}
        is_default = all(getattr(TextOptions(), name) == value for name, value in chosen.items())
        return tokenizer_of(model) if is_default else self.tokenizer()


NAMES = "field", "column", "html", "errors", "documents", "cache", "threads"  # options of a corpus


@dataclass(frozen=True)
class CorpusOptions(TextOptions):
    """How a corpus is read."""

    field: str | None = option(None, "Read JSON lines and take the text from this field.")
    documents: Literal["file", "line", "tagged-line"] = option(
        "file",
        "Unit that counts as a document. tagged-line: a line with tags, separated by commas, a tab and the text.",
    )
    cache: str | None = option(None, "Folder that keeps the tokenized text, so that later runs need not tokenize.")
    threads: int | None = option(None, "Number of threads. Default: one per CPU core.", minimum=1)

    def corpus(self, inputs: list[str], model: Any = None) -> Corpus:
        """The corpus in these inputs, read with these options, or as the training text of a model was."""
        options = {name: getattr(self, name) for name in NAMES}
        return Corpus(inputs, tokenizer=self.tokenizer_for(model), **options)


@dataclass(frozen=True)
class LabeledLinesOptions(CorpusOptions):
    """How labeled lines are read: split at white space, as in fastText."""

    tokens: Literal["whitespace"] = option(
        "whitespace",
        "whitespace: lines are split at white space, as in fastText. Tokenize running text first, for example with "
        "`firth tokens`.",
    )


Read = Annotated[CorpusOptions, Parameter(name="*", group="Text")]
