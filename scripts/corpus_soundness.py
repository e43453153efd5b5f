"""What rlconvert says of the verifiers of a real corpus, and what its tasks ask of the host.

    scripts/corpus_soundness CORPUS [--all]

Prints for each reason how many tasks it is said of and the first few of them, to be looked at: each
reason is meant to be true wherever it is given. --all names every task.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from pathlib import Path

from scripts.corpus_sets import find_sets

from rlconvert.errors import RlconvertError
from rlconvert.format import get_format
from rlconvert.formats.taskfolder.host_access import host_access
from rlconvert.formats.taskfolder.soundness import REASONS, weaknesses
from rlconvert.source import FolderSource

FEW = 5


def main() -> int:
    """Count; see the module's text for the arguments."""
    parser = argparse.ArgumentParser(prog="scripts/corpus_soundness", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    said: dict[str, list[str]] = defaultdict(list)
    read = 0
    for each in find_sets(options.corpus.resolve()):
        reader = get_format("harbor").reader(FolderSource(str(each.root)), {})
        for ref in reader.refs():
            try:
                task = reader.load(ref)
                found = {one.reason: one.place for one in reversed(weaknesses(task))}
                asked = host_access(task)
            except RlconvertError:
                continue
            read += 1
            for reason, place in found.items():
                said[reason].append(f"{each.name}/{ref.id}: {place}")
            if asked:
                said["asks of the host"].append(f"{each.name}/{ref.id}: {asked[0]}")
    print(f"{read:,} tasks read")
    for reason in (*REASONS, "asks of the host"):
        print(f"{len(said[reason]):>7,}  {reason}: {REASONS.get(reason, 'see the compose file')}")
        for line in said[reason][: None if options.all else FEW]:
            print(f"           {line}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
