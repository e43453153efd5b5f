"""The verbs as functions, for a framework's own push command or a notebook."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from . import inspection, pipe
from . import there_and_back as trips
from .archives.view import open_tasks, unpacked
from .format import Options, choose_format
from .hub.write import Access
from .inspection import Inspection
from .opening import open_source
from .pipe import Conversion, Progress, Settings
from .proof import checking
from .proof.checking import CheckRun
from .publishing import publish as publishing
from .publishing.publish import Asked, Published
from .running import verifying
from .running.orders import Sample
from .running.sandboxes import Question
from .running.verifying import OnRun, VerifyRun
from .selection import Selection
from .source import FolderSource, Source
from .tags import retagging
from .tags.retagging import Asking, TagRun, Wish
from .there_and_back import OnCompared, RoundTrip


@contextmanager
def _opened(source: str | Source) -> Iterator[Source]:
    if isinstance(source, str):
        with open_tasks(source) as opened:
            yield opened
    else:
        yield unpacked(source)


def convert(
    source: str | Source,
    out: str,
    *,
    to: Sequence[str],
    read_as: str | None = None,
    settings: Settings | None = None,
) -> Conversion:
    """Convert every task of `source` for the formats `to`, and put the result at `out`.

    `source` is a folder, a Hub address or a `Source`; `read_as` names its format where several
    fit. Nothing stands at `out` unless the conversion ended well; then `error` is None.
    """
    with _opened(source) as opened:
        return pipe.convert(opened, choose_format(opened, read_as), to, out, settings or Settings())


def convert_shard(
    source: str | Source,
    out: str,
    *,
    to: Sequence[str],
    shard: tuple[int, int],
    read_as: str | None = None,
    settings: Settings | None = None,
) -> int:
    """The first half of a conversion for every n-th task; `merge` makes the output of all."""
    with _opened(source) as opened:
        chosen = choose_format(opened, read_as)
        return pipe.convert_shard(opened, chosen, to, out, settings or Settings(), shard)


def merge(
    source: str | Source,
    out: str,
    shards: Sequence[str],
    *,
    read_as: str | None = None,
    settings: Settings | None = None,
) -> Conversion:
    """The output of a conversion whose shards are all there."""
    with _opened(source) as opened:
        chosen = choose_format(opened, read_as)
        return pipe.merge(opened, chosen, out, shards, settings or Settings())


def inspect(
    source: str | Source,
    *,
    read_as: str | None = None,
    options: Options | None = None,
    progress: Progress | None = None,
) -> Inspection:
    """What `source` is, and what each target would get. Nothing is written."""
    with _opened(source) as opened:
        chosen = choose_format(opened, read_as, first_of_several=True)
        return inspection.inspect(opened, chosen, options or {}, progress)


def roundtrip(
    source: str | Source,
    *,
    via: str,
    read_as: str | None = None,
    settings: Settings | None = None,
    on_compared: OnCompared | None = None,
) -> RoundTrip:
    """Convert `source` to `via` and back in a temporary folder, and compare."""
    with _opened(source) as opened, tempfile.TemporaryDirectory(prefix="rlconvert-") as work:
        chosen = choose_format(opened, read_as)
        calm = replace(settings or Settings(), provenance=True, force=False)
        return trips.roundtrip(opened, chosen, via, work, calm, on_compared)


def check(
    out: str, *, frameworks: Sequence[str] = (), using: Mapping[str, str] | None = None
) -> CheckRun:
    """Ask the real frameworks whether they load the repo in the folder `out`; `checking.check`.

    The verdicts are recorded in it, whatever they are.
    """
    return checking.check(out, frameworks=frameworks, using=using)


def publish(
    out: str,
    repo: str,
    asked: Asked | None = None,
    *,
    dry_run: bool = False,
    access: Access | None = None,
) -> Published:
    """Publish the folder `out` as the dataset `repo` (``org/name``); `publishing.publish`.

    With `dry_run` nothing is sent. `access` says which Hub and whose token, where it is not
    HF_ENDPOINT and the stored one.
    """
    return publishing.publish(out, repo, asked, dry_run=dry_run, access=access)


def tag(
    address: str,
    wish: Wish | None = None,
    *,
    asking: Asking | None = None,
    access: Access | None = None,
) -> TagRun:
    """Say which tags of frameworks the repo at `address` has earned; `retagging.tag`.

    Its card changes only by a `wish`, and the frameworks are asked only with `asking`.
    """
    return retagging.tag(address, wish, asking=asking, access=access)


def verify(
    source: str | FolderSource,
    *,
    against: str | FolderSource | None = None,
    read_as: str | None = None,
    options: Options | None = None,
    frameworks: Sequence[str] = (),
    using: Mapping[str, str] | None = None,
    question: Question | None = None,
    selection: Selection | None = None,
    sample: Sample | None = None,
    record: bool = True,
    resume: bool = False,
    on_run: OnRun | None = None,
) -> VerifyRun:
    """Run the tasks of `source`, which is running a stranger's code; `verifying.verify`.

    The verdicts are recorded in a folder of this machine, never in a repo of the Hub.
    """
    with ExitStack() as stack:

        def enter(each: str | FolderSource) -> FolderSource:
            return stack.enter_context(open_source(each)) if isinstance(each, str) else each

        opened = enter(source)
        other = None if against is None else enter(against)
        return verifying.verify(
            opened,
            against=other,
            read_as=read_as,
            options=options,
            frameworks=frameworks,
            using=using,
            question=question,
            selection=selection,
            sample=sample,
            record=record and opened.origin.repo is None,
            resume=resume,
            on_run=on_run,
        )
