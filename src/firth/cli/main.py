"""The command `firth`: parses the command line, calls a command, and prints errors in one line."""

import errno
import io
import os
import re
import sys
import warnings
from collections.abc import Sequence
from difflib import get_close_matches
from functools import partial

from cyclopts import App, ArgumentCollection, CycloptsError, Group, UnknownCommandError, UnknownOptionError

import firth
from firth.errors import FirthError, MissingExtra, OptionError
from firth.lazy import read_docstring, read_literal
from firth.show.streams import end, tell

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
    "Start": {
        "tour": "firth.cli.tour:tour",
        "explore": "firth.cli.explore:explore",
        "serve": "firth.cli.serve:serve",
    },
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
        "align": "firth.cli.align:align",
    },
    "Tasks": {
        "predict": "firth.cli.predict:predict",
        "identify": "firth.cli.predict:identify",
        "test": "firth.cli.predict:score",
        "task": "firth.cli.task:task",
    },
    "Evaluate": {
        "evaluate": "firth.cli.models:evaluate",
        "study": "firth.cli.study:study",
        "data": "firth.cli.data:data",
    },
    "Models": {
        "models": "firth.cli.models:models",
        "pull": "firth.cli.pull:pull",
        "card": "firth.cli.models:card",
        "info": "firth.cli.models:info",
        "report": "firth.cli.report:report",
        "map": "firth.cli.map:write_map",
        "convert": "firth.cli.models:convert",
        "quantize": "firth.cli.models:quantize",
    },
}
COMMANDS = {name: place for section in SECTIONS.values() for name, place in section.items()}
GROUPS = ("train", "task", "study", "data")  # have commands of their own; a group's description is the HELP of its file
OPTION = re.compile(r"--?[A-Za-z][\w-]*(=.*)?", re.DOTALL)  # a number or a text such as "- Yes." is a value
# In errors of the library: an option of Python, and what has another name on the command line.
ARGUMENT = re.compile(r"(?<![\w=?&.-])([a-z][a-z_]+)=('[^']*'|\"[^\"]*\"|\([\d., ]+\)|[\w.]*\w)")
FLAGS = {"Read them with Tokenizer(mode='whitespace')": "Use --tokens whitespace"}
COMPLETION = "--install-completion"
SHOWN = 8  # commands after an unknown one
EXTRAS = {  # modules and the extras that install them
    "torch": "elmo",
    "h5py": "elmo",
    "nicegui": "web",
    "huggingface_hub": "hub",
    **dict.fromkeys(("fastapi", "uvicorn", "orjson", "prometheus_client"), "serve"),
}


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
    app.register_install_completion_command(help="Install completion for the shell that runs this command.")
    options = Group("Options", sort_key=len(SECTIONS))
    app["--help"].group = app["--version"].group = app[COMPLETION].group = options
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
    check_characters(command)
    if command[:1] == ["train"]:
        from firth.cli.recipe_file import expand_labels, expand_recipe_file

        command = expand_recipe_file(expand_labels(command))
    lists_commands = not command or command[0].startswith("-")
    app = build(command, lists_commands)
    if COMPLETION in command[:1] and (missing := remove_missing(app)):
        warnings.warn(f"without completion, for want of an extra: {', '.join(missing)}", stacklevel=2)
    app(command, exit_on_error=False, print_error=False)


def remove_missing(app: App, path: str = "") -> list[str]:
    """Takes away the commands below an app whose extra is not installed; returns their names."""
    missing = []
    for name in [name for name in app if not name.startswith("-")]:
        try:
            missing += remove_missing(app[name], f"{path}{name} ")
        except (MissingExtra, ImportError):
            del app[name]
            missing.append(path + name)
    return missing


def check_characters(command: Sequence[str]) -> None:
    """Raises an error for an argument that no file name and no text can be. A shell passes none of these."""
    for argument in command:
        try:
            os.fsencode(argument)
        except UnicodeEncodeError as error:
            raise OptionError(f"the argument {argument!r:.60} has a character that cannot be encoded") from error
        if "\0" in argument:
            raise OptionError(f"the argument {argument!r:.60} has a null character")


def show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Prints a warning in one line on standard error."""
    tell(f"firth: warning: {name_flags(str(message))}")


def open_streams() -> None:
    """Makes standard output and standard error usable, whatever the environment.

    A closed one becomes the null device: the first file that is opened must not take its place. Characters that the
    encoding of the terminal does not have are printed as escapes, such as \\u0628.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # the file gets the lowest free number, which is that of the stream
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs one command. The exit code is 0 for success and 2 for an error that the user can fix."""
    open_streams()
    try:
        with warnings.catch_warnings():
            warnings.showwarning = show_warning
            run(arguments)
        sys.stdout.flush()
    except UnknownCommandError as error:
        fail(suggest_command(error))
    except (FirthError, CycloptsError) as error:
        fail(name_flags(" ".join(str(error).split())))
    except ModuleNotFoundError as error:
        if error.name not in EXTRAS:
            raise
        fail(str(MissingExtra("this command", EXTRAS[error.name])))
    except BrokenPipeError:  # the reader of the output, such as `head`, has closed it
        end(0)
    except OSError as error:
        if error.filename is None and error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        fail(": ".join(str(part) for part in (error.filename, error.strerror) if part is not None))
    except MemoryError as error:
        detail = str(error).rstrip(".")
        fail(f"not enough memory{detail and ': ' + detail}. Use smaller sizes, or a machine with more memory")
    except KeyboardInterrupt as stop:
        fail(": ".join(["interrupted", *map(str, stop.args)]), code=130)
    except SystemError as error:
        if not is_interrupted(error):
            raise
        fail("interrupted", code=130)  # Ctrl-C at the moment when a compiled kernel returned
    except SystemExit as stop:
        if not isinstance(stop.__context__, BrokenPipeError):
            raise
        end(0)  # rich, which prints help, has met the closed pipe


def is_interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C is the first cause of system errors: each call that returned meanwhile has raised one."""
    while isinstance(error, SystemError):
        error = error.__cause__
    return isinstance(error, KeyboardInterrupt)


def suggest_command(error: UnknownCommandError) -> str:
    """An unknown command and those that exist. The error's own text says the same, but imports the file of each."""
    [unknown, *_] = error.unused_tokens or [""]
    names = [name for name in error.app or () if not name.startswith("-")]
    meant = get_close_matches(unknown, names, n=1)
    suggestion = f'Did you mean "{meant[0]}"? ' if meant else ""
    shown = ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else ".")
    return f'Unknown command "{" ".join(unknown.split())}". {suggestion}Available commands: {shown}'


def name_flags(message: str) -> str:
    """An error of the library with options as they stand on the command line.

    >>> name_flags("Use errors='replace', or discount_fallback=(0.5, 1, 1.5)"), name_flags("Use resume=False")
    ('Use --errors replace, or --discount-fallback 0.5 1 1.5', 'Use --no-resume')
    """
    for text, flag in FLAGS.items():
        message = message.replace(text, flag)

    def spell(match: re.Match[str]) -> str:
        flag, value = match[1].replace("_", "-"), match[2]
        if value in ("True", "False"):
            return f"--{'no-' * (value == 'False')}{flag}"
        return f"--{flag} {value.strip(chr(39) + chr(34) + '()').replace(',', '')}"

    return ARGUMENT.sub(spell, message)


def fail(message: str, code: int = 2) -> None:
    """Prints one line on standard error and exits."""
    tell(f"firth: {message}")
    end(code)
