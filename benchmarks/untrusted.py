"""Opens a file that somebody else made and uses what it contains, for every reader of firth.

    python benchmarks/untrusted.py FOLDER [-v]      # the samples in a folder; their names begin with that of a reader

`READERS` has a function for each reader. It returns if the input is accepted and what a user would do with it works,
and raises a FirthError if the input is refused. Anything else is a bug: another exception, a crash, a run that does not
end, memory out of proportion. `watchdog.py` runs readers in child processes and reports which of these happened.

With a `turn`, only one of the uses of an accepted input is tried, another one for each number: a fuzzer tries many.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import firth
from firth.bulk.embed_file import BulkOptions, embed_file
from firth.bulk.journal import Journal
from firth.bulk.shards import Shards
from firth.cli.align import read_translations
from firth.cli.main import main as main_command
from firth.cli.models import describe
from firth.datasets.forms import COUNTERS, count_items, digest
from firth.datasets.sources import list_files
from firth.errors import FirthError
from firth.evaluate.questions import task_of, words_of
from firth.evaluate.senses import read_senses
from firth.exchange import frames
from firth.exchange.indexes import open_index
from firth.formats import glove_binary
from firth.formats.registry import load, save
from firth.hub import pull
from firth.models.classifier import FastTextClassifier
from firth.models.classifier_model import Classifier
from firth.models.ngram import Ngram
from firth.models.phrases import Phrases
from firth.models.recipes import RECIPES
from firth.models.word2vec import Word2Vec
from firth.options import read_toml
from firth.probes import contexts, sense_files
from firth.probes.separation import read_sense_table
from firth.probes.wordnet import WordNet
from firth.show.cards import model_card
from firth.studies.tasks.behavior_cases import read_cases
from firth.tasks.card import task_card
from firth.tasks.registry import find_task
from firth.text.corpus import Corpus
from firth.text.tokenfile import TokenFile
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import read_counts
from firth.text.vocabulary_file import read_softmax_vocabulary, read_vocabulary
from firth.training.checkpoints import Checkpoints
from firth.training.monitor import Log
from watchdog import Outcome, watch

Turn = int | None
Use = Callable[[Path, Turn], None]
Action = Callable[[], Any]
QUERY = ["the", "tea", "unseen-word", "caf\udce9", ""]
TEXT = "the tea is hot\nthe rain is cold\n\nthe tea was cold\n" * 3
LINES = [line for line in TEXT.splitlines() if line]
TASKS = ("ner", "srl", "coref", "qa", "entailment", "sentiment", "seq2seq")


def attempt(actions: list[Action], turn: Turn) -> None:
    """Runs actions, each of which may be refused: all of them, or the one whose turn it is."""
    for action in actions if turn is None else [actions[turn % len(actions)]]:
        with contextlib.suppress(FirthError):
            action()


def use_model(path: Path, turn: Turn = None) -> None:
    """Any model file or folder that `firth.load` opens."""
    model = load(path)
    actions = USES[model.kind](model)
    if model.kind not in ("bilm", "task"):
        actions.append(lambda: save_again(model, "again"))
    attempt([*actions, lambda: show_model(model)], turn)


def show_model(model: Any) -> None:
    """What a terminal, a notebook and `firth card` show of a model."""
    repr(model)
    if hasattr(model, "facts"):
        model.facts()
    if model.kind == "task":
        task_card("model", model)
    else:
        model_card("model", 1, getattr(model, "dim", None), model.metadata)
    describe(model)


def save_again(model: Any, name: str) -> None:
    """Writes a model that was read."""
    with tempfile.TemporaryDirectory() as folder:
        save(model, Path(folder, name))


def use_vectors(model: Any) -> list[Action]:
    words = [*QUERY, *model.vocabulary[:2], *model.vocabulary[-1:]]
    actions: list[Action] = [
        lambda: model.similarity(words[-1], words[-2]),
        lambda: model.most_similar(positive=words[-2:], negative=["tea"], topn=2),
        lambda: model.embed([words[:2], []]),
        lambda: model.matrix,
    ]
    for word in words:
        actions += [lambda word=word: model[word], lambda word=word: model.most_similar(word, topn=3)]
    if model.kind == "word2vec":
        actions += [lambda: model.predict_output_word(words[-2:]), lambda: model.score([words[-2:]])]
    if model.kind == "subword-vectors":
        actions.append(lambda: model.explain("teatime"))
        if model.output is not None:
            actions += [
                lambda: Classifier(model).predict("the tea is hot", k=2),
                lambda: Classifier(model).test(["__label__a the tea", "the rain"]),
            ]
    return actions


def use_documents(model: Any) -> list[Action]:
    tags = list(model)[:2]
    return [
        lambda: model.most_similar(tags[0], topn=2),
        lambda: model.similarity(tags[0], tags[-1]),
        lambda: model.infer(["the tea is hot", ""]),
        lambda: model.words.most_similar("tea", topn=1),
        lambda: model[tags[0]],
    ]


def use_counts(model: Any) -> list[Action]:
    words = [*QUERY, *model.vocabulary[:2], *model.columns[-1:]]
    actions: list[Action] = [
        lambda: model.ratio(words[-2], words[-1], words),
        lambda: model.transform(["the tea is hot"]),
        lambda: model.vectors().most_similar(words[-2]),
        model.__rich__,
    ]
    for word in words:
        actions += [
            lambda word=word: model[word],
            lambda word=word: model.top(word, 3),
            lambda word=word: model.value(word, words[-1]),
        ]
    return actions


def use_ngrams(model: Any) -> list[Action]:
    actions: list[Action] = [
        lambda: model.perplexity(["the tea is hot", "the rain"]),
        lambda: model.sample(["the"], length=5),
        lambda: save_again(model, "model.arpa"),
    ]
    for text in ("the tea is hot", "", ["unseen"], list(model.vocabulary[:6])):
        actions += [
            lambda text=text: model.score(text),
            lambda text=text: model.full_scores(text, bos=False),
            lambda text=text: model.predict(text, 3),
            lambda text=text: model.probability("tea", text),
        ]
    return actions


def use_phrases(model: Any) -> list[Action]:
    def rewrite() -> None:
        with tempfile.TemporaryDirectory() as folder:
            model.rewrite(["the tea is hot", "hot tea"], Path(folder, "text"))

    return [lambda: model.apply(["the", "tea", "is", "hot"]), lambda: model.top(3), rewrite]


def use_occurrences(model: Any) -> list[Action]:
    return [
        lambda: model.nearest(np.ones(model.dim), topn=3),
        lambda: model.nearest(np.ones(model.dim), topn=3, word=model.vocabulary[0]),
        lambda: model.index.search(np.ones((9, model.dim), np.float32), 2),
        lambda: model.occurrence(0),
        lambda: model.occurrence(len(model) - 1),
    ]


def use_segmenter(model: Any) -> list[Action]:
    return [
        lambda: model.split("北京大学 in 北京，东京"),
        lambda: model.split("".join(word for word in model.vocabulary[:8]) + "ไทย\u0e31"),
        lambda: Corpus.of(["北京很大", "tea"], tokenizer=Tokenizer(segment=model)).tokens(),
        lambda: model.split("\u0301\u0e31"),
    ]


def use_map(model: Any) -> list[Action]:
    vectors = small_vectors()
    return [
        lambda: model.apply(vectors).most_similar("tea", topn=2),
        lambda: model.translate(vectors, vectors, "tea", topn=2),
        lambda: model.evaluate(vectors, vectors, {"tea": "hot", "is": "the"}),
    ]


def use_bilm(model: Any) -> list[Action]:
    return [
        lambda: model.embed([["the", "tea"], ["rain"], []]),
        lambda: model.score("the tea is hot"),
        lambda: model.predict("the tea"),
        lambda: model.generate("the", length=3),
    ]


def use_task(model: Any) -> list[Action]:
    def ask(*texts: str) -> None:
        json.dumps(model.ask(*texts), allow_nan=False)  # an answer without NaN

    return [lambda: ask("the tea is hot"), lambda: ask("the tea is hot", "is it hot")]


USES: dict[str, Callable[[Any], list[Action]]] = {
    "word-vectors": use_vectors,
    "word2vec": use_vectors,
    "subword-vectors": use_vectors,
    "document-vectors": use_documents,
    "count-matrix": use_counts,
    "ngram": use_ngrams,
    "phrases": use_phrases,
    "connected-phrases": use_phrases,
    "occurrences": use_occurrences,
    "segmenter": use_segmenter,
    "vector-map": use_map,
    "bilm": use_bilm,
    "task": use_task,
}


def use_token_file(folder: Path, turn: Turn = None) -> None:
    """A token file: counts n-grams and trains vectors on it."""
    path = next(folder.glob("*.tokens"), folder / "missing.tokens")
    if not path.exists():
        return
    tokens = TokenFile(path)
    corpus = Corpus.of("")
    corpus._tokens = tokens
    actions: list[Action] = [
        lambda: list(corpus.sentences()),
        lambda: Ngram(order=2).fit(corpus),
        lambda: Word2Vec(dim=2, epochs=1, min_count=1, subsample=0).fit(corpus),
        lambda: tokens.document(0),
    ]
    attempt(actions, turn)


def use_checkpoint(folder: Path, turn: Turn = None) -> None:
    """A checkpoint: resumes the training, where the identity still fits, and reads it in any case."""

    def read() -> None:
        try:
            identity = json.loads((folder / "config.json").read_bytes())["identity"]
        except (OSError, ValueError, RecursionError, KeyError, TypeError):
            identity = {}
        checkpoints = Checkpoints(folder, identity if isinstance(identity, dict) else {})
        checkpoints.restore()
        checkpoints.restore_into({"inputs": np.zeros((7, 16), np.float32)})

    def resume() -> None:
        word2vec().fit(lines(), checkpoint=folder)

    if turn is None or turn % 16:
        read()
    if turn is None or turn % 16 == 0:
        resume()


@cache
def lines() -> Corpus:
    """The text of the checkpoint's training."""
    return Corpus.of(LINES)


def word2vec() -> Word2Vec:
    """The training of the checkpoint."""
    return Word2Vec(dim=4, epochs=4, min_count=1, subsample=0)


def use_journal(folder: Path, turn: Turn = None) -> None:
    """The unfinished output of `firth embed`: resumes the run, and reads the journal with its own job in any case."""
    (text := folder / "text.txt").write_text(TEXT)
    for part in sorted(folder.glob("*.part")):
        out = part.with_suffix("")
        try:
            job = json.loads((part / "journal.json").read_bytes())["job"]
        except (OSError, ValueError, RecursionError, KeyError, TypeError):
            job = {}
        with Journal(out, job if isinstance(job, dict) else {}):
            pass
        if turn is None or turn % 4 == 0:
            embed_file(small_vectors(), text, out, BulkOptions(), block_tokens=12)


@cache
def small_vectors() -> Any:
    """The model whose vectors the journal's run writes."""
    rows = np.arange(16, dtype=np.float32).reshape(4, 4)
    return firth.WordVectors(["the", "tea", "is", "hot"], rows)


def use_shards(folder: Path, turn: Turn = None) -> None:
    """A folder of embeddings that `firth embed` wrote."""
    shards = Shards(folder)
    actions: list[Action] = [lambda: shards[0], lambda: shards[len(shards) - 1], lambda: list(shards)]
    if len(shards):
        attempt(actions, turn)


@cache
def task(name: str) -> Any:
    """A task with its default options."""
    return find_task(name)()


def use_task_data(name: str) -> Use:
    """A file of examples of a task."""

    def use(path: Path, turn: Turn = None) -> None:
        examples = task(name).read(path)
        for example in examples[:2]:
            example.gold  # noqa: B018 (a property)

    return use


def use_text(path: Path, turn: Turn = None) -> None:
    """A text, compressed or not, as plain text, as JSON lines, as a table and as a page."""
    options: dict[str, Any] = {}
    if path.name.endswith(".jsonl"):
        options["field"] = "text"
    elif path.name.endswith((".csv", ".tsv")):
        options["column"] = "text"
    elif path.name.endswith(".html"):
        options["html"] = True
    elif path.name.endswith(".tags"):
        options["documents"] = "tagged-line"
    corpus = Corpus(path, tokenizer=Tokenizer(mode="whitespace"), **options)
    attempt_any(corpus, turn)


def attempt_any(corpus: Corpus, turn: Turn) -> None:
    """Reads a corpus as sentences and into a token file, or one of both. The latter takes longer."""
    if turn is None or turn % 8:
        for _ in corpus.sentences():
            pass
    if turn is None or turn % 8 == 0:
        len(corpus.tokens())


def use_recipe(path: Path, turn: Turn = None) -> None:
    """A recipe in TOML, for each of the recipes in turn."""
    values = read_toml(path)
    names = list(RECIPES)
    name = values.pop("name", None)
    if not isinstance(name, str) or name not in RECIPES:
        name = names[(turn or 0) % len(names)]
    RECIPES[name].from_dict(values)


def use_glove(folder: Path, turn: Turn = None) -> None:
    """The raw files of the original GloVe programs."""
    words = glove_binary.read_words(folder / "vocab.txt")
    actions: list[Action] = [
        lambda: glove_binary.read(folder / "cooccurrence.bin", words),
        lambda: glove_binary.read_vectors(folder / "vectors.bin", words).most_similar("tea", topn=1),
    ]
    for action in actions if turn is None else [actions[turn % 2]]:
        action()


def use_words(path: Path, turn: Turn = None) -> None:
    """A list of words: a vocabulary of ELMo, or words with counts."""
    actions: list[Action] = [
        lambda: read_vocabulary(path),
        lambda: read_softmax_vocabulary(path),
        lambda: read_counts(path),
    ]
    attempt(actions, turn)


def use_questions(path: Path, turn: Turn = None) -> None:
    """A test set: similarity, analogies, categories or senses."""
    if task_of(path) == "senses":
        read_senses(path)
    else:
        words_of(path)


def use_probe(path: Path, turn: Turn = None) -> None:
    """A data set of a probe, by the name of the file."""
    name = path.name.partition(".")[0]
    if name == "wic":
        contexts.read_wic(path / "data.txt", path / "gold.txt")
    elif name == "scws":
        contexts.read_scws(path)
    elif name == "cosimlex":
        contexts.read_cosimlex(path)
    elif name == "senses":
        read_sense_table(path)
    elif name == "semcor":
        for _ in sense_files.read_semcor(path):
            pass
    elif name in ("framework", "archive"):
        sense_files.read_framework(path, "ALL")
    elif name == "wordnet":
        WordNet.read(path)
    else:
        read_cases(path, "ner")


def use_download(path: Path, turn: Turn = None) -> None:
    """A file or an archive that `firth data install` looks into."""
    with tempfile.TemporaryDirectory() as folder:
        forms = list(COUNTERS)
        for file in list_files(path, Path(folder)):
            digest(file)
            for form in forms if turn is None else [forms[turn % len(forms)]]:
                with contextlib.suppress(FirthError):
                    count_items(file, form)


def use_map_files(path: Path, turn: Turn = None) -> None:
    """A map between vector spaces, or a dictionary of words with their translations."""
    if path.is_dir():
        use_model(path, turn)
    else:
        read_translations(str(path))


def use_frame(path: Path, turn: Turn = None) -> None:
    """A frame in Arrow's format: as word vectors, as a corpus and as texts. Arrow does not check what it opens."""
    import pyarrow

    try:
        table = pyarrow.ipc.open_stream(pyarrow.py_buffer(path.read_bytes())).read_all()
    except (pyarrow.ArrowException, ValueError, OSError, KeyError, TypeError) as error:
        raise FirthError("refused by Arrow") from error

    def vectors() -> None:
        opened = frames.vectors_from_frame(table)
        if len(opened):
            opened.most_similar(opened.vocabulary[0], topn=1)

    actions: list[Action] = [
        vectors,
        lambda: frames.corpus_from_frame(table, "word", tags="word").tokens(),
        lambda: frames.encode_frame(small_vectors(), table, "word", library="arrow", vector="more"),
    ]
    for action in actions if turn is None else [actions[turn % 3]]:
        action()


def use_component(path: Path, turn: Turn = None) -> None:
    """The bytes of a spaCy component with word vectors."""
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

    from firth.spacy.vectors import VectorsComponent

    component = VectorsComponent(vocab := Vocab(), "vectors", "none")
    try:
        component.from_bytes(path.read_bytes())
        component(Doc(vocab, ["the", "tea", "is", "teatime"]))
    finally:
        if component.folder is not None:
            component.folder.close()


def use_index(folder: Path, turn: Turn = None) -> None:
    """A saved index of neighbors. Its engine trusts its file, whose checksum is beside it and not forged here."""
    index = open_index(folder)
    index.most_similar(np.ones(index.dim), topn=2)


def use_pulled(folder: Path, turn: Turn = None) -> None:
    """A folder of `firth pull`: the list of its files, and an archive with one of them."""
    actions: list[Action] = [
        lambda: pull._read_lock(folder),
        lambda: pull.extract_member(folder / "small.zip", "tea.txt", folder / "tea.txt"),
    ]
    for action in actions if turn is None else [actions[turn % 2]]:
        action()


def use_log(path: Path, turn: Turn = None) -> None:
    """The log of a training that is resumed."""
    Log(path, 2)


def use_command(path: Path, turn: Turn = None, seconds: float = 3.0) -> None:
    """A command line, one argument a line or in JSON. It is interrupted after so many seconds of CPU time.

    "TOML" and a text in front stand for a recipe file.
    """
    text = path.read_bytes()
    arguments = json.loads(text) if path.suffix == ".json" else os.fsdecode(text).replace("\0", "").split("\n")
    work = path.parent / "work" / "here"
    work.mkdir(parents=True, exist_ok=True)
    (work / "tiny.txt").write_text(TEXT)
    (work / "tinylab.txt").write_text("".join(f"__label__{'ab'[i % 2]} {line}\n" for i, line in enumerate(LINES)))
    if arguments[0] == "TOML":
        (work / "recipe.toml").write_bytes(os.fsencode("".join(arguments[1:2]).replace(";", "\n")))
        arguments = ["train", "--recipe", str(work / "recipe.toml"), *arguments[2:]]
    for index, argument in enumerate(arguments):
        if argument.startswith(STORED):
            name = Path(argument.removeprefix(STORED[0])).name
            arguments[index] = str(copy_model(name, work) if name in MODELS else work / name)

    def interrupt(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = os.getcwd()
    os.chdir(work)
    signal.signal(signal.SIGPROF, interrupt)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        main_command(arguments)
    except SystemExit as end:
        if end.code not in (0, 2, 130):
            raise RuntimeError(f"exit {end.code}") from end
        if end.code == 2:
            raise FirthError("refused") from end
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        os.chdir(before)


def copy_model(name: str, folder: Path) -> Path:
    """A small model in a folder."""
    root, files = make_model(name)
    for place, data in files.items():
        (folder / place).parent.mkdir(exist_ok=True)
        (folder / place).write_bytes(data)
    return folder / root


@cache
def make_model(name: str) -> tuple[str, dict[Path, bytes]]:
    """The name and the files of a small model that commands use."""
    with tempfile.TemporaryDirectory() as folder:
        root = MODELS[name](Path(folder)).name
        files = [path for path in Path(folder).rglob("*") if path.is_file()]
        return root, {path.relative_to(folder): path.read_bytes() for path in files}


def make_phrases(folder: Path) -> Path:
    """A model of phrases."""
    save(Phrases(threshold=0.1, delta=0).fit(lines()), folder / "phrases")
    return folder / "phrases"


def make_vectors(folder: Path) -> Path:
    """Word vectors in our own format."""
    save(small_vectors(), folder / "vectors")
    return folder / "vectors"


def make_classifier(folder: Path) -> Path:
    """A classifier in fastText's format."""
    labeled = [f"__label__{'ab'[number % 2]} {line}" for number, line in enumerate(LINES)]
    options: dict[str, Any] = {"dim": 4, "epochs": 1, "word_ngrams": 2, "buckets": 20}
    save(FastTextClassifier(**options).fit(labeled), folder / "classifier.bin")
    return folder / "classifier.bin"


STORED = ("stored:", "/tmp/h-break/")  # before the names of files; the latter in command lines that were collected
MODELS: dict[str, Callable[[Path], Path]] = {
    "nat-ph": make_phrases,
    "cl-softmax.bin": make_classifier,
    "vectors": make_vectors,
}
READERS: dict[str, Use] = {
    "native-vec": use_model,
    "native-other": use_model,
    "segmenter": use_model,
    "vector-map": use_map_files,
    "native-task": use_model,
    "native-bilm": use_model,
    "elmo": use_model,
    "many-languages": use_model,
    "fasttext": use_model,
    "word2vec": use_model,
    "arpa": use_model,
    "tokenfile": use_token_file,
    "checkpoint": use_checkpoint,
    "ledger": use_journal,
    "embeddings": use_shards,
    **{f"task-{name}": use_task_data(name) for name in TASKS},
    "text": use_text,
    "recipe": use_recipe,
    "glove-raw": use_glove,
    "word-list": use_words,
    "test-set": use_questions,
    "probe-set": use_probe,
    "download": use_download,
    "frame": use_frame,
    "component": use_component,
    "index": use_index,
    "pulled": use_pulled,
    "log": use_log,
    "cli": use_command,
}
FIRST_USES = READERS | {"cli": partial(use_command, seconds=3600)}  # kernels are compiled
CHANGED_BY_USE = ("checkpoint", "ledger", "pulled", "log", "cli")  # the input is written to
SLOW = (
    "native-task",
    "native-bilm",
    "elmo",
    "many-languages",
    "cli",
)  # a network is built, or a command runs, for each input


def watch_samples(folder: Path) -> Iterator[tuple[str, Outcome]]:
    """The outcome of every sample in a folder, by name. The name of a sample begins with that of its reader."""
    with tempfile.TemporaryDirectory() as work:
        for name, use in READERS.items():
            samples = sorted(path for path in folder.iterdir() if path.name.startswith(name + "-"))
            for outcome in watch(use, samples, Path(work)):
                yield samples[outcome.number].name, outcome


def main() -> None:
    """Prints the outcomes of the samples in a folder that are bugs, then how many inputs there were of each kind."""
    for name in TASKS:
        find_task(name)  # imports torch, whose memory would count otherwise
    counts: dict[str, int] = {}
    for name, outcome in watch_samples(Path(sys.argv[1])):
        counts[outcome.kind] = counts.get(outcome.kind, 0) + 1
        if outcome.kind not in ("accepted", "refused") or "-v" in sys.argv:
            print(f"{outcome.kind}\t{name}\t{outcome.detail}", flush=True)
    print(json.dumps(counts))
    sys.exit(0 if counts.keys() <= {"accepted", "refused"} else 1)


if __name__ == "__main__":
    main()
