"""The command line of scripts that try one random model for each seed."""
import argparse
import shutil
import tempfile
from collections import Counter
from pathlib import Path


class SeedSearch:
    """What was counted, what failed, and where models that fail are kept. `one(seed, folder)` tries a seed."""

    def __init__(self, sluice, target, keep):
        self.sluice, self.target, self.keep = Path(sluice).resolve(), target, keep
        self.counts = Counter()
        self.failures = []

    def keep_model(self, seed, folder):
        if self.keep:
            shutil.copytree(folder, Path(self.keep, str(seed)), dirs_exist_ok=True)


def search_of(description, make, seeds):
    """Tries the seeds of the command line, by default `seeds`, and prints what was counted. Returns the search.

    `make` makes a SeedSearch from a driver, a target and a folder for models that fail, or None."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("sluice")
    parser.add_argument("--seeds", default=seeds)
    parser.add_argument("--target", default="c2b8")
    parser.add_argument("--keep", help="folder for the models that fail")
    given = parser.parse_args()
    search = make(given.sluice, given.target, given.keep)
    for seed in range(*map(int, given.seeds.split(":"))):
        with tempfile.TemporaryDirectory() as folder:
            search.one(seed, Path(folder))
    for what, count in sorted(search.counts.items()):
        print(f"{count:>8} {what}")
    return search
