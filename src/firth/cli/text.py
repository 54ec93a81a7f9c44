"""Commands that work on text: tokens, word counts and phrases."""

from typing import Annotated

from cyclopts import Parameter
from rich.text import Text

from firth.cli.flags import CorpusOptions, Force, Inputs, Json, Model, Out, Read
from firth.cli.loading import load_as
from firth.cli.output import answer, json_line
from firth.cli.overwrite import check_outputs
from firth.files import write_bytes
from firth.models.phrases import PhraseModel
from firth.show import terminal


def tokens(
    inputs: Inputs,
    /,
    *,
    out: Out = "-",
    reading: Read = CorpusOptions(),
    force: Force = False,
    json: Json = False,
) -> None:
    """Tokenize text: one sentence per line, tokens separated by spaces.

    With --json, every token has its start and end in the text.

    For example:

        firth tokens book.txt --out book.tok.gz
        echo "I can't go." | firth tokens -
        firth tokens articles.jsonl --field text --json
    """
    check_outputs([out], inputs, force=force, models=False)
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
    out: Annotated[str | None, Parameter(help="Output file for all words and their counts.")] = None,
    min_count: Annotated[int, Parameter(help="Ignore words that occur less often.")] = 1,
    top: Annotated[int, Parameter(name=["--top", "-n"], help="Number of words to show.")] = 20,
    reading: Read = CorpusOptions(),
    force: Force = False,
    json: Json = False,
) -> None:
    """Count the words of a text.

    For example:

        firth vocab corpus/*.txt.gz --top 30
        firth vocab corpus.txt --min-count 5 --out vocab.txt
    """
    check_outputs([out], inputs, force=force, models=False)
    with terminal.progress() as report:
        token_ids = reading.corpus(inputs).tokens(report)
    vocabulary = token_ids.vocabulary
    words = vocabulary.cut(min_count)
    if out is not None:
        words.save(out)
    first = words.most_common(top)
    values = {
        "tokens": len(token_ids),
        "types": len(vocabulary),
        "kept": len(words),
        "sentences": len(token_ids.sentences) - 1,
        "documents": len(token_ids.documents) - 1,
        "words": [{"word": word, "count": count} for word, count in first],
    }
    title = f"{len(token_ids):,} tokens, {len(vocabulary):,} words, {values['sentences']:,} sentences"
    answer(values, terminal.bars(title, first, header=("word", "count")), json)


def phrases(
    model: Model,
    inputs: Inputs,
    /,
    *,
    out: Out,
    reading: Read = CorpusOptions(),
    force: Force = False,
    json: Json = False,
) -> None:
    """Join the phrases of a text with underscores, one sentence per line.

    For example:

        firth train phrases corpus.txt --out found/
        firth phrases found/ corpus.txt --out joined.txt.gz
    """
    check_outputs([out], [model, *inputs], force=force, models=False)
    phrase_model = load_as(model, PhraseModel, "phrases. Find them: firth train phrases CORPUS --out DIR")
    with terminal.progress() as report:
        phrase_model.rewrite(reading.corpus(inputs, phrase_model), out, report=report)
    answer({"out": out, "phrases": len(phrase_model)}, Text(f"{out}: {phrase_model!r}"), json)
