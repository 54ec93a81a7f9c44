"""Count the test sentences of the studies that occur in a text, such as the text that a biLM was trained on.

    python scripts/overlap.py TEXT... --out overlap.json

TEXT are files with one tokenized sentence per line. The counts are by setting of `firth.studies.tasks.settings`: those
of English, or those that `--tasks` names.
`firth study table1 --overlap overlap.json` shows them beside the scores. Case, spaces and punctuation are ignored;
sentences of fewer than five words are not counted.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from firth.progress import Progress
from firth.studies.tasks.overlap import SHORTEST, count_overlap, hash_test_part
from firth.studies.tasks.settings import ENGLISH, PERSIAN, SETTINGS


def show(now: Progress) -> None:
    """Prints every millionth line."""
    if now.done % 1_000_000 == 0:
        print(f"{now.step}: {now.done:,.0f} {now.unit}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="+", type=Path, metavar="TEXT", help="Files with one sentence per line.")
    parser.add_argument("--out", type=Path, required=True, help="The JSON file to write.")
    parser.add_argument("--tasks", nargs="+", choices=SETTINGS, default=ENGLISH, help="Names of settings.")
    args = parser.parse_args()
    persian = set(args.tasks) <= set(PERSIAN)
    if not persian and not set(args.tasks).isdisjoint(PERSIAN):
        parser.error("count the overlap of Persian and of English tasks one after the other")
    tests = {name: hash_test_part(name) for name in args.tasks}
    found = {
        "texts": [path.name for path in args.texts],
        "shortest": SHORTEST,
        "sets": count_overlap(tests, args.texts, show, persian=persian),
    }
    args.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found["sets"], indent=1))


if __name__ == "__main__":
    main()
