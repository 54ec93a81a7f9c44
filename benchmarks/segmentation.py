"""Token F1 of word segmenters on a treebank of Universal Dependencies.

    python benchmarks/segmentation.py zh_gsd-ud-test.conllu characters icu jieba zh-words
    python benchmarks/segmentation.py th_pud-ud-test.conllu none icu pythainlp

A segmenter is a name, the folder of a trained one, `none` (the tokenizer alone), or `sentencepiece:MODEL`. Tokens are
compared by their characters, white space left out; the text of each sentence is read as it stands in the treebank.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from pathlib import Path

from firth.text.tokenize import Tokenizer


def read_treebank(path: Path) -> list[tuple[str, list[str]]]:
    """The text and the tokens of each sentence; a multiword token is one token."""
    sentences: list[tuple[str, list[str]]] = []
    text, words, inside = "", [], 0
    for line in path.read_text(encoding="utf-8").splitlines():
        fields = line.split("\t")
        if line.startswith("# text = "):
            text, words, inside = line[9:], [], 0
        elif not line and words:
            sentences.append((text, words))
            words = []
        elif len(fields) > 1 and "-" in fields[0]:
            inside = int(fields[0].split("-")[1])
            words.append(fields[1])
        elif len(fields) > 1 and "." not in fields[0] and int(fields[0]) > inside:
            words.append(fields[1])
    return sentences


def spans(words: Iterable[str]) -> set[tuple[int, int]]:
    """The places of words in their text without white space."""
    places, at = set(), 0
    for word in words:
        size = len("".join(word.split()))
        places.add((at, at + size))
        at += size
    return places


def token_f1(gold: list[list[str]], found: list[list[str]]) -> tuple[float, float, float]:
    """F1, precision and recall in percent."""
    pairs = [(spans(one), spans(other)) for one, other in zip(gold, found)]
    right = sum(len(one & other) for one, other in pairs)
    recall, precision = right / sum(len(one) for one, _ in pairs), right / sum(len(other) for _, other in pairs)
    return 200 * precision * recall / (precision + recall), 100 * precision, 100 * recall


def main() -> None:
    path, *names = sys.argv[1:]
    sentences = read_treebank(Path(path))
    for name in names:
        if name.startswith("sentencepiece:"):
            import sentencepiece

            model = sentencepiece.SentencePieceProcessor(model_file=name.partition(":")[2])
            tokenizer = Tokenizer(
                segment=lambda text, model=model: [piece.lstrip("▁") for piece in model.encode(text, out_type=str)]
            )
        else:
            tokenizer = Tokenizer(segment=None if name == "none" else name)
        tokenizer.words(sentences[0][0])  # opens dictionaries
        begin = time.process_time()
        found = [tokenizer.words(text) for text, _ in sentences]
        seconds = time.process_time() - begin
        f1, precision, recall = token_f1([words for _, words in sentences], found)
        print(f"{name:24} F1 {f1:5.1f}  precision {precision:5.1f}  recall {recall:5.1f}  {seconds:6.2f} s")


if __name__ == "__main__":
    main()
