"""Flags that many commands share, each written once."""

from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import Parameter

from firth.files import STDIN, open_bytes
from firth.options import Recipe, option
from firth.text.corpus import Corpus
from firth.text.normalize import Normalizer
from firth.text.tokenize import Tokenizer

Model = Annotated[
    str,
    Parameter(
        help="a word-vector file of any kind, an ARPA file, a folder that firth wrote, or a name from `firth models`"
    ),
]
Inputs = Annotated[
    list[str],
    Parameter(allow_leading_hyphen=True, help="files, folders, patterns, or - for standard input"),
]
Out = Annotated[str, Parameter(allow_leading_hyphen=True, help="where the result is written; - is standard output")]
Target = Annotated[
    str,
    Parameter(
        allow_leading_hyphen=True, help="where the model goes: a folder, or a file whose ending names its format"
    ),
]
Json = Annotated[bool, Parameter(negative="", help="print the result as JSON")]
Device = Annotated[Literal["cpu", "cuda"], Parameter(help="where it runs; cuda is an NVIDIA GPU")]
Threads = Annotated[int | None, Parameter(help="how many threads; as many as there are cores if not given")]
Top = Annotated[int, Parameter(name=["--topn", "-n"], help="how many answers")]


def read_texts(texts: list[str]) -> list[str]:
    """The texts of a command line; `-` stands for the lines of standard input that are not blank."""
    lines: list[str] = []
    for text in texts:
        if text == STDIN:
            with open_bytes(STDIN) as file:
                lines += [line.decode("utf-8", "surrogateescape").rstrip("\r\n") for line in file if line.strip()]
        else:
            lines.append(text)
    return lines


@dataclass(frozen=True)
class CorpusOptions(Recipe):
    """How text is read."""

    tokens: Literal["running", "whitespace"] = option(
        "running", "running: text as people write it; whitespace: words are already apart, one sentence a line"
    )
    language: Literal["any", "persian"] = option("any", "persian: unify letters and digits, tidy half-spaces")
    fold_case: bool = option(False, "make all letters small")
    field: str | None = option(None, "read JSON lines, and take the text from this field")
    errors: Literal["strict", "replace"] = option("strict", "what to do with bytes that are not UTF-8")
    documents: Literal["file", "line"] = option("file", "what counts as one document")
    cache: str | None = option(None, "a folder that keeps the tokens, so that the text is read only once")
    threads: int | None = option(None, "how many threads; as many as there are cores if not given", minimum=1)

    def tokenizer(self) -> Tokenizer:
        """The tokenizer that these flags describe."""
        normalizer = Normalizer.persian(fold_case=self.fold_case) if self.language == "persian" else None
        if normalizer is None and (self.fold_case or self.tokens == "running"):
            normalizer = Normalizer(fold_case=self.fold_case)
        return Tokenizer(mode=self.tokens, normalizer=normalizer)

    def corpus(self, inputs: list[str]) -> Corpus:
        """The text that the inputs name, read as these flags say."""
        return Corpus(
            inputs,
            tokenizer=self.tokenizer(),
            field=self.field,
            errors=self.errors,
            documents=self.documents,
            cache=self.cache,
            threads=self.threads,
        )


Read = Annotated[CorpusOptions, Parameter(name="*")]
