"""Commands that run a text of any size through a model: bulk embedding, and an index of words in context."""

import os
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from firth.bulk.embed_file import BulkOptions, embed_file
from firth.bulk.fingerprint import fingerprint
from firth.bulk.index import index_file
from firth.bulk.journal import has_journal
from firth.cli.flags import BilmDevice, ClusterOptions, Force, Inputs, Json, Model, OnCluster, TextOptions
from firth.cli.loading import is_bilm, move_to
from firth.cli.output import answer
from firth.cli.overwrite import check_outputs
from firth.errors import OptionError
from firth.files import is_file, is_under_way
from firth.formats.elmo_write import dump_token_embeddings
from firth.formats.registry import load
from firth.runtime import Runtime
from firth.show import terminal
from firth.text.vocabulary_file import read_vocabulary

Text = Annotated[TextOptions, Parameter(name="*", group="Text")]


@dataclass(frozen=True)
class RunOptions:
    """How a model is run over a text."""

    precision: Annotated[
        Literal["float32", "bfloat16", "int8"] | None,
        Parameter(help="Contextual models only: precision of the computation. Lower is faster. Default: float32."),
    ] = None
    device: BilmDevice = None
    restart: Annotated[
        bool, Parameter(negative="", show_default=False, help="Discard an unfinished run instead of resuming it.")
    ] = False
    force: Force = False

    def load(self, model: str, text: TextOptions, cluster: ClusterOptions) -> tuple[Any, dict[str, Any]]:
        """The model on its device, and the arguments that `embed_file` and `index_file` have in common.

        On a cluster, the device is that of the workers.
        """
        arguments = {
            "errors": text.errors,
            "column": text.column,
            "html": text.html,
            "identity": fingerprint(model),
            "precision": self.precision,
        }
        loaded = load(model)
        shared = {**arguments, "restart": self.restart, "tokenizer": text.tokenizer_for(loaded)}
        device = self.device if self.device is None or cluster.cluster is None else "cpu"
        return move_to(loaded, device), shared

    def connect(self, cluster: ClusterOptions, model: str, loaded: Any) -> tuple[Any, Runtime | None]:
        """What to embed with: the loaded model here, or its path and the cluster whose workers open it."""
        device = "cpu" if self.device is None else self.device.partition(":")[0]
        runtime = cluster.connect(None, device, [model])
        return (loaded, None) if runtime is None else (model, runtime)


Run = Annotated[RunOptions, Parameter(name="*")]


def embed(
    model: Model,
    inputs: Inputs,
    /,
    *,
    out: Annotated[str, Parameter(help="Output: a .hdf5 file, or a folder named *.safetensors or *.parquet.")],
    stateful: Annotated[
        bool,
        Parameter(
            negative="",
            show_default=False,
            help="ELMo only: carry the LSTM state over from batch to batch, as the original programs do.",
        ),
    ] = False,
    batch_size: Annotated[
        int | None, Parameter(help="With --stateful: sentences of a batch. They run in their order. Default: 64.")
    ] = None,
    token_embeddings: Annotated[
        bool,
        Parameter(
            negative="",
            show_default=False,
            help="ELMo only: the input is a vocabulary, one word a line. Write the vectors of its words without "
            "context to one dataset `embedding`, as bilm-tf's dump_token_embeddings does.",
        ),
    ] = False,
    bulk: Annotated[BulkOptions, Parameter(name="*", group="Output")] = BulkOptions(),
    text: Text = TextOptions(),
    run: Run = RunOptions(),
    cluster: OnCluster = ClusterOptions(),
    json: Json = False,
) -> None:
    """Write the vectors of every line of a text to disk, one per word or one per line.

    Each line is one sentence. If a run is interrupted, the same command resumes it.

    For example:

        firth embed elmo/ corpus.txt --out corpus.hdf5 --layers all --tokens whitespace
        firth embed elmo/ corpus.txt.gz --out corpus.safetensors --layers top --dtype float16
        firth embed vectors/ reviews.txt --out reviews.parquet --pooling mean
        firth embed elmo/ corpus.txt --out corpus.hdf5 --layers all --tokens whitespace --stateful
        firth embed elmo/ vocab.txt --out vocab_embedding.hdf5 --token-embeddings
    """
    check_outputs([out], [model, *inputs], force=run.force or has_journal(out) or is_under_way(out), models=False)
    loaded, arguments = run.load(model, text, cluster)
    if token_embeddings:
        dump_vocabulary(loaded, inputs, out, json)
        return
    arguments |= {"stateful": stateful or None, "batch_size": batch_size}
    with terminal.progress() as report:
        source, runtime = run.connect(cluster, model, loaded)
        summary = embed_file(source, inputs, out, bulk, runtime=runtime, report=report, **arguments)
    values = summary.as_dict()
    answer(values, terminal.table("", ["", "value"], list(values.items())), json)


def dump_vocabulary(model: Any, inputs: list[str], out: str, as_json: bool) -> None:
    """Writes the vectors of the words of a vocabulary without context."""
    if len(inputs) != 1 or not is_file(inputs[0]):
        raise OptionError("--token-embeddings takes one vocabulary file, with one word on each line")
    if not is_bilm(model):
        raise OptionError(f"--token-embeddings is for ELMo models, but this is a {type(model).__name__}")
    vocabulary = read_vocabulary(inputs[0])
    dump_token_embeddings(model, vocabulary, out)
    values = {"path": out, "words": len(vocabulary), "dim": model.architecture.dim}
    answer(values, terminal.table("", ["", "value"], list(values.items())), as_json)


def index(
    model: Model,
    inputs: Inputs,
    /,
    *,
    out: Annotated[str, Parameter(help="Output folder for the index.")],
    layers: Annotated[
        str, Parameter(help="Vectors: top, mix, the number of a layer, or context, which tells senses apart best.")
    ] = "top",
    dtype: Annotated[Literal["float16", "float32"], Parameter(help="Type of the stored numbers.")] = "float16",
    words: Annotated[
        tuple[str, ...], Parameter(negative="", show_default=False, help="Index only the occurrences of these words.")
    ] = (),
    text: Text = TextOptions(),
    run: Run = RunOptions(),
    cluster: OnCluster = ClusterOptions(),
    json: Json = False,
) -> None:
    """Index every word of a text by its vector in context, for `firth neighbors --context`.

    For example:

        firth index elmo/ corpus.txt --out corpus.index
        firth neighbors corpus.index --context "Olivia signed to do a Broadway [play]"
    """
    check_outputs([out], [model, *inputs], force=run.force or has_journal(out) or is_under_way(out), models=False)
    loaded, arguments = run.load(model, text, cluster)
    with terminal.progress() as report:
        source, runtime = run.connect(cluster, model, loaded)
        occurrences = index_file(
            source,
            inputs,
            out,
            layers=layers,
            dtype=dtype,
            words=words or None,
            model_path=os.path.abspath(model) if os.path.exists(model) else model,
            runtime=runtime,
            report=report,
            **arguments,
        )
    values = {"path": out, "occurrences": len(occurrences)}
    values |= {"words": len(occurrences.vocabulary), "dim": occurrences.dim}
    answer(values, occurrences, json)
