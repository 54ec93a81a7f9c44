"""Commands that run a text of any size through a model: its vectors onto disk, or an index of its words in context."""

import os
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from firth.bulk.embed_file import Bulk, embed_file, fingerprint
from firth.bulk.index import index_file
from firth.cli.flags import CorpusOptions, Inputs, Json, Model
from firth.cli.output import answer
from firth.errors import OptionError
from firth.formats.registry import load
from firth.options import Recipe, option
from firth.show import terminal
from firth.text.tokenize import Tokenizer


@dataclass(frozen=True)
class TextOptions(Recipe):
    """How a line becomes words, and where the model runs."""

    tokens: Literal["running", "whitespace"] = option(
        "running", "running: lines as people write them; whitespace: words are already apart"
    )
    language: Literal["any", "persian"] = option("any", "persian: unify letters and digits, tidy half-spaces")
    fold_case: bool = option(False, "make all letters small")
    errors: Literal["strict", "replace"] = option("strict", "what to do with bytes that are not UTF-8")
    precision: Literal["float32", "bfloat16", "int8"] | None = option(
        None, "contextual models: how exactly they compute; less is faster. float32 if not given"
    )
    device: str | None = option(None, "contextual models: where they run, such as cpu or cuda")

    def tokenizer(self) -> Tokenizer:
        """The tokenizer that these flags describe."""
        return CorpusOptions(tokens=self.tokens, language=self.language, fold_case=self.fold_case).tokenizer()


Words = Annotated[TextOptions, Parameter(name="*")]
Restart = Annotated[bool, Parameter(negative="", help="throw away what an unfinished run has left")]


def embed(
    model: Model,
    inputs: Inputs,
    /,
    *,
    out: Annotated[str, Parameter(help="a .hdf5 file, or a folder whose name ends in .safetensors or .parquet")],
    bulk: Annotated[Bulk, Parameter(name="*")] = Bulk(),
    wording: Words = TextOptions(),
    restart: Restart = False,
    json: Json = False,
) -> None:
    """The vectors of every line of a text, word by word or sentence by sentence, on disk.

    A line is a sentence. A run that was stopped goes on where it was when the same command is given again.

    For example:

        firth embed elmo/ corpus.txt --out corpus.hdf5 --layers all --tokens whitespace
        firth embed elmo/ corpus.txt.gz --out corpus.safetensors --layers top --dtype float16
        firth embed vectors/ reviews.txt --out reviews.parquet --pooling mean
    """
    opened = placed(load(model), wording.device)
    with terminal.progress() as report:
        done = embed_file(
            opened,
            inputs,
            out,
            bulk,
            tokenizer=wording.tokenizer(),
            errors=wording.errors,
            identity=fingerprint(model),
            restart=restart,
            report=report,
            precision=wording.precision,
        )
    values = done.as_dict()
    answer(values, terminal.table("", ["", "value"], list(values.items())), json)


def index(
    model: Model,
    inputs: Inputs,
    /,
    *,
    out: Annotated[str, Parameter(help="the folder of the index")],
    layers: Annotated[str, Parameter(help="top, mix, or the number of a layer")] = "top",
    dtype: Annotated[Literal["float16", "float32"], Parameter(help="how numbers are kept")] = "float16",
    words: Annotated[tuple[str, ...], Parameter(help="keep the occurrences of these words alone")] = (),
    wording: Words = TextOptions(),
    restart: Restart = False,
    json: Json = False,
) -> None:
    """The words of a text, each with its vector where it stands, to be asked with `firth neighbors --context`.

    For example:

        firth index elmo/ corpus.txt --out corpus.index
        firth neighbors corpus.index --context "Olivia signed to do a Broadway [play]"
    """
    opened = placed(load(model), wording.device)
    with terminal.progress() as report:
        made = index_file(
            opened,
            inputs,
            out,
            layers=layers,
            dtype=dtype,
            words=words or None,
            tokenizer=wording.tokenizer(),
            errors=wording.errors,
            model_path=os.path.abspath(model) if os.path.exists(model) else model,
            identity=fingerprint(model),
            restart=restart,
            report=report,
            precision=wording.precision,
        )
    values = {"path": out, "occurrences": len(made), "words": len(made.vocabulary), "dim": made.dim}
    answer(values, made, json)


def placed(model: Any, device: str | None) -> Any:
    """The model on the device that is asked for."""
    if device is None:
        return model
    if not hasattr(model, "to"):
        raise OptionError(f"--device is for contextual models, but this one is {type(model).__name__}")
    try:
        return model.to(device)
    except (RuntimeError, AssertionError) as error:  # torch has no error of its own for it
        raise OptionError(f"--device {device}: {str(error).splitlines()[0]}") from error
