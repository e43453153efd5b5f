"""Check what rlconvert promises on a whole corpus of Harbor task sets: a line for each promise.

    scripts/corpus_check [CORPUS] [--frameworks] [--work DIR]

CORPUS is a folder of task sets (scripts/corpus lays published ones out), or one set; without it,
the sets of fixtures/harbor. --frameworks asks the real Harbor and NeMo Gym as well:

    eval "$(scripts/frameworks DIR)" && scripts/corpus_check CORPUS --frameworks

Everything is written to a temporary folder, in DIR. The exit status is 0 when no line says FAILED.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from .corpus_judges import Judges
from .corpus_promises import ROOT, Checked, Promises
from .corpus_reasons import meaning

_SHOWN = 20


def checks(promises: Promises, judges: Judges | None) -> Iterator[Checked]:
    """Every promise, the quick ones first."""
    yield promises.everything_is_accounted_for()
    if judges is not None:
        yield promises.harbor_agrees(judges)
    yield promises.nemo_is_complete()
    yield promises.there_and_back()
    yield promises.same_again()
    yield from promises.rebuilt(judges)
    yield promises.same_bytes_anywhere()
    if judges is not None:
        yield promises.harbor_loads_what_nemo_gets(judges)
        yield promises.nemo_accepts(judges)


def show(checked: Checked, seconds: float) -> None:
    """One line, and the first of what breaks the promise."""
    print(f"{'FAILED' if checked.faults else 'ok':<7}{checked.text} ({seconds:.0f} s)", flush=True)
    for fault in checked.faults[:_SHOWN]:
        print(f"         {fault}")
    if len(checked.faults) > _SHOWN:
        print(f"         and {len(checked.faults) - _SHOWN} more")


def show_reasons(promises: Promises) -> None:
    """The table of reasons for which tasks were left out."""
    left_out = promises.left_out()
    if left_out:
        print("\nleft out:")
    for reason, tasks in sorted(left_out.items(), key=lambda item: (-len(item[1]), item[0])):
        print(f"{len(tasks):>7}  {reason}: {meaning(reason)}")
        print(f"         {', '.join(tasks[:3])}{', ...' if len(tasks) > 3 else ''}")


def main() -> int:
    """Check everything; see the module's text for the arguments."""
    parser = argparse.ArgumentParser(prog="scripts/corpus_check", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("corpus", type=Path, nargs="?", default=ROOT / "fixtures" / "harbor")
    parser.add_argument("--frameworks", action="store_true")
    parser.add_argument("--work", type=Path)
    options = parser.parse_args()
    judges: Judges | None = None
    if options.frameworks:
        try:
            judges = Judges()
        except LookupError as error:
            parser.error(f'{error} is not set: eval "$(scripts/frameworks DIR)"')
    failed = 0
    with tempfile.TemporaryDirectory(prefix="corpus-", dir=options.work) as work:
        begin = time.monotonic()
        promises = Promises(options.corpus.resolve(), Path(work))
        for checked in checks(promises, judges):
            show(checked, time.monotonic() - begin)
            begin = time.monotonic()
            failed += bool(checked.faults)
        show_reasons(promises)
    if judges is None:
        print("\nnot asked: the real frameworks (--frameworks)")
    print(f"\n{failed} promises broken" if failed else "\nevery promise holds")
    return failed > 0


if __name__ == "__main__":  # worker processes import this
    sys.exit(main())
