"""The command `firth`: parses the command line, calls a command, and prints errors in one line."""

import errno
import re
import sys
import warnings
from collections.abc import Sequence
from functools import partial

from cyclopts import App, ArgumentCollection, CycloptsError, Group, UnknownOptionError

import firth
from firth.errors import FirthError, MissingExtra, OptionError
from firth.lazy import read_docstring, read_literal

HELP = """Word representations: counts, n-gram models, word2vec, GloVe, fastText and ELMo.

For example:

    firth tour                              what firth does, on a small text
    firth neighbors word2vec-en tea         the nearest neighbors of a word
    firth predict ner "Elon Musk founded SpaceX."
    firth train word2vec corpus.txt --out vectors/
    firth COMMAND --help                    options and examples of a command
"""


# A command's file is imported when the command runs; its description is the first line of its docstring.
SECTIONS = {
    "Start": {"tour": "firth.cli.tour:tour"},
    "Text": {
        "tokens": "firth.cli.text:tokens",
        "vocab": "firth.cli.text:vocab",
        "phrases": "firth.cli.text:phrases",
    },
    "Train": {"train": "firth.cli.train:train"},
    "Ask": {
        "neighbors": "firth.cli.words:neighbors",
        "analogy": "firth.cli.words:analogy",
        "similarity": "firth.cli.words:similarity",
        "odd": "firth.cli.words:odd",
        "vector": "firth.cli.words:vector",
        "explain": "firth.cli.words:explain",
        "ratio": "firth.cli.words:ratio",
        "score": "firth.cli.sentences:score",
        "perplexity": "firth.cli.sentences:perplexity",
        "generate": "firth.cli.sentences:generate",
        "embed": "firth.cli.embed:embed",
        "index": "firth.cli.embed:index",
    },
    "Tasks": {
        "predict": "firth.cli.predict:predict",
        "test": "firth.cli.predict:score",
        "task": "firth.cli.task:task",
    },
    "Evaluate": {"evaluate": "firth.cli.models:evaluate", "study": "firth.cli.study:study"},
    "Models": {
        "models": "firth.cli.models:models",
        "card": "firth.cli.models:card",
        "info": "firth.cli.models:info",
        "convert": "firth.cli.models:convert",
        "quantize": "firth.cli.models:quantize",
    },
}
COMMANDS = {name: place for section in SECTIONS.values() for name, place in section.items()}
GROUPS = ("train", "task", "study")  # have commands of their own; a group's description is the HELP of its file
OPTION = re.compile(r"--?[A-Za-z][\w-]*(=.*)?", re.DOTALL)  # a number or a text such as "- Yes." is a value
FLAGS = {'errors="replace"': "--errors replace", "format='native'": "--format native"}  # of arguments in errors
EXTRAS = {"torch": "elmo", "h5py": "elmo"}  # modules that commands import, and the extras that install them


def build(line: list[str], described: bool = True) -> App:
    """The command `firth` with all its commands, for one command line. Only the list of commands needs descriptions."""
    app = App(
        name="firth",
        help=HELP,
        help_format="markdown",
        version=firth.__version__,
        result_action="return_value",
        suppress_keyboard_interrupt=False,
        config=partial(check_values, line),
    )
    app["--help"].group = app["--version"].group = Group("Options", sort_key=len(SECTIONS))
    for number, (title, commands) in enumerate(SECTIONS.items()):
        section = Group(title, sort_key=number)
        for order, (name, place) in enumerate(commands.items()):
            about = describe(name, place) if described else None
            app.command(place, name=name, group=section, sort_key=order, help=about)
    return app


def describe(name: str, place: str) -> str:
    """The help text of a command, read without importing its file."""
    return str(read_literal(f"firth.cli.{name}", "HELP")) if name in GROUPS else read_docstring(place)


def check_values(line: list[str], app: App, commands: Sequence[str], arguments: ArgumentCollection) -> None:
    """Raises an error for a value that looks like an option, unless it follows `--` on the command line.

    Some commands take texts that start with a minus sign, so that the parser takes a misspelled option for a text.
    """
    options = {one for one in line[: line.index("--") if "--" in line else None] if OPTION.fullmatch(one)}
    known = {name for argument in arguments for name in argument.names}
    for argument in arguments:
        for token in argument.tokens:
            if token.value not in options:
                continue
            if token.keyword is not None:
                raise OptionError(f"{token.keyword} needs a value, but the option {token.value} follows it")
            if token.value in known:  # it is given both as an option and as a text
                continue
            raise UnknownOptionError(token=token, argument_collection=arguments)


def run(arguments: Sequence[str] | None) -> None:
    """Parses a command line and runs its command."""
    command = list(sys.argv[1:] if arguments is None else arguments)
    if command[:1] == ["train"]:
        from firth.cli.recipe_file import expand_labels, expand_recipe_file

        command = expand_recipe_file(expand_labels(command))
    lists_commands = not command or command[0].startswith("-")
    build(command, lists_commands)(command, exit_on_error=False, print_error=False)


def show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Prints a warning in one line on standard error."""
    sys.stderr.write(f"firth: warning: {message}\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs one command. The exit code is 0 for success and 2 for an error that the user can fix."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = show_warning
            run(arguments)
    except (FirthError, CycloptsError) as error:
        message = " ".join(str(error).split())
        for argument, flag in FLAGS.items():
            message = message.replace(argument, flag)
        fail(message)
    except ModuleNotFoundError as error:
        if error.name not in EXTRAS:
            raise
        fail(str(MissingExtra("this command", EXTRAS[error.name])))
    except BrokenPipeError:  # the reader of the output, such as `head`, has closed it
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        if error.filename is None and error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        fail(": ".join(str(part) for part in (error.filename, error.strerror) if part is not None))
    except KeyboardInterrupt as stop:
        fail(": ".join(["interrupted", *map(str, stop.args)]), code=130)


def fail(message: str, code: int = 2) -> None:
    """Prints one line on standard error and exits."""
    sys.stderr.write(f"firth: {message}\n")
    sys.exit(code)
