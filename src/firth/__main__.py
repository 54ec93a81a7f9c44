"""`python -m firth` is the command `firth`."""

from firth.cli.main import main

if __name__ == "__main__":
    main()
