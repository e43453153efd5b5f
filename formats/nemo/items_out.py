"""Messages of the model -> `responses_create_params.input`, as NeMo Gym 0.7.0 accepts it.

Ids that its request model demands of earlier items are numbered: `msg_0`, `rs_1`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rlconvert.prompt import (
    Media,
    Message,
    MessagePart,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)

from .items import UNREADABLE
from .parts import part_to_row
from .requests import request_types

_TO_NUMBER = object()


def input_from_messages(messages: Sequence[Message]) -> list[dict[str, object]]:
    """The items; `ValueError` says what no item can hold."""
    items: list[dict[str, object]] = []
    for message in messages:
        for item in _items(message):
            if item.get("id") is _TO_NUMBER:
                mark = "rs" if item["type"] == "reasoning" else "msg"
                item["id"] = f"{mark}_{len(items)}"
            items.append(item)
    return items


def _items(message: Message) -> Iterator[dict[str, object]]:
    if not message.parts:
        yield _spoken(message.role, [])
    for kind, group in groupby(message.parts, _kind):
        parts = list(group)
        if kind == "spoken":
            yield _spoken(message.role, parts)
        elif kind == "reasoning":
            texts = [part.text for part in parts if isinstance(part, Reasoning)]
            summary = [{"type": "summary_text", "text": text} for text in texts]
            yield {"type": "reasoning", "id": _TO_NUMBER, "summary": summary}
        else:
            yield from map(_item, parts)


def _kind(part: MessagePart) -> str:
    match part:
        case Reasoning():
            return "reasoning"
        case ToolCall() | ToolResult():
            return "item"
        case Opaque(kind=kind) if kind in request_types().items or kind == UNREADABLE:
            return "item"
        case _:
            return "spoken"


def _item(part: MessagePart) -> dict[str, object]:
    match part:
        case ToolCall(call, name, arguments):
            return {"type": "function_call", "call_id": call, "name": name, "arguments": arguments}
        case ToolResult(call, output):
            return {"type": "function_call_output", "call_id": call, "output": output}
        case Opaque(kind, value) if kind != UNREADABLE:
            return dict(value)
        case _:
            raise ValueError("an item that NeMo Gym takes for another")


def _spoken(role: str, parts: list[MessagePart]) -> dict[str, object]:
    if role == "tool":
        raise ValueError("a message of role tool that answers no call")
    texts = [part.text for part in parts if isinstance(part, Text)]
    if len(parts) == len(texts) == 1:
        return {"role": role, "content": texts[0]}
    if role == "assistant" and parts and len(texts) == len(parts):
        content = [{"type": "output_text", "text": text, "annotations": []} for text in texts]
        said = {"type": "message", "id": _TO_NUMBER, "role": role}
        return said | {"status": "completed", "content": content}
    spoken = [part for part in parts if isinstance(part, Text | Media | Opaque)]
    return {"role": role, "content": [part_to_row(part) for part in spoken]}
