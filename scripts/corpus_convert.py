"""Convert folders in a process of its own, for the check that surroundings change nothing.

    python -m scripts.corpus_convert JOBS < CONVERSIONS

CONVERSIONS is a JSON array of `[source, from, target, out]`. The exit status is 0 when each has an
output.
"""

import json
import sys

from rlconvert.format import get_format
from rlconvert.pipe import Settings, convert
from rlconvert.source import FolderSource


def main() -> int:
    """Convert one after the other."""
    settings = Settings(jobs=int(sys.argv[1]))
    for source, read_as, target, out in json.load(sys.stdin):
        error = convert(FolderSource(source), get_format(read_as), [target], out, settings).error
        if error is not None:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":  # workers are started afresh and import this
    sys.exit(main())
