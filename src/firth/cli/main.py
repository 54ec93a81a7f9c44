"""The door: `firth COMMAND`. Parses, calls, and turns every failure that a person can mend into one line."""

import sys
from collections.abc import Sequence

from cyclopts import App, CycloptsError

import firth
from firth.errors import FirthError

HELP = """Word representations: counts, n-grams, vectors and their files.

    firth tour                                     see what firth does, in two minutes
    firth info vectors.bin                         what is this file?
    firth neighbors glove.6B.50d.txt tea           which words are near?
    firth train counts corpus.txt --kind svd --out vectors/
    firth COMMAND --help                           examples for every command
"""


def build() -> App:
    """The commands by name."""
    from firth.cli import models, text, words
    from firth.cli.tour import tour

    app = App(name="firth", help=HELP, help_format="markdown", version=firth.__version__)
    app.command(tour)
    app.command(train := App(name="train", help="Train a model from text.", help_format="markdown"))
    for name, command in models.TRAINERS.items():
        train.command(command, name=name)
    for command in (text.tokens, text.vocab, models.info, models.convert, models.evaluate):
        app.command(command)
    for command in (words.neighbors, words.analogy, words.similarity, words.odd, words.vector, words.explain):
        app.command(command)
    for command in (words.ratio, models.score, models.perplexity, models.generate):
        app.command(command)
    return app


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs one command. Exit code 0 is success, 2 a mistake that the message tells how to mend."""
    try:
        build()(arguments, exit_on_error=False, print_error=False)
    except (FirthError, CycloptsError) as error:
        fail(" ".join(str(error).split()))
    except BrokenPipeError:  # the reader of our output, such as `head`, has gone
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        if error.filename is None:
            raise
        fail(f"{error.filename}: {error.strerror}")
    except KeyboardInterrupt:
        fail("interrupted", code=130)


def fail(message: str, code: int = 2) -> None:
    """One line on standard error, then out."""
    sys.stderr.write(f"firth: {message}\n")
    sys.exit(code)
