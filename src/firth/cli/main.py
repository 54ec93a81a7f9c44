"""The door: `firth COMMAND`. Parses, calls, and turns every failure that a person can mend into one line."""

import errno
import sys
from collections.abc import Sequence

from cyclopts import App, CycloptsError

import firth
from firth.errors import FirthError, MissingExtra

HELP = """Word representations: counts, n-grams, vectors and their files.

For example:

    firth tour                                     see what firth does, in two minutes
    firth models                                   what comes with firth?
    firth neighbors word2vec-en tea                which words are near?
    firth info vectors.bin                         what is this file?
    firth train counts corpus.txt --kind svd --out vectors/
    firth COMMAND --help                           examples for every command
"""


# Commands by name and place: a file is imported only when its command is called.
COMMANDS = {
    "tour": "firth.cli.tour:tour",
    "tokens": "firth.cli.text:tokens",
    "vocab": "firth.cli.text:vocab",
    "models": "firth.cli.models:models",
    "card": "firth.cli.models:card",
    "info": "firth.cli.models:info",
    "convert": "firth.cli.models:convert",
    "evaluate": "firth.cli.models:evaluate",
    "score": "firth.cli.sentences:score",
    "perplexity": "firth.cli.sentences:perplexity",
    "generate": "firth.cli.sentences:generate",
    "embed": "firth.cli.embed:embed",
    "index": "firth.cli.embed:index",
    "neighbors": "firth.cli.words:neighbors",
    "analogy": "firth.cli.words:analogy",
    "similarity": "firth.cli.words:similarity",
    "odd": "firth.cli.words:odd",
    "vector": "firth.cli.words:vector",
    "explain": "firth.cli.words:explain",
    "ratio": "firth.cli.words:ratio",
    "predict": "firth.cli.predict:predict",
    "test": "firth.cli.predict:examine",
    "quantize": "firth.cli.classifier:quantize",
    "phrases": "firth.cli.classifier:phrases",
}
EXTRAS = {"torch": "elmo", "h5py": "elmo"}  # modules that commands import as they begin, and what brings them


def build() -> App:
    """The command `firth` with all its commands."""
    app = App(
        name="firth",
        help=HELP,
        help_format="markdown",
        version=firth.__version__,
        result_action="return_value",
        suppress_keyboard_interrupt=False,
    )
    for name, place in COMMANDS.items():
        app.command(place, name=name)
    app.command("firth.cli.train:train", name="train")
    app.command("firth.cli.tasks:task", name="task")
    app.command("firth.cli.study:study", name="study")
    return app


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs one command. Exit code 0 is success, 2 a mistake that the message tells how to mend."""
    try:
        given = list(sys.argv[1:] if arguments is None else arguments)
        if given[:1] == ["train"]:
            from firth.cli.recipe_file import with_labels, with_recipe_file

            given = with_recipe_file(with_labels(given))
        build()(given, exit_on_error=False, print_error=False)
    except (FirthError, CycloptsError) as error:
        fail(" ".join(str(error).split()))
    except ModuleNotFoundError as error:
        if error.name not in EXTRAS:
            raise
        fail(str(MissingExtra("this command", EXTRAS[error.name])))
    except BrokenPipeError:  # the reader of our output, such as `head`, has gone
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        if error.filename is None and error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        fail(": ".join(str(part) for part in (error.filename, error.strerror) if part is not None))
    except KeyboardInterrupt as stop:
        fail(": ".join(["interrupted", *map(str, stop.args)]), code=130)


def fail(message: str, code: int = 2) -> None:
    """One line on standard error, then out."""
    sys.stderr.write(f"firth: {message}\n")
    sys.exit(code)
