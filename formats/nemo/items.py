"""`responses_create_params.input` -> messages of the model.

Facts: NeMo Gym 0.7.0, `openai_utils` (the discriminator of input items). An untyped object it does
not recognise becomes an empty `mcp_list_tools` item without a word: a message of role `tool`, one
whose content is null. An assistant's `tool_calls`, and any other key a message does not have, it
drops. Both are noticed here, and read for what they mean where that is plain.

Not held by the model: ids and statuses of earlier items, which mean nothing to another run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, cast

from rlconvert.data import Data
from rlconvert.prompt import Message, MessagePart, Opaque, Reasoning, Text, ToolCall, ToolResult

from .jsonline import Json, Object
from .noticing import Notices, bad
from .parts import PROMPT, part_from_row
from .requests import request_types
from .rowtypes import misfit

Role = Literal["system", "developer", "user", "assistant"]
ROLES = frozenset({"system", "developer", "user", "assistant"})
UNREADABLE = "lost in NeMo Gym"
"""The kind of an opaque part that NeMo Gym takes for something else."""

_MESSAGE_KEYS = frozenset({"type", "role", "content", "id", "status"})


def messages_from_input(value: Json, notices: Notices) -> tuple[Message, ...]:
    """The conversation; `Malformed` for what NeMo Gym refuses and nobody can translate."""
    if isinstance(value, str):
        return (Message("user", (Text(value),)),)
    if not isinstance(value, list):
        raise bad("bad-input", "input must be a string or a list of items", "Write it as a list")
    found: list[Message] = []
    for item in value:
        if not isinstance(item, Mapping):
            raise bad("bad-item", "an input item is no object", "Write it as a message")
        told = notices.harmful
        found += _messages(item, notices)
        kind = item.get("type") or _kind_of_untyped(item)
        known = isinstance(kind, str) and kind in request_types().items
        if known and notices.harmful == told and (wrong := _wrong_with(str(kind), item)):
            notices.refused(PROMPT, wrong)
    return tuple(found)


def _messages(item: Object, notices: Notices) -> Iterator[Message]:
    kind = item.get("type")
    if kind is None:
        kind = _kind_of_untyped(item)
    match kind:
        case "message":
            yield from _message(item, notices)
        case "function_call":
            yield _call(item, notices)
        case "function_call_output":
            yield _output(item)
        case "reasoning":
            yield _reasoning(item, notices)
        case None:
            notices.lost(PROMPT, "an item that is neither a message nor a known type")
            yield _opaque(UNREADABLE, item)
        case str() if kind in request_types().items:
            yield _opaque(kind, item)
        case _:
            raise bad(
                "unknown-item", f"input item {kind!r} is none that NeMo Gym knows", "Remove it"
            )


def _kind_of_untyped(item: Object) -> str | None:
    """NeMo Gym's own guess, and `message` for what looks like one of chat completions."""
    if "role" in item:
        return "message"
    if "arguments" in item and "name" in item:
        return "function_call" if "call_id" in item else "mcp_call"
    if isinstance(item.get("call_id"), str) and "output" in item:
        return "function_call_output"
    if isinstance(item.get("id"), str) and isinstance(item.get("summary"), list):
        return "reasoning"
    return None


def _wrong_with(kind: str, item: Object) -> str | None:
    """What the request model of NeMo Gym does not take of an item; None: it takes all of it."""
    said = {**item, "type": kind}
    # What it corrects by itself: `_normalize_output_item_for_replay`.
    if kind == "additional_tools":
        said["role"] = "developer"
    if kind == "computer_call_output" and said.get("status") == "failed":
        del said["status"]
    return misfit(said, request_types().items[kind], kind)


def _opaque(kind: str, item: Object) -> Message:
    """The item as it is, which is how it will be written again: one that NeMo Gym takes."""
    if kind != UNREADABLE and (wrong := _wrong_with(kind, item)) is not None:
        raise bad("bad-item", f"an item that NeMo Gym does not take: {wrong}", "Correct it")
    return Message("assistant", (Opaque(kind, cast("Mapping[str, Data]", item)),))


# --- messages ------------------------------------------------------------------------------------


def _message(item: Object, notices: Notices) -> Iterator[Message]:
    role, content = item.get("role"), item.get("content")
    typed = item.get("type") == "message"
    calls = item.get("tool_calls")
    if role == "tool":
        yield _tool_message(item, typed=typed, notices=notices)
        return
    if role not in ROLES:
        if typed:
            raise bad("bad-role", f"a message of role {role!r}", f"Use one of {sorted(ROLES)}")
        notices.lost(PROMPT, f"a message of role {role!r}")
        yield _opaque(UNREADABLE, item)
        return
    if calls and role == "assistant":
        yield from _chat_calls(item, calls, notices)
        return
    if content is None:
        if typed:
            raise bad("bad-item", "a message without content", "Give it content")
        notices.lost(PROMPT, "a message whose content is null")
        yield _opaque(UNREADABLE, item)
        return
    if item.get("phase") is not None or _is_rich_output(content):
        yield _opaque("message", item)
        return
    _dropped_keys(item, notices)
    yield Message(cast("Role", role), _parts(item, content, cast("Role", role), notices))


def _parts(
    item: Object, content: Json, role: Role, notices: Notices
) -> tuple[MessagePart, ...]:  # fmt: skip
    if isinstance(content, str):
        return (Text(content),)
    if not isinstance(content, list):
        raise bad("bad-item", "content must be text or a list of parts", "Write it as text")
    kinds = [part.get("type") for part in content if isinstance(part, Mapping)]
    if "output_text" in kinds:
        _check_output(item, content, kinds, role, notices)
    return tuple(part_from_row(part, notices) for part in content)


def _check_output(
    item: Object, content: Sequence[Json], kinds: list[Json], role: Role, notices: Notices
) -> None:
    """What NeMo Gym makes of `output_text`: it belongs into an assistant's message with an id."""
    if role == "assistant" and isinstance(item.get("id"), str):
        if set(kinds) != {"output_text"} or any(map(_unannotated, content)):
            notices.refused(PROMPT, "output_text without annotations, or beside other parts")
        return
    seen = item.get("type") or kinds[0] != "output_text"
    detail = f"output_text in a message of role {role} without id"
    (notices.refused if seen else notices.lost)(PROMPT, detail)


def _unannotated(part: Json) -> bool:
    return isinstance(part, Mapping) and not isinstance(part.get("annotations"), list)


def _is_rich_output(content: Json) -> bool:
    """Whether an assistant's output has annotations, log probabilities or a refusal."""
    return isinstance(content, list) and any(
        isinstance(part, Mapping) and _is_rich_part(part) for part in content
    )


def _is_rich_part(part: Object) -> bool:
    if part.get("type") == "output_text":
        return bool(part.get("annotations") or part.get("logprobs"))
    return part.get("type") == "refusal"


def _dropped_keys(item: Object, notices: Notices) -> None:
    keys = [key for key in item if key not in _MESSAGE_KEYS and item[key] not in (None, [])]
    if keys:
        notices.unheard(PROMPT, ", ".join(sorted(keys)))


def _tool_message(item: Object, *, typed: bool, notices: Notices) -> Message:
    call, content = item.get("tool_call_id"), item.get("content")
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], Mapping):
        content = content[0].get("text")
    (notices.refused if typed else notices.lost)(PROMPT, "a message of role tool")
    if isinstance(call, str) and isinstance(content, str):
        return Message("tool", (ToolResult(call, content),))
    if typed:
        raise bad("bad-role", "a message of role 'tool'", "Write it as function_call_output")
    return _opaque(UNREADABLE, item)


def _chat_calls(item: Object, calls: Json, notices: Notices) -> Iterator[Message]:
    """What an assistant said and called, in the form of chat completions."""
    content = item.get("content")
    if item.get("type") == "message" and content is None:
        notices.refused(PROMPT, "a message without content, with tool_calls")
    else:
        notices.lost(PROMPT, "tool_calls of an assistant's message")
    made = [_chat_call(call) for call in calls] if isinstance(calls, list) else [None]
    if None in made:
        yield _opaque(UNREADABLE, item)
        return
    _dropped_keys({**item, "tool_calls": None}, notices)
    if content not in (None, "", []):
        yield Message("assistant", _parts(item, content, "assistant", notices))
    for call in made:
        if call is not None:
            yield Message("assistant", (call,))


def _chat_call(call: Json) -> ToolCall | None:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(call, Mapping) or not isinstance(function, Mapping):
        return None
    name, given = call.get("id"), function.get("name")
    arguments = function.get("arguments")
    if isinstance(arguments, Mapping):
        arguments = json.dumps(arguments)
    if isinstance(name, str) and isinstance(given, str) and isinstance(arguments, str):
        return ToolCall(name, given, arguments)
    return None


# --- calls and reasoning -------------------------------------------------------------------------


def _call(item: Object, notices: Notices) -> Message:
    call, name, arguments = item.get("call_id"), item.get("name"), item.get("arguments")
    if isinstance(arguments, Mapping):
        notices.refused(PROMPT, "arguments of a function_call as an object")
        arguments = json.dumps(arguments)
    if not (isinstance(call, str) and isinstance(name, str) and isinstance(arguments, str)):
        raise bad(
            "bad-item", "a function_call needs call_id, name and arguments, all text", "Give them"
        )
    if arguments.startswith('"') and _is_text_of_json(arguments):
        notices.odd(PROMPT, "arguments of a function_call are encoded twice")
    if item.get("namespace") is not None:
        return _opaque("function_call", item)
    return Message("assistant", (ToolCall(call, name, arguments),))


def _is_text_of_json(text: str) -> bool:
    try:
        inner = json.loads(text)
        return isinstance(inner, str) and isinstance(json.loads(inner), dict)
    except ValueError:
        return False


def _output(item: Object) -> Message:
    call, output = item.get("call_id"), item.get("output")
    if not isinstance(call, str) or not isinstance(output, str | list):
        raise bad(
            "bad-item", "a function_call_output needs call_id and output as text", "Give them"
        )
    if isinstance(output, list):
        return _opaque("function_call_output", item)
    return Message("tool", (ToolResult(call, output),))


def _reasoning(item: Object, notices: Notices) -> Message:
    summary = item.get("summary")
    if not isinstance(summary, list):
        raise bad("bad-item", "a reasoning item needs a list summary", "Give it one")
    if not isinstance(item.get("id"), str):
        notices.refused(PROMPT, "a reasoning item without id")
    texts = [part.get("text") if isinstance(part, Mapping) else None for part in summary]
    plain = [text for text in texts if isinstance(text, str)]
    if len(plain) != len(texts):
        raise bad("bad-item", "a reasoning summary is made of texts", "Correct it")
    if not plain or item.get("encrypted_content") or item.get("content"):
        return _opaque(
            "reasoning", item if isinstance(item.get("id"), str) else {**item, "id": "rs"}
        )
    return Message("assistant", tuple(Reasoning(text) for text in plain))
