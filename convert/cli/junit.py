"""A JUnit report: one case per task, so that any CI shows which one failed and why."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self
from xml.sax.saxutils import escape, quoteattr

from rlconvert.errors import RlconvertError
from rlconvert.files import printable
from rlconvert.sink import writing


class JunitReport:
    """Writes cases as they come; use it as a context."""

    def __init__(self, path: str | None, suite: str) -> None:
        self._path = path
        self._suite = suite

    def __enter__(self) -> Self:
        if self._path is not None:
            with writing(self._path):
                Path(self._path).absolute().parent.mkdir(parents=True, exist_ok=True)
                self._file = open(self._path, "w", encoding="utf-8")  # noqa: PTH123
            self._file.write('<?xml version="1.0" encoding="utf-8"?>\n')
            self._file.write(f"<testsuites>\n<testsuite name={quoteattr(self._suite)}>\n")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._path is not None:
            self._file.write("</testsuite>\n</testsuites>\n")
            self._file.close()

    def case(
        self, task: str, faults: Sequence[RlconvertError], *, skipped: str | None = None
    ) -> None:
        """One task; a fault makes it a failure, `skipped` says why nothing can be said of it."""
        if self._path is None:
            return
        name = quoteattr(printable(task))
        self._file.write(f"<testcase classname={quoteattr(self._suite)} name={name}>")
        for fault in faults:
            kind, text = quoteattr(fault.reason), printable(str(fault))
            self._file.write(
                f"<failure type={kind} message={quoteattr(text)}>{escape(text)}</failure>"
            )
        if skipped is not None:
            self._file.write(f"<skipped message={quoteattr(printable(skipped))}/>")
        self._file.write("</testcase>\n")
