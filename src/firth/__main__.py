"""The command `firth`, and `python -m firth`."""

import sys


def main() -> None:
    """Runs the command line. Ctrl-C ends it in one line, also while it is still being imported."""
    try:
        from firth.cli.main import main as run
    except KeyboardInterrupt:
        sys.stderr.write("firth: interrupted\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
