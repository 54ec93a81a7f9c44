"""No code from a file ever runs, and no file outside of a model is read or replaced (SECURITY.md)."""

from __future__ import annotations

import ast
import io
import json
import pickle
import struct
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from firth.bulk.embed_file import check_target, embed_file
from firth.bulk.shards import Shards
from firth.errors import FirthError, OptionError
from firth.files import check_output
from firth.formats.registry import load, save
from firth.options import read_toml
from firth.text.corpus import Corpus
from firth.vectors.words import WordVectors

SOURCE = Path(__file__).parents[1] / "src" / "firth"
FILES = sorted(SOURCE.rglob("*.py"))
MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "yaml", "runpy"}
CALLS = {"eval", "exec", "compile", "__import__"}
METHODS = {("torch", "load"), ("torch", "hub"), ("os", "system"), ("os", "popen")}
ANYWHERE = {"extractall", "extract", "LoadLibrary"}  # whatever they are called on


def find_dangers(tree: ast.AST) -> list[str]:
    """The names of imports and calls that can run code from data, or write files by names from data."""
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.split(".")[0] in MODULES]
        elif isinstance(node, ast.ImportFrom):
            found += [node.module or ""] if (node.module or "").split(".")[0] in MODULES else []
        elif isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Name) and function.id in CALLS:
                found.append(function.id)
            elif isinstance(function, ast.Attribute):
                if is_weights_only(node):
                    continue
                owner = function.value.id if isinstance(function.value, ast.Name) else ""
                inner = function.value.attr if isinstance(function.value, ast.Attribute) else ""
                if (owner, function.attr) in METHODS or function.attr in ANYWHERE or inner == "hub":
                    found.append(f"{owner}.{function.attr}")
            for keyword in node.keywords:
                is_true = isinstance(keyword.value, ast.Constant) and keyword.value.value is True
                if keyword.arg in ("allow_pickle", "shell") and is_true:
                    found.append(f"{keyword.arg}=True")
    return found


def is_weights_only(call: ast.Call) -> bool:
    """Whether a call is torch.load(…, weights_only=True): it makes tensors, and refuses any other name in a pickle."""
    return ast.unparse(call.func) == "torch.load" and any(
        keyword.arg == "weights_only" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True
        for keyword in call.keywords
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_no_file_of_firth_can_run_code_from_data(path: Path) -> None:
    assert find_dangers(ast.parse(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "code",
    [
        *(
            "import pickle",
            "from pickle import loads",
            "eval('1')",
            "exec(text)",
            "torch.load(path)",
            "torch.load(path, weights_only=False)",
            "torch.load(path, weights_only=trusted)",
        ),
        *("np.load(p, allow_pickle=True)", "run(x, shell=True)", "archive.extractall()", "import yaml", "os.system(x)"),
        *("archive.extract(name)", "torch.hub.load(x)", "ctypes.pydll.LoadLibrary(x)"),
    ],
)
def test_the_search_finds_what_it_looks_for(code: str) -> None:
    assert find_dangers(ast.parse(code))


def test_one_file_loads_weights_and_nothing_else() -> None:
    found = [
        path.name for path in FILES if "torch.load(" in path.read_text(encoding="utf-8").replace("`torch.load(", "")
    ]
    assert found == ["many_languages.py"]  # see tests/formats/test_many_languages.py for its traps


class Trap:
    """Unpickling it makes a file."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return open, (self.path, "w")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    save(WordVectors(["tea", "rain"], np.eye(2, dtype=np.float32)), tmp_path / "model")
    return tmp_path / "model"


def test_a_pickle_is_never_opened_whatever_its_name(tmp_path: Path, model: Path) -> None:
    sprung = tmp_path / "sprung"
    trap = pickle.dumps(Trap(str(sprung)))
    for name in ("model.pkl", "vectors.bin", "vectors.txt", "model.arpa", "vectors.kv", "weights.hdf5"):
        (tmp_path / name).write_bytes(trap)
        with pytest.raises(FirthError):
            load(tmp_path / name)
    with zipfile.ZipFile(tmp_path / "torch.pt", "w") as archive:
        archive.writestr("archive/data.pkl", trap)
    with pytest.raises(FirthError):
        load(tmp_path / "torch.pt")
    for name in ("config.json", "vocab", "model.safetensors"):
        before = (model / name).read_bytes()
        (model / name).write_bytes(trap)
        with pytest.raises(FirthError):
            load(model)
        (model / name).write_bytes(before)
    (model / "more.pkl").write_bytes(trap)
    load(model)
    assert not sprung.exists()


@pytest.mark.parametrize("name", ["vocab", "model.safetensors", "config.json"])
def test_a_link_out_of_a_model_is_not_followed(tmp_path: Path, model: Path, name: str) -> None:
    (model / name).rename(tmp_path / name)
    (model / name).symlink_to(tmp_path / name)
    with pytest.raises(FirthError, match="is a link out of the folder"):
        load(model)


def test_a_link_to_a_model_and_one_inside_it_are_followed(tmp_path: Path, model: Path) -> None:
    (model / "vocab").rename(model / "words")
    (model / "vocab").symlink_to("words")
    (tmp_path / "link").symlink_to(model)
    assert load(tmp_path / "link").vocabulary.words == ("tea", "rain")


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "..", "a/b", "", "Vocab", "x" * 100])
def test_names_of_word_lists_cannot_lead_out_of_a_model(model: Path, name: str) -> None:
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps({**config, "vocabularies": [name]}))
    with pytest.raises(FirthError, match="invalid names of word lists"):
        load(model)


def test_a_link_out_of_a_folder_of_embeddings_is_not_followed(tmp_path: Path) -> None:
    text, out = tmp_path / "text", tmp_path / "out.safetensors"
    text.write_text("tea\nrain\n")
    embed_file(WordVectors(["tea", "rain"], np.eye(2, dtype=np.float32)), text, out)
    assert Shards(out)[0].tolist() == [[1, 0]]
    (out / "embeddings-00001.safetensors").rename(tmp_path / "theirs")
    (out / "embeddings-00001.safetensors").symlink_to(tmp_path / "theirs")
    with pytest.raises(FirthError, match="is a link out of the folder"):
        Shards(out)[0]


def test_members_of_a_tar_archive_write_nothing_and_links_in_it_are_not_followed(tmp_path: Path) -> None:
    pytest.importorskip("torch")  # readers of tasks
    from firth.tasks.coref.data import read_documents

    inside = tmp_path / "inside"
    inside.mkdir()
    document = b"#begin document (a); part 000\n0\tMary\t(1)\n#end document\n"
    (tmp_path / "secret.conll").write_bytes(document)
    with tarfile.open(inside / "trap.tar", "w") as archive:
        for name in ("../escape.conll", "/tmp/escape-firth.conll", "a.conll"):
            member = tarfile.TarInfo(name)
            member.size = len(document)
            archive.addfile(member, io.BytesIO(document))
        for kind, target in ((tarfile.SYMTYPE, "../secret.conll"), (tarfile.LNKTYPE, "/etc/passwd")):
            link = tarfile.TarInfo(f"link-{kind.decode()}.conll")
            link.type, link.linkname = kind, target
            archive.addfile(link)
        pipe = tarfile.TarInfo("pipe.conll")
        pipe.type = tarfile.FIFOTYPE
        archive.addfile(pipe)
    assert len(read_documents(inside / "trap.tar")) == 3  # read in memory, by their last names
    assert sorted(path.name for path in tmp_path.iterdir()) == ["inside", "secret.conll"]
    assert not Path("/tmp/escape-firth.conll").exists()


def test_a_header_of_safetensors_and_a_recipe_have_a_largest_size(model: Path, tmp_path: Path) -> None:
    path = model / "model.safetensors"
    data = path.read_bytes()
    for length in (1 << 63, 200_000_000, len(data)):
        path.write_bytes(struct.pack("<Q", length) + data[8:])
        with pytest.raises(FirthError, match="the header claims a length"):
            load(model)
    (tmp_path / "recipe.toml").write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(FirthError, match="has more than 1,048,576 bytes"):
        read_toml(tmp_path / "recipe.toml")


def test_members_of_a_zip_archive_write_nothing_outside(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    with zipfile.ZipFile(inside / "trap.zip", "w") as archive:
        for name in ("../escape.json", "/tmp/escape-firth", "options.json", "weights.hdf5", "../weights.hdf5"):
            archive.writestr(name, b"{}")
    with pytest.raises(FirthError):
        load(inside / "trap.zip")
    assert [path.name for path in tmp_path.iterdir()] == ["inside"]
    assert not Path("/tmp/escape-firth").exists()


@pytest.mark.parametrize("name", ["config.json", "index.json", "_firth.json", "model.safetensors"])
@pytest.mark.parametrize("content", ["{}", '{"library": "transformers"}', '{"model_type": "bert"}'])
def test_a_folder_of_another_tool_is_never_replaced(tmp_path: Path, name: str, content: str) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / name).write_text(content)
    (folder / "weights.bin").write_bytes(b"precious")
    for check in (check_output, lambda path: check_target(path, folder=True)):
        with pytest.raises(OptionError, match="the folder contains other files"):
            check(folder)
    with pytest.raises(OptionError, match="the folder contains other files"):
        save(WordVectors(["tea"], np.ones((1, 2), np.float32)), folder)
    assert (folder / "weights.bin").read_bytes() == b"precious"


def test_a_text_is_only_text(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("__import__('os').system('touch x') {{7*7}} ${HOME} %(x)s\n")
    assert "__import__" in " ".join(next(Corpus(tmp_path / "text").sentences()))
