"""Takes paths and addresses of this machine and this run out of what a framework said."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

_TEXT = 1000


class Whereabouts:
    """Words for the places of a run: the repo `out`, folders of work, and a framework's Python."""

    def __init__(self, out: str, python: str, work: str | None = None) -> None:
        places = [
            (out, "OUT"),
            (str(Path(python).parents[1]), "PYTHON"),
            (str(Path(python).resolve().parents[1]), "PYTHON"),
            (tempfile.gettempdir(), "TEMP"),
            (str(Path.home()), "HOME"),
        ]
        self._places = [each for each in places if len(each[0]) > 1]
        temp = re.escape(tempfile.gettempdir())
        here = re.escape(work) if work is not None else rf"{temp}/rlconvert-run-\w+"
        self._work = re.compile(rf"{here}(?:/scratch(?:/tmp\w+)?)?")

    def hidden(self, text: str) -> str:
        """The text without them."""
        text = self._work.sub("TEMP", text)
        for path, word in self._places:
            text = re.sub(rf"(?<![\w.-]){re.escape(path)}(?![\w.-])", word, text)
        return re.sub(r"\b0x[0-9a-f]{6,}\b", "0x...", text)

    def __call__(self, text: str) -> str:
        """The text without them, and not long."""
        text = self.hidden(text)
        return text if len(text) <= _TEXT else f"{text[: _TEXT // 2]} ... {text[-_TEXT // 2 :]}"
