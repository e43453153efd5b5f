"""The assembler: it owns every path of an output and decides in the source's order.

Folders go to the task that names them first; a file of the whole output can be put twice only
with the same bytes; files of the source that belong to no task keep their place where no layout
needs it, else their bytes go to the sidecar.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from .archives.packing import ARCHIVED, Packing, card_rows, is_ours, section
from .card import Card, fates_section, grading_section, origin_section, render
from .data import Data
from .errors import Malformed, RlconvertError, WriteError
from .files import Blob, FileTree, Link, parents
from .format import (
    AddEntry,
    CardRows,
    CardSection,
    FieldFate,
    PutFile,
    Refusal,
    RepoNote,
    RowFile,
    Writer,
    nth_id,
)
from .model import Repo
from .provenance import SidecarWriter
from .report import Report
from .sidecar import renamed, renamed_line
from .sink import Sink
from .spool import Spool
from .staging import Staging
from .workers import Made, Result

CARD = "README.md"


class Assembler:
    """Takes what workers made, in order, and builds the output. It is the writers' `Outcome`.

    `drop_refused`: a task that one target refuses is left out of all. `packing` takes the tasks'
    folders where they are not to stand in the output as such.
    """

    def __init__(
        self,
        sink: Sink,
        report: Report,
        ways: Mapping[str, Mapping[str, Mapping[str, FieldFate]]],
        sidecar: SidecarWriter,
        *,
        drop_refused: bool = False,
        packing: Packing | None = None,
    ) -> None:
        self._sink = sink
        self._report = report
        self._ways = ways
        self._spool = Spool(f"{sink.work}/spool")
        self._row_files: dict[str, RowFile] = {}
        self._unended: set[str] = set()
        self.shared = FileTree()
        self._files: dict[str, str] = {}
        self._lists: dict[str, dict[str, Mapping[str, Data]]] = {}
        self._left_out = 0
        self._sidecar = sidecar
        self._drop_refused = drop_refused
        self._packing = packing
        self.converted = 0

    # Outcome

    @property
    def row_files(self) -> Mapping[str, RowFile]:
        """The row files of the output."""
        return self._row_files

    def items(self, name: str) -> Iterator[str]:
        """The texts of a list."""
        return self._spool.items(name)

    def has_folder(self, path: str) -> bool:
        """Whether a converted task stands at `path`."""
        return self._spool.has("folder", path)

    @property
    def complete(self) -> bool:
        """Whether every task of the source was converted."""
        return not self._left_out

    # tasks

    def skip(self, count: int) -> None:
        """So many tasks were left out because the user asked for it."""
        self._left_out += count

    def take(self, result: Result, staging: Staging) -> list[RlconvertError]:
        """Put one task in its place. What is given back says why it is not in every target."""
        ref, fault = result.ref, result.fault
        if fault is None and (other := self._spool.claim("task", ref.id)) is not None:
            fault = Malformed(
                f"two tasks are called {other!r}"
                if other == ref.id
                else f"{other!r} and {ref.id!r} are one name where case or normal form is folded",
                reason="duplicate-id",
                task=ref.id,
                file=ref.path,
                remedy="Rename one of them",
            )
        if fault is not None:
            self._report.fault(fault)
            self._discard(result, staging)
            self._left_out += 1
            return [fault]
        refused = list(result.refused)
        if refused and self._drop_refused:
            self._discard(result, staging)
            return self._refuse(ref.id, refused)
        done = 0
        placed: set[str] = set()
        ids: dict[str, str] = {}
        for made in result.made:
            taken = self._place(made, placed, staging)
            if taken is not None:
                refused.append((made.target, taken))
                continue
            done += 1
            if made.counted is not None:
                number = self._spool.count(made.target, made.counted)
                if number > 1:
                    ids[made.target] = nth_id(made.counted, number)
            self._report.way(made.target, made.way, self._ways[made.target][made.way])
            for note in made.notes:
                self._report.note(made.target, ref.id, note, way=made.way)
            for row in made.rows:
                so_far = self._row_files.get(row.path, RowFile(0, row.label))
                self._row_files[row.path] = RowFile(so_far.rows + 1, so_far.label)
                if row.at is None:
                    self._append(row.path, row.line)
                else:
                    self._spool.keep_row(row.path, row.at, row.line)
            for item in made.items:
                self._spool.add(item.list, item.text)
        self.converted += bool(done)
        if done:
            self._report.weak(ref.id, result.weaknesses)
        if done and result.line is not None:
            self._sidecar.line(renamed_line(result.line, ids) if ids else result.line)
        elif done and result.record is not None:
            self._sidecar.task(renamed(result.record, ids), result.missing or {})
        return self._refuse(ref.id, refused)

    def _append(self, path: str, line: bytes) -> None:
        if path in self._unended:
            self._sink.append(path, b"\n")
            self._unended.remove(path)
        self._sink.append(path, line)
        if not line.endswith(b"\n"):  # as the last row of a source may be
            self._unended.add(path)

    def _refuse(self, task: str, refused: list[tuple[str, Refusal]]) -> list[RlconvertError]:
        for target, refusal in refused:
            self._report.refuse(target, task, refusal)
        self._left_out += bool(refused)
        return [refusal.as_error(task, target) for target, refusal in refused]

    def _place(self, made: Made, placed: set[str], staging: Staging) -> Refusal | None:
        """Put the folders of a task; those in `placed` stand there already, for another target."""
        for path, name in made.folders:
            if path in placed:
                continue
            above = next((up for up in parents(path) if self._spool.has("folder", up)), None)
            if above is not None or self._spool.claim("folder", path) is not None:
                staging.drop(name)  # gone when two targets share it
                return Refusal(
                    reason="folder-taken",
                    problem="another task stands where its folder would go",
                    field="identity",
                    remedy="Rename one of the two tasks",
                )
            if self._packing is not None:
                self._packing.add(staging.take(name), path)
            elif path:
                self._sink.adopt(staging.take(name), path)
            else:
                self._sink.merge(staging.take(name))
            placed.add(path)
        return None

    def _discard(self, result: Result, staging: Staging) -> None:
        for made in result.made:
            for _, name in made.folders:
                staging.drop(name)

    # the rest

    def close(
        self, repo: Repo, shared: FileTree, writers: Mapping[str, Writer], intro: str
    ) -> None:
        """Put everything that belongs to no single task."""
        for path, line in self._spool.rows():
            self._append(path, line)
        self.shared = shared
        sections: list[CardSection] = []
        rows: list[CardRows] = []
        for target, writer in writers.items():
            for part in writer.close(self):
                match part:
                    case PutFile():
                        self._put(part)
                    case AddEntry():
                        self._add(part)
                    case CardSection():
                        sections.append(part)
                    case CardRows():
                        rows.append(part)
                    case RepoNote(note):
                        self._report.note(target, "", note)
        for path, entries in self._lists.items():
            text = json.dumps(list(entries.values()), indent=2, ensure_ascii=False)
            self._put(PutFile(path, Blob(text.encode() + b"\n")))
        if self._packing is not None and (places := self._packing.close()):
            self._files |= dict.fromkeys(places, "")
            if sections or CARD not in shared:
                sections.insert(0, section(tuple(writers)))
            for target in writers:
                self._report.note(target, "", ARCHIVED)
            rows = [card_rows(places)]  # viewers show rows of one kind of file or none
        if sections:
            sections.insert(0, origin_section(repo))
            sections.append(fates_section(self._report, self._ways))
            if self._report.weaknesses:
                sections.append(grading_section(self._report.weaknesses))
            card = Card(
                name=repo.name,
                licence=repo.licence,
                intro=intro,
                sections=tuple(sections),
                rows=tuple(rows),
            )
            self._put(PutFile(CARD, Blob(render(card))))
        self._put_shared(shared, writers)
        self._spool.close()

    def _put(self, part: PutFile) -> None:
        before = self._files.get(part.path)
        if before == part.blob.sha256:
            return
        if before is not None or part.path in self._row_files:
            raise WriteError(
                "two targets put different bytes at one place",
                reason="writers-disagree",
                file=part.path,
            )
        self._files[part.path] = part.blob.sha256
        self._sink.put(part.path, part.blob)

    def _add(self, part: AddEntry) -> None:
        if self._lists.setdefault(part.path, {}).setdefault(part.key, part.entry) != part.entry:
            raise WriteError(
                f"two targets add different entries called {part.key!r}",
                reason="writers-disagree",
                file=part.path,
            )

    def _put_shared(self, shared: FileTree, writers: Mapping[str, Writer]) -> None:
        for path, entry in shared:
            in_place = self._free(path, writers)
            if in_place and isinstance(entry, Link):
                self._sink.put_link(path, entry.target)
            elif in_place and not isinstance(entry, Link):
                self._sink.put(path, entry.blob, executable=entry.executable)
            self._sidecar.shared(path, entry, in_place=in_place)
        for path in shared.empty_folders:
            if self._free(path, writers) and not self._spool.has("folder", path):
                self._sink.put_folder(path)
            self._sidecar.shared(path, None, in_place=True)

    def _free(self, path: str, writers: Mapping[str, Writer]) -> bool:
        if path in self._files or path in self._row_files:
            return False
        if self._packing is not None and is_ours(path):
            return False
        if any(writer.owns(path, self) for writer in writers.values()):
            return False
        return not any(self._spool.has("folder", up) for up in (*parents(path), path))
