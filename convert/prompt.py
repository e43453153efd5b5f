"""What the agent is told first: messages, or whatever the environment says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .data import Data
from .files import Blob


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text."""

    text: str


@dataclass(frozen=True, slots=True)
class Media:
    """An image, a sound, a video or a file: its bytes, or the address they are fetched from.

    `detail` is how closely a model is to look at an image (``low``, ``high``), where that is said.
    """

    kind: Literal["image", "audio", "video", "file"]
    content: Blob | str
    media_type: str | None = None
    name: str | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call made earlier in the conversation. `arguments` is the text the model wrote."""

    call: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gave back."""

    call: str
    output: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """A model's reasoning, shown as part of the history."""

    text: str


@dataclass(frozen=True, slots=True)
class Opaque:
    """A part the model has no word for, kept as the source has it."""

    kind: str
    value: Mapping[str, Data]


MessagePart: TypeAlias = Text | Media | ToolCall | ToolResult | Reasoning | Opaque


@dataclass(frozen=True, slots=True)
class Message:
    """One message: who speaks, and the parts of what is said."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    parts: tuple[MessagePart, ...]


@dataclass(frozen=True, slots=True)
class Messages:
    """The agent is told this, in this order."""

    messages: tuple[Message, ...]

    @classmethod
    def user(cls, text: str) -> Messages:
        """One user message of plain text."""
        return cls((Message("user", (Text(text),)),))

    @property
    def plain(self) -> str | None:
        """The text, when the prompt is exactly one user message of plain text; else None."""
        match self.messages:
            case (Message(role="user", parts=(Text(text),)),):
                return text
            case _:
                return None


@dataclass(frozen=True, slots=True)
class FromEnvironment:
    """The environment speaks first: the prompt exists only once it runs."""


Prompt: TypeAlias = Messages | FromEnvironment
