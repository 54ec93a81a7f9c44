"""Reading and counting by tasks gives what one process gives, to the bit, however the text is cut."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import firth
from firth.errors import ClusterError, FormatError, OptionError
from firth.runtime import Runtime
from firth.text import corpus as corpus_module
from firth.text.chunks import AT_LINES, AT_PARAGRAPHS, ByteRange, chunks, split_file

RECIPES = {
    "co-occurrence": firth.Counts(kind="co-occurrence", window=3),
    "harmonic": firth.Counts(kind="ppmi", window=4, weighting="harmonic", direction="left", min_count=3),
    "gaps": firth.Counts(kind="co-occurrence", window=2, gaps="keep", max_words=20),
    "svd": firth.Counts(kind="svd", dim=4),
    "documents": firth.Counts(kind="tf-idf"),
    "ngram": firth.Ngram(order=4),
    "pruned": firth.Ngram(order=3, prune=(0, 0, 1), min_count=2),
    "long": firth.Ngram(order=30),
    "phrases": firth.Phrases(threshold=1, delta=1, passes=3),
    "no phrases": firth.Phrases(threshold=1, delta=10**6),
}


READ = corpus_module.ShardReader.read


def read_another(reader: Any, part: Any) -> Any:
    """As on a node whose file of this name is another one."""
    Path(part.path).write_text("a copy that is out of date\n", encoding="utf-8")
    return READ(reader, part)


def read_and_change(reader: Any, part: Any) -> Any:
    """Reads, then changes the file; its size stays."""
    result = READ(reader, part)
    Path(part.path).write_bytes(Path(part.path).read_bytes().swapcase())
    return result


@pytest.mark.usefixtures("small_tasks")
class TestReading:
    @pytest.mark.parametrize(
        "options",
        [
            {},
            {"documents": "line"},
            {"tokenizer": firth.Tokenizer(mode="whitespace")},
            {"tokenizer": firth.Tokenizer(mode="whitespace", normalizer=None)},
            {"tokenizer": firth.Tokenizer(paragraphs=True)},
            {"tokenizer": firth.Tokenizer(normalizer=firth.Normalizer(fold_case=True))},
        ],
        ids=str,
    )
    def test_token_file_is_the_same(self, text: Path, fake: Any, options: dict[str, Any]) -> None:
        alone = firth.Corpus(text, **options).tokens()
        together = firth.Corpus(text, **options).tokens(runtime=fake)
        assert together.path.read_bytes() == alone.path.read_bytes()
        assert together.vocabulary == alone.vocabulary
        assert len(fake.calls) == 1

    def test_records(self, text: Path, fake: Any) -> None:
        path = text.parent / "lines.jsonl"
        alone, together = (firth.Corpus(path, field="text").tokens(runtime=one) for one in (Runtime(1), fake))
        assert together.path.read_bytes() == alone.path.read_bytes()

    def test_a_plain_file_has_many_parts(self, text: Path) -> None:
        corpus = firth.Corpus(text)
        names = [Path(part.path).name for part in corpus._split_files()]
        assert names.count("a.txt") > 5
        assert names.count("b.txt.gz") == names.count("c.txt") == 1

    def test_errors_are_those_of_one_machine(self, text: Path, fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        with open(text / "a.txt", "ab") as file:
            file.write(b"broken \xff here\n")
        monkeypatch.chdir(text.parent)
        errors = []
        for runtime in (Runtime(1), fake):
            with pytest.raises(FormatError) as caught:
                firth.Corpus("text").tokens(runtime=runtime)
            errors.append(str(caught.value))
        assert errors[0] == errors[1]
        assert errors[0].startswith("text/a.txt")

    def test_a_file_that_differs_on_a_node_is_refused(
        self, text: Path, fake: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(corpus_module.ShardReader, "read", read_another)
        with pytest.raises(ClusterError, match=r"node .*a\.txt has 27 bytes there, but [\d,]+ where the command runs"):
            firth.Corpus(text / "a.txt").tokens(runtime=fake)

    def test_a_text_that_changes_while_workers_read_it_is_an_error(
        self, text: Path, fake: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(corpus_module.ShardReader, "read", read_and_change)
        with pytest.raises(OptionError, match=r"a\.txt: the text changed while it was read"):
            firth.Corpus(text / "a.txt").tokens(runtime=fake)

    def test_texts_in_memory_are_read_here(self, fake: Any) -> None:
        assert len(firth.Corpus.of(["hot tea", "cold rain"]).tokens(runtime=fake)) == 4
        assert fake.calls == []


@pytest.mark.usefixtures("small_tasks")
@pytest.mark.parametrize("name", RECIPES)
def test_artifact_is_the_same(text: Path, fake: Any, name: str, assert_equal: Any) -> None:
    alone = RECIPES[name].fit(firth.Corpus(text), runtime=Runtime(1))
    together = RECIPES[name].fit(firth.Corpus(text), runtime=fake)
    assert_equal(alone, together)


@pytest.mark.parametrize("size", [1, 7, 64, 10**6])
def test_parts_of_a_file_are_the_file(tmp_path: Path, size: int) -> None:
    data = b"\xef\xbb\xbfhot tea\n\ncold rain\r\n\r\n" + b"x" * 50 + b"\n\n\n" + b"last"
    path = tmp_path / "a.txt"
    path.write_bytes(data)
    for cuts in (AT_LINES, AT_PARAGRAPHS):
        parts = split_file(path, cuts, size)
        assert [part.start for part in parts[1:]] == [part.stop for part in parts[:-1]]
        assert (parts[0].start, parts[-1].stop) == (0, len(data))
        assert all(data[: part.stop].endswith(cuts[0]) for part in parts[:-1])
        read = [list(chunks(path, cuts, size=16, part=part)) for part in parts]
        assert b"".join(chunk.text for some in read for chunk in some) == data[3:]
        assert [chunk.is_last for some in read for chunk in some].count(True) == 1


def test_a_part_in_the_middle_has_its_place(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\ntwo\nthree\n")
    [chunk] = chunks(path, part=ByteRange(4, 8))
    assert (chunk.text, chunk.offset, chunk.is_last, chunk.read) == (b"two\n", 4, False, 4)


def test_shards_are_large() -> None:
    assert corpus_module.SHARD >= 1 << 20


@pytest.mark.usefixtures("small_tasks")
def test_segmenter_is_the_same(tmp_path: Path, fake: Any, assert_equal: Any) -> None:
    draw = np.random.default_rng(5)
    words = ["北京", "我们", "去", "大学", "很", "大", "在", "南京", "他"]
    lines = ["".join(draw.choice(words, draw.integers(1, 9))) + "。" for _ in range(800)]
    path = tmp_path / "zh.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    alone, together = (firth.Segmenter().fit(path, runtime=one) for one in (Runtime(1), fake))
    assert_equal(alone, together)
    assert any("strings" in stage for stage in fake.calls)
