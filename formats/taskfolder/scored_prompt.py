"""A prompt as the text of an instruction, with its media as files beside it.

One user message of plain text is that text. Anything else is written message by message under lines
that no message has in it. Nothing of a message is left out: what text cannot say is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rlconvert.files import Blob, Entry, File, FileTree
from rlconvert.prompt import (
    Media,
    Message,
    MessagePart,
    Messages,
    Opaque,
    Prompt,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from rlconvert.runtime import Function

FOLDER = "prompt"
"""Where the media stand in the context of the image."""
SHOWN = "/app/prompt"
"""Where they stand in the container."""

_FEWEST = 5
_SUFFIXES = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
    "audio/wav": ".wav",
    "audio/mp3": ".mp3",
    "video/mp4": ".mp4",
    "application/pdf": ".pdf",
}
_CONVERSATION = (
    "This is a conversation, message by message. Give the answer that comes after the last one."
)
_FUNCTIONS = "These functions are offered, each with the JSON Schema of its arguments:"


class CannotSay(ValueError):
    """What no text can say; `reason` is a refusal of this carrier."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


@dataclass(slots=True)
class _Shelf:
    """The media so far; their names are ours, whatever the source calls them."""

    files: dict[str, Entry] = field(default_factory=dict)

    def put(self, media: Media, blob: Blob) -> str:
        name = f"{len(self.files) + 1}{_SUFFIXES.get(media.media_type or '', '.bin')}"
        self.files[name] = File(blob)
        return f"{SHOWN}/{name}"


def instruction_from_prompt(
    prompt: Prompt, functions: Sequence[Function]
) -> tuple[str, FileTree]:  # fmt: skip
    """The text, and the media by their names in `FOLDER`; `CannotSay` where there is no such text.

    What speaks of media by their address is refused: an agent without a network cannot see them.
    """
    if not isinstance(prompt, Messages):
        raise CannotSay("prompt-not-text", "the environment speaks first")
    plain = prompt.plain
    if plain is not None and not functions:
        return plain, FileTree()
    shelf = _Shelf()
    texts = [
        (f"message {number}: {message.role}", "\n\n".join(_said(message, shelf)))
        for number, message in enumerate(prompt.messages, 1)
    ]
    if functions:
        texts.append(("functions", f"{_FUNCTIONS}\n\n{_listed(functions)}"))
    bars = "=" * _width([text for _, text in texts])
    body = "\n\n".join(f"{bars} {title} {bars}\n\n{text}" for title, text in texts)
    return f"{_CONVERSATION}\n\n{body}", FileTree(shelf.files)


def _width(texts: Sequence[str]) -> int:
    """More bars than any line begins with."""
    runs = [len(run) for text in texts for run in re.findall(r"(?m)^=+", text)]
    return max([_FEWEST, *(run + 1 for run in runs)])


def _said(message: Message, shelf: _Shelf) -> Iterator[str]:
    for part in message.parts:
        yield _text(part, shelf)


def _text(part: MessagePart, shelf: _Shelf) -> str:
    match part:
        case Text(text):
            return text
        case ToolCall(call, name, arguments):
            return f"[call {call} of {name}]\n{arguments}"
        case ToolResult(call, output):
            return f"[result of call {call}]\n{output}"
        case Reasoning(text):
            return f"[reasoning]\n{text}"
        case Media(content=str(address)):
            raise CannotSay("media-elsewhere", address[:100])
        case Media(content=Blob() as blob):
            name = "" if part.name is None else f" {json.dumps(part.name)}"
            closely = "" if part.detail in (None, "auto") else f", detail {part.detail}"
            return f"[{part.kind}{name}: {shelf.put(part, blob)}{closely}]"
        case Opaque(kind):
            raise CannotSay("prompt-not-text", f"a part of kind {kind}")
    raise TypeError(part)


def _listed(functions: Sequence[Function]) -> str:
    said = [
        {
            "name": each.name,
            "description": each.description,
            "parameters": each.parameters,
            "strict": each.strict,
        }
        for each in functions
    ]
    return json.dumps(said, indent=2, ensure_ascii=False)
