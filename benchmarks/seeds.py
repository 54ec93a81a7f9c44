"""Small valid inputs of every reader, made by code. Each is a folder with one file or folder in it."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from firth.bulk.embed_file import BulkOptions, embed_file
from firth.bulk.journal import has_journal
from firth.formats import elmo_write, glove_binary
from firth.formats.registry import save
from firth.models.classifier import FastTextClassifier
from firth.models.counts import Counts
from firth.models.doc2vec import Doc2Vec
from firth.models.fasttext import FastText
from firth.models.glove import GloveParameters
from firth.models.ngram import Ngram
from firth.models.phrases import Phrases
from firth.models.quantization import quantize
from firth.models.segmenter import Segmenter
from firth.models.vector_map import align
from firth.models.word2vec import Word2Vec
from firth.neural.architecture import Architecture
from firth.neural.bilm import BiLM
from firth.tasks.inputs import Embedding, Inputs
from firth.tasks.model import TaskModel
from firth.text.corpus import Corpus
from firth.text.tokenize import Tokenizer
from firth.text.vocabulary import Vocabulary
from firth.training.checkpoints import CHECKSUM, sum_config
from firth.vectors.occurrences import Occurrences
from mutations import Seed
from untrusted import LINES, TASKS, TEXT, small_vectors, task, word2vec

NER = "-DOCSTART- O\n\nAnn B-PER\nleft O\nRome B-LOC\n\n# id = 1\nWhy O\n? O\n"
SRL = "0 The (A0* *\n1 cat *) (A1*)\n2 sat (V*) (V*)\n3 . * *\n\n0 Go (V*)\n"
COREF = (
    "#begin document (bc/a); part 000\nbc/a 0 0 Mary NN * - - - Ann * (4)\nbc/a 0 1 saw V * - - - Ann * -\n"
    "bc/a 0 2 her P * - - - Ann * (7|(4)\n\nbc/a 0 0 dog N * - - - - * 7)\n#end document\n"
)
GUM = "# begin document a\n0\tMary\t(1)\n1\tleft\t_\n2\t.\t_\n3\tShe\t(1)\n# end document\n"
QUESTION = {"id": "1", "question": "What is hot?", "answers": [{"text": "Tea", "answer_start": 0}]}
QA = {"data": [{"title": "Tea", "paragraphs": [{"context": "Tea is hot. Rain is cold.", "qas": [QUESTION]}]}]}
PAIRS = '{"sentence1": "A dog runs.", "sentence2": "A pet moves.", "gold_label": "entailment"}\n' * 2
TABLE = 'gold_label\tsentence1\tsentence2\nneutral\tA dog.\tA cat.\ne\t"A ""red"" hat"\tA hat\n'
SENTIMENT = "(3 (2 It) (4 (2 's) (4 fine)))\npositive\tGood tea\nnegative\tCold rain\n"
SEQUENCES = "Tea, please.\tDu the.\nRain\tPluie\n"
TASK_DATA = {
    "ner": {"small.conll": NER, "packed.conll": NER},
    "srl": {"small.conll": SRL, "packed.conll": SRL},
    "coref": {"small.conll": COREF, "gum.conll": GUM, "packed.conll": COREF},
    "qa": {"small.json": json.dumps(QA), "packed.json": json.dumps(QA)},
    "entailment": {"small.jsonl": PAIRS, "table.tsv": TABLE, "plain.txt": "neutral\tA dog.\tA cat.\n", "packed": PAIRS},
    "sentiment": {"small.txt": SENTIMENT, "packed.txt": SENTIMENT},
    "seq2seq": {"small.tsv": SEQUENCES, "packed.tsv": SEQUENCES},
}
PAGE = "<!DOCTYPE html><html><title>Menu</title><p>Tea &amp; <b>mil</b>k<br>Cake<script>x()</script><pre>a\n b</pre>"
TEXTS = {
    "small.txt": TEXT,
    "packed.txt": TEXT,
    "small.jsonl": '{"text": "the tea is hot"}\n{"text": "rain", "id": 7}\n',
    "small.csv": 'id,text\n1,"tea, black"\n2,milk\n',
    "small.tsv": "id\ttext\n1\tblack tea\n2\tmilk\n",
    "small.html": PAGE,
    "packed.html": PAGE,
    "small.tags": "a,b\tthe tea is hot\nc\train\n",
}
RECIPES = {
    "word2vec.toml": 'name = "word2vec"\ndim = 10\nepochs = 2\nlearning_rate = 0.025\narchitecture = "skip-gram"\n',
    "named.toml": 'name = "counts"\nkind = "ppmi"\nwindow = 2\n',
    "phrases.toml": 'name = "phrases"\nthreshold = 1.5\nconnectors = ["of", "the"]\n',
    "elmo.toml": 'name = "elmo"\nepochs = 1\nlayers = 1\n',
}
WORD_LISTS = {"vocab.txt": "<S>\n</S>\n<UNK>\ntea\nrain\n", "counts": "tea\t2\nrain\t9\n", "packed": "<S>\ntea\n"}
QUESTIONS = {
    "pairs.csv": "tea,coffee,7\nsun,rain,2\n",
    "pairs.tsv": "# a comment\nword1\tword2\tscore\ntea\tcoffee\t7.5\nsun\train\t2\n",
    "analogies.txt": ": capitals\nRome Italy Paris France\nOslo Norway Rome Italy\n",
    "relations.txt": ": plurals\ncat\tcats\ndog\tdogs\n",
    "categories.txt": "cat animal\ndog animal\ntea drink\n",
    "senses.tsv": "bank\tT\tA [bank] lends .\tThe [bank] closed .\n",
}
INSTANCE = '<instance id="i" lemma="old_age" pos="NOUN">old age</instance>'
WSD = f'<corpus><sentence id="d.s"><wf>An</wf>{INSTANCE}</sentence></corpus>'
SCWS = "\t".join(["1", "a", "n", "b", "n", "We <b> play </b> .", "The <b> tea </b> is hot .", "5.5", *"0123456789"])
COSIMLEX = [
    "\t".join(["word1", "word2", "context1", "context2", "word1_context1", "word2_context1", "word1_context2"]),
    "\tword2_context2\tsim1\tsim2\na\tb\tSome <strong>tea</strong> and <strong>milk</strong>.\t",
    "A <strong>tea</strong> or <strong>milk</strong>.\ttea\tmilk\ttea\tmilk\t1.5\t2\n",
]
PROBES: dict[str, str | dict[str, str]] = {
    "wic": {"data.txt": "play\tN\t0-1\tplay now\tthe play\n", "gold.txt": "T\n"},
    "scws.txt": SCWS + "\n",
    "cosimlex.csv": "".join(COSIMLEX),
    "senses.tsv": "word\tsense\tsentence\nbank\tmoney\tA [bank] lends .\nbank\triver\tThe [bank] is wet .\n",
    "semcor.tsv": "file\tsent\ttoken\tlemma\tpos\tsense_keys\na\t1\tplay\tplay\tNN\tplay%1:04:05::\na\t1\t.\t_\t.\t_\n",
    "framework": {"ALL/ALL.data.xml": WSD, "ALL/ALL.gold.key.txt": "i old_age%1:28:00::\n"},
    "wordnet": {"index.sense": "play%1:10:01:: 07007945 1 10\nplay%1:04:05:: 00182037 2 4\n"},
    "cases.tsv": "capability\ttype\ttext\tchanged\texpected\nno entity\tMFT\tHello\t\tnone\n",
}
COMMANDS = {
    "tokens": ["tokens", "stored:tiny.txt", "--tokens", "whitespace"],
    "train": [
        "train",
        "word2vec",
        "stored:tiny.txt",
        "--dim",
        "4",
        "--epochs",
        "1",
        "--min-count",
        "1",
        "--out",
        "v",
    ],
    "ngram": ["train", "ngram", "stored:tiny.txt", "--order", "2", "--out", "n.arpa"],
    "recipe": ["TOML", 'name = "counts";kind = "ppmi"', "stored:tiny.txt", "--out", "c"],
    "phrases": ["phrases", "stored:nat-ph", "stored:tiny.txt", "--out", "p.txt"],
    "predict": ["predict", "stored:cl-softmax.bin", "the tea", "-k", "2"],
    "similarity": ["similarity", "stored:vectors", "tea", "hot"],
}
CHINESE = ["我爱北京", "北京很大", "我们去北京吧", "他在北京", "东北很冷", "南京也大"] * 3
METADATA: dict[str, Any] = {  # of a trained model of a task
    "training": {"epochs": 2, "batch": 8},
    "examples": {"train": 2, "dev": 1},
    "dev": {"f1": 0.5, "accuracy": 0.25},
    "test": {"f1": 0.5},
    "trained": {"dev": {"f1": 0.5}},
    "epochs": [{"loss": 2.5, "dev": {"f1": 0.25}}, {"loss": 2.25, "dev": {"f1": 0.5}}],
    "layer_shares": {"input": [0.25, 0.5, 0.25]},
    "case": "mixed",
    "asked": ["Tea, please."],
    "data": [{"name": "tea", "licence": "CC0"}],
    "licence": "CC0",
}
LOG = '{"step": 1, "loss": 2.5}\n{"step": 2, "loss": 2.25, "epoch": 1}\n{"step": 3, "loss"'


def read_seed(folder: Path) -> Seed:
    """A stored input."""
    (root,) = folder.iterdir()
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return Seed(root.name, {path.relative_to(folder).as_posix(): path.read_bytes() for path in files})


class SeedStore:
    """Stores inputs, each in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, reader: str, name: str, write: Callable[[Path], Any]) -> None:
        """Stores what `write` writes to a path with this name."""
        place = self.folder / reader / name.replace(".", "-")
        place.mkdir(parents=True)
        write(place / name)

    def texts(self, reader: str, texts: dict[str, str]) -> None:
        """Stores texts."""
        for name, text in texts.items():
            self.add(reader, name, lambda path, text=text: path.write_text(text))  # type: ignore[misc]


def make_seeds(folder: Path, readers: Iterable[str]) -> None:
    """Makes the inputs of these readers, unless they are there already. Those of others may need missing packages."""
    wanted = {reader for reader in readers if not (folder / reader).is_dir()}
    if not wanted:
        return
    folder.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=folder.parent))
    store = SeedStore(draft)
    for make, made in MAKERS.items():
        if wanted & set(made):
            make(store)
    for reader in wanted:
        (draft / reader).rename(folder / reader)
    shutil.rmtree(draft)


def make_texts(store: SeedStore) -> None:
    """Data of tasks and evaluations, texts, recipes, command lines and archives."""
    for name, texts in TASK_DATA.items():
        store.texts(f"task-{name}", texts)
    archive = pack_tar({"gum/tea.conll": GUM, "splits.md": "## train\n* tea\n"})
    store.add("task-coref", "small.tar", lambda path: path.write_bytes(archive))
    store.add("task-coref", "packed.tar", lambda path: path.write_bytes(archive))
    store.texts("text", TEXTS)
    store.texts("recipe", RECIPES)
    store.texts("word-list", WORD_LISTS)
    store.texts("test-set", QUESTIONS)
    store.texts("log", {"log.jsonl": LOG})
    for name, content in PROBES.items():
        store.add("probe-set", name, lambda path, content=content: write_files(path, content))  # type: ignore[misc]
    framework = {f"ALL/ALL.{name}": text for name, text in (("data.xml", WSD), ("gold.key.txt", "i x%1:28:00::\n"))}
    store.add("probe-set", "archive.tar", lambda path: path.write_bytes(pack_tar(framework)))
    store.texts("cli", {name: "\n".join(command) for name, command in COMMANDS.items()})
    members = {**QUESTIONS, "more/names.conll": NER, "framework.tar.gz": "x", "../up.txt": "tea rain 3\n"}
    store.add("download", "small.tar", lambda path: path.write_bytes(pack_tar(members)))
    store.add("download", "small.zip", lambda path: path.write_bytes(pack_zip(members)))
    store.add("download", "lzma.zip", lambda path: path.write_bytes(pack_zip(QUESTIONS, zipfile.ZIP_LZMA)))
    store.add("download", "pairs.csv", lambda path: path.write_text(QUESTIONS["pairs.csv"]))


def write_files(path: Path, content: str | dict[str, str]) -> None:
    """Writes a text, or a folder of texts."""
    if isinstance(content, str):
        path.write_text(content)
        return
    for name, text in content.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)


def pack_tar(members: dict[str, str]) -> bytes:
    """A tar archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, text in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return buffer.getvalue()[: 512 * (2 * len(members) + 4)]  # without most of the padding


def pack_zip(members: dict[str, Any], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return buffer.getvalue()


def make_static(store: SeedStore) -> None:
    """Word vectors, fastText, counts, n-grams, phrases and the index, in all their formats."""
    words = Corpus.of(LINES, tokenizer=Tokenizer(mode="whitespace"))
    vectors = word2vec().fit(words)
    model = Word2Vec(dim=4, epochs=1, min_count=1, keep_outputs=True).fit(words)
    fasttext = FastText(dim=4, epochs=1, min_count=1, buckets=20, subsample=0).fit(words)
    labeled = [f"__label__{'ab'[number % 2]} {line}" for number, line in enumerate(LINES)]
    lines = Corpus.of(labeled, tokenizer=Tokenizer(mode="whitespace"))
    options: dict[str, Any] = {"dim": 4, "epochs": 1, "word_ngrams": 2, "buckets": 20}
    plain = FastTextClassifier(**options).fit(lines)
    softmax = FastTextClassifier(**options, minn=2, maxn=3).fit(lines)
    tree = FastTextClassifier(**options, objective="hierarchical-softmax").fit(lines)
    pruned = quantize(softmax, cutoff=10)
    models = {"wv": vectors, "w2v": model, "ft": fasttext, "plain": plain, "sm": softmax, "hs": tree, "pruned": pruned}
    for name, one in models.items():
        store.add("native-vec", name, lambda path, one=one: save(one, path))  # type: ignore[misc]
    store.add("native-vec", "int8", lambda path: save(vectors, path, precision="int8"))
    store.add("native-vec", "half", lambda path: save(fasttext, path, precision="float16"))
    documents = Doc2Vec(dim=4, min_count=1, epochs=1).fit(LINES)
    store.add("native-vec", "documents", lambda path: save(documents, path))
    for name, one in {
        "ft.bin": fasttext,
        "plain.bin": plain,
        "sm.bin": softmax,
        "hs.bin": tree,
        "p.ftz": pruned,
    }.items():
        store.add("fasttext", name, lambda path, one=one: save(one, path))  # type: ignore[misc]
    for name in ("small.w2v", "small.bin", "small.glove", "small.vec"):
        store.add("word2vec", name, lambda path: save(vectors, path))
    store.add("word2vec", "packed.vec", lambda path: save(vectors, path))
    for kind in ("co-occurrence", "ppmi", "tf-idf"):
        recipe = Counts(kind=kind, min_count=1)  # type: ignore[arg-type]
        store.add("native-other", kind, lambda path, recipe=recipe: save(recipe.fit(words), path))  # type: ignore[misc]
    ngrams = Ngram(order=3).fit(words)
    store.add("native-other", "ngram", lambda path: save(ngrams, path))
    store.add("native-other", "phrases", lambda path: save(Phrases(threshold=0.1, delta=0).fit(words), path))
    connected = Phrases(threshold=0.1, delta=0, connectors=("is",)).fit(words)
    store.add("native-other", "connected", lambda path: save(connected, path))
    rows = np.arange(8, dtype=np.float32).reshape(4, 2)
    index = Occurrences(["tea", "hot", "is"], [0, 2, 1, 0, 1], [0, 3, 5], rows, places=np.array([0, 1, 3, 4]))
    store.add("native-other", "index", lambda path: save(index, path))
    segmenter = Segmenter().fit(CHINESE)
    store.add("segmenter", "learned", lambda path: save(segmenter, path))
    found = align(small_vectors(), small_vectors(), refine=1)
    store.add("vector-map", "map", lambda path: save(found, path))
    store.texts("vector-map", {"dictionary.txt": "tea\tchai\nrain\tbaran\n"})
    bigrams = Ngram(order=2).fit(words)
    for name, one in {"small.arpa": ngrams, "two.arpa": bigrams, "packed.arpa": bigrams}.items():
        store.add("arpa", name, lambda path, one=one: save(one, path))  # type: ignore[misc]
    store.add("glove-raw", "files", make_glove)


def make_glove(folder: Path) -> None:
    """The raw files of the original GloVe programs."""
    folder.mkdir()
    words = Vocabulary(["the", "tea", "is"], [9, 5, 2])
    glove_binary.write_words(words, folder / "vocab.txt")
    records = np.array([(1, 2, 0.5), (2, 1, 0.5), (3, 3, 7)], glove_binary.RECORD)
    (folder / "cooccurrence.bin").write_bytes(records.tobytes())
    rows = np.arange(9, dtype=np.float64).reshape(3, 3)
    glove_binary.write_parameters(GloveParameters(rows, rows + 1), folder / "vectors.bin")


def make_exchanged(store: SeedStore) -> None:
    """What other tools keep of us, or send: frames of Arrow, components of spaCy, indexes, published files."""
    import pyarrow

    import spacy
    from firth.spacy.vectors import VectorsComponent

    words, rows = ["tea", "rain", "a longer word"], np.arange(6, dtype=np.float32)
    vectors = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(rows), 2)
    lists = pyarrow.array(rows.reshape(3, 2).tolist(), pyarrow.list_(pyarrow.float64()))
    codes = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 1, 2]), pyarrow.array(words))
    columns: dict[str, tuple[Any, ...]] = {
        "small": (pyarrow.array(words, pyarrow.large_string()), vectors),
        "lists": (pyarrow.array(words), lists),
        "codes": (codes, vectors),
    }
    if hasattr(pyarrow, "string_view"):  # since version 16
        columns["views"] = (pyarrow.array(words, pyarrow.string_view()), vectors)
    for name, (texts, numbers) in columns.items():
        table = pyarrow.table({"word": texts, "vector": numbers, "count": pyarrow.array([9, 5, 5])})
        store.add("frame", f"{name}.arrow", lambda path, table=table: write_frame(table, path))  # type: ignore[misc]
    component = VectorsComponent(spacy.blank("en").vocab, "vectors", "none")
    component.opened = FastText(dim=4, epochs=1, min_count=1, buckets=20, subsample=0).fit(LINES)
    store.add("component", "small.msgpack", lambda path: path.write_bytes(component.to_bytes()))
    for kind in ("flat", "hnsw"):
        store.add("index", kind, lambda path, kind=kind: small_vectors().save_index(path, kind))  # type: ignore[misc]
    store.add("pulled", "files", make_pulled)


def write_frame(table: Any, path: Path) -> None:
    """A frame in Arrow's format for streams."""
    import pyarrow

    with pyarrow.ipc.new_stream(str(path), table.schema) as stream:
        stream.write_table(table)


def make_pulled(folder: Path) -> None:
    """A folder of `firth pull` before its archive is unpacked."""
    folder.mkdir()
    (folder / "small.zip").write_bytes(pack_zip({"tea.txt": "tea 1 2\n", "../up.txt": "x"}))
    entry = {"address": "https://example.org/small.zip", "size": 7, "sha256": "0" * 64, "licence": None}
    (folder / "lock.json").write_text(json.dumps({"library": "firth", "files": {"small.zip": entry}}))


MANY = {  # the sizes of a small model of ELMoForManyLangs
    "encoder": {"name": "elmo", "projection_dim": 3, "cell_clip": 3, "proj_clip": 3, "dim": 5, "n_layers": 1},
    "token_embedder": {
        "name": "cnn",
        "activation": "relu",
        "filters": [[1, 2], [2, 3]],
        "n_highway": 1,
        "word_dim": 2,
        "char_dim": 2,
        "max_characters_per_token": 8,
    },
}


def write_many_languages(folder: Path, *, old: bool) -> None:
    """A folder of ELMoForManyLangs; `old` is the form of PyTorch before 1.6."""
    import torch

    folder.mkdir()
    special = ["<oov>", "<bos>", "<eos>", "<pad>"]
    words, characters = [*special, "the", "tea"], [*special, *"thea", "<bow>", "<eow>"]
    for name, entries in (("word.dic", words), ("char.dic", characters)):
        (folder / name).write_text("".join(f"{entry}\t{row}\n" for row, entry in enumerate(entries)))
    (folder / "config.json").write_text(json.dumps({"config_path": "configs/sizes.json"}))
    (folder / "sizes.json").write_text(json.dumps(MANY))
    shapes = {
        "word_emb_layer.embedding.weight": (len(words), 2),
        "char_emb_layer.embedding.weight": (len(characters), 2),
    }
    shapes |= {"convolutions.0.weight": (2, 2, 1), "convolutions.0.bias": (2,)}
    shapes |= {"convolutions.1.weight": (3, 2, 2), "convolutions.1.bias": (3,)}
    shapes |= {"highways._layers.0.weight": (10, 5), "highways._layers.0.bias": (10,)}
    shapes |= {"projection.weight": (3, 7), "projection.bias": (3,)}
    layers: dict[str, tuple[int, ...]] = {}
    for direction in ("forward", "backward"):
        name = f"{direction}_layer_0."
        layers |= {name + "input_linearity.weight": (20, 3), name + "state_linearity.weight": (20, 3)}
        layers |= {name + "state_linearity.bias": (20,), name + "state_projection.weight": (3, 5)}
    for name, table in (("token_embedder.pkl", shapes), ("encoder.pkl", layers)):
        tensors = {key: torch.linspace(-1, 1, int(np.prod(shape))).reshape(shape) for key, shape in table.items()}
        torch.save(tensors, folder / name, _use_new_zipfile_serialization=not old)


def make_many_languages(store: SeedStore) -> None:
    """Models of ELMoForManyLangs."""
    store.add("many-languages", "old", lambda path: write_many_languages(path, old=True))
    store.add("many-languages", "new", lambda path: write_many_languages(path, old=False))


def make_neural(store: SeedStore) -> None:
    """biLMs in our format and in the official one, and models of tasks."""
    sizes = {"character_dim": 2, "filters": ((1, 2), (2, 3)), "highways": 1, "cell": 6, "dim": 4, "width": 8}
    vocabulary = Vocabulary(["<S>", "</S>", "<UNK>", "the", "tea", "is", "hot"])
    bilm = BiLM(Architecture(**sizes), vocabulary=vocabulary)  # type: ignore[arg-type]
    store.add("native-bilm", "cnn", lambda path: save(bilm, path))
    store.add("native-bilm", "int8", lambda path: save(bilm, path, precision="int8"))
    small = BiLM(Architecture(encoder="words", cell=4, dim=4, layers=1), words=vocabulary)
    store.add("native-bilm", "words", lambda path: save(small, path))
    store.add("elmo", "official", lambda path: elmo_write.write(bilm, path))
    flat = BiLM(Architecture(**sizes, layers=1), vocabulary=vocabulary)  # type: ignore[arg-type]
    for name, change in HDF5_CHANGES.items():
        store.add("elmo", name, lambda path, change=change: write_changed(flat, path, change))  # type: ignore[misc]
    with tempfile.TemporaryDirectory() as folder:
        elmo_write.write(flat, Path(folder, "elmo"))
        members = {path.name: path.read_bytes() for path in sorted(Path(folder, "elmo").iterdir())}
    store.add("elmo", "small.zip", lambda path: path.write_bytes(pack_zip(members)))
    for name in TASKS:
        with tempfile.TemporaryDirectory() as folder:
            data_name, text = next(iter(TASK_DATA[name].items()))
            data = Path(folder, data_name)
            data.write_text(text)
            model = make_task(name, data)
        store.add("native-task", name, lambda path, model=model: save(model, path))  # type: ignore[misc]


HDF5_CHANGES: dict[str, Callable[[Any], None]] = {
    "chunked": lambda file: replace_dataset(file, "CNN_proj/W_proj", chunks=(1, 1), compression="gzip"),
    "narrow": lambda file: replace_dataset(file, "CNN_proj/W_proj", dtype="f2"),
    "double": lambda file: replace_dataset(file, "char_embed", dtype="f8"),
}


def write_changed(bilm: BiLM, path: Path, change: Callable[[Any], None]) -> None:
    """An ELMo model whose weights are stored in another, valid way."""
    import h5py

    elmo_write.write(bilm, path)
    (weights,) = [file for file in path.iterdir() if file.suffix == ".hdf5" and "softmax" not in file.name]
    with h5py.File(weights, "r+") as file:
        change(file)


def replace_dataset(file: Any, name: str, **options: Any) -> None:
    """A data set with other options."""
    numbers = file[name][()]
    del file[name]
    file.create_dataset(name, data=numbers, **options)


def make_task(name: str, data: Path) -> TaskModel:
    """An untrained model of a task, with vectors from characters."""
    options: dict[str, dict[str, Any]] = {
        "ner": {"hidden": (4,)},
        "coref": {"hidden": 4, "feedforward": 4, "features": 2},
        "srl": {"layers": 2, "finder": 4, "predicate_dim": 2},
        "seq2seq": {"layers": 1, "dim": 4},
    }
    one = type(task(name))(**{"hidden": 4, **options.get(name, {})})
    labels = one.learn_labels(one.read(data))
    inputs = Inputs(Embedding(characters=4))
    metadata = METADATA | ({"no_answer": {"bias": 0.5, "weights": [0.5] * 5}} if name == "qa" else {})
    return TaskModel(one, labels, inputs, one.network(inputs.sizes, labels), metadata)


def make_runs(store: SeedStore) -> None:
    """What runs leave on disk: token files, checkpoints, unfinished and finished output."""
    store.add("tokenfile", "cache", lambda path: Corpus.of(LINES, cache=path).tokens())
    store.add("checkpoint", "word2vec", make_checkpoint)
    for ending in ("hdf5", "safetensors", "parquet"):
        store.add("ledger", ending, lambda path, ending=ending: make_journal(path, ending))  # type: ignore[misc]
    for name, pooling in (("tokens.safetensors", None), ("pooled.safetensors", "mean")):
        store.add("embeddings", name, lambda path, pooling=pooling: make_embeddings(path, pooling))  # type: ignore[misc]


def make_checkpoint(folder: Path) -> None:
    """The checkpoint of an unfinished training."""
    word2vec().fit(LINES, checkpoint=folder)
    config = json.loads((folder / "config.json").read_text())
    config["state"]["step"] = 2
    del config[CHECKSUM]
    config[CHECKSUM] = sum_config(config)
    (folder / "config.json").write_text(json.dumps(config))


def make_journal(folder: Path, ending: str) -> None:
    """The unfinished output of `firth embed`."""
    folder.mkdir()
    text = folder / "text.txt"
    text.write_text(TEXT)
    calls = []

    def stop(progress: Any) -> None:
        calls.append(progress)
        if len(calls) > 1:
            raise KeyboardInterrupt

    with contextlib.suppress(KeyboardInterrupt):
        embed_file(small_vectors(), text, folder / f"o.{ending}", BulkOptions(), block_tokens=12, report=stop)
    text.unlink()
    assert has_journal(folder / f"o.{ending}")


def make_embeddings(folder: Path, pooling: Any) -> None:
    """The finished output of `firth embed`."""
    with tempfile.TemporaryDirectory() as work:
        (text := Path(work, "text.txt")).write_text("the tea\nis hot\n")
        embed_file(small_vectors(), text, folder, BulkOptions(pooling=pooling))


TEXT_READERS = ("text", "recipe", "word-list", "test-set", "log", "probe-set", "cli", "download")
STATIC = ("native-vec", "native-other", "segmenter", "vector-map", "fasttext", "word2vec", "arpa", "glove-raw")
MAKERS: dict[Callable[[SeedStore], None], tuple[str, ...]] = {  # and the readers whose inputs each makes
    make_static: STATIC,
    make_neural: ("native-bilm", "elmo", "native-task"),
    make_many_languages: ("many-languages",),
    make_runs: ("tokenfile", "checkpoint", "ledger", "embeddings"),
    make_texts: (*TEXT_READERS, *(f"task-{name}" for name in TASKS)),
    make_exchanged: ("frame", "component", "index", "pulled"),
}
