"""Commands that look at text before there is a model."""

from typing import Annotated

from cyclopts import Parameter

from firth.cli.flags import CorpusOptions, Inputs, Json, Out, Read
from firth.cli.output import answer, json_line
from firth.files import write_bytes
from firth.show import terminal


def tokens(
    inputs: Inputs,
    /,
    *,
    out: Out = "-",
    reading: Read = CorpusOptions(),
    json: Json = False,
) -> None:
    """Running text as tokens: one sentence a line, one space between tokens.

    For example:

        firth tokens book.txt --out book.tok.gz
        echo "I can't go." | firth tokens -
        firth tokens articles.jsonl --field text --json
    """
    corpus = reading.corpus(inputs)
    tokenizer = reading.tokenizer()
    with write_bytes(out) as file:
        for text in corpus.texts():
            if json:
                for sentence in tokenizer.sentences(text):
                    spans = [{"text": token.text, "start": token.start, "end": token.end} for token in sentence]
                    file.write(json_line(spans).encode("utf-8"))
            else:
                file.write(tokenizer.to_lines(text))


def vocab(
    inputs: Inputs,
    /,
    *,
    out: Annotated[str | None, Parameter(help="write all words with their counts to this file")] = None,
    min_count: Annotated[int, Parameter(help="leave out words that are rarer")] = 1,
    top: Annotated[int, Parameter(name=["--top", "-n"], help="how many words to show")] = 20,
    reading: Read = CorpusOptions(),
    json: Json = False,
) -> None:
    """The words of a text and how often each occurs.

    For example:

        firth vocab corpus/*.txt.gz --top 30
        firth vocab corpus.txt --min-count 5 --out vocab.txt
    """
    with terminal.progress() as report:
        found = reading.corpus(inputs).tokens(report)
    words = found.vocabulary.cut(min_count)
    if out is not None:
        words.save(out)
    first = words.most_common(top)
    values = {
        "tokens": len(found),
        "types": len(found.vocabulary),
        "kept": len(words),
        "sentences": len(found.sentences) - 1,
        "documents": len(found.documents) - 1,
        "words": [{"word": word, "count": count} for word, count in first],
    }
    title = f"{len(found):,} tokens, {len(found.vocabulary):,} words, {values['sentences']:,} sentences"
    answer(values, terminal.bars(title, first, header=("word", "count")), json)
