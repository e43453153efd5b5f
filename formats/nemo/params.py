"""`responses_create_params` <-> prompt, functions and the rest.

Facts: NeMo Gym 0.7.0, `NeMoGymResponseCreateParamsNonStreaming`: a closed set of keys. Null is the
default of most; of `tools`, `tool_choice` and `parallel_tool_calls` it is refused, and is read here
as what tables leave behind. Values that pydantic would only coerce (a number in a string) are
refused: stricter than NeMo Gym, on purpose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from rlconvert.data import Data
from rlconvert.prompt import FromEnvironment, Message, Messages, Prompt, Text
from rlconvert.runtime import Function

from .items import messages_from_input
from .items_out import input_from_messages
from .jsonline import Json, Object
from .layout import PARAMS
from .noticing import Notices, bad

EXTRAS = "extras"
INSTRUCTIONS = f"/{PARAMS}/instructions"
_TOOL = f"/{PARAMS}/tools/"

Check = Callable[[Json], bool]


def _is_text(value: Json) -> bool:
    return isinstance(value, str)


def _is_flag(value: Json) -> bool:
    return isinstance(value, bool)


def _is_whole(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_object(value: Json) -> bool:
    return isinstance(value, Mapping)


def _is_texts(value: Json) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _is_text_map(value: Json) -> bool:
    return isinstance(value, Mapping) and all(isinstance(each, str) for each in value.values())


def _is_one_of(*values: Json) -> Check:
    return lambda value: isinstance(value, str) and value in values


KEYS: Mapping[str, Check] = {
    "background": _is_flag,
    "context_management": lambda value: isinstance(value, list),
    "conversation": lambda value: isinstance(value, str | Mapping),
    "include": _is_texts,
    "instructions": _is_text,
    "max_output_tokens": _is_whole,
    "max_tool_calls": _is_whole,
    "metadata": _is_text_map,
    "model": _is_text,
    "moderation": _is_object,
    "parallel_tool_calls": _is_flag,
    "previous_response_id": _is_text,
    "prompt": _is_object,
    "prompt_cache_key": _is_text,
    "prompt_cache_retention": _is_one_of("in_memory", "24h"),
    "reasoning": _is_object,
    "safety_identifier": _is_text,
    "service_tier": _is_one_of("auto", "default", "flex", "scale", "priority"),
    "store": _is_flag,
    "stream": lambda value: value is False,
    "stream_options": _is_object,
    "temperature": _is_number,
    "text": _is_object,
    "tool_choice": lambda value: value in ("none", "auto", "required") or _is_object(value),
    "tools": lambda value: isinstance(value, list),
    "top_logprobs": _is_whole,
    "top_p": _is_number,
    "truncation": _is_one_of("auto", "disabled"),
    "user": _is_text,
}
_NEVER_NULL = frozenset({"parallel_tool_calls", "tool_choice", "tools"})
_TOOL_TYPES = frozenset(
    {
        "apply_patch",
        "code_interpreter",
        "computer",
        "computer_use_preview",
        "custom",
        "file_search",
        "function",
        "image_generation",
        "local_shell",
        "mcp",
        "namespace",
        "shell",
        "tool_search",
        "web_search",
        "web_search_2025_08_26",
        "web_search_preview",
        "web_search_preview_2025_03_11",
    }
)
_FUNCTION_KEYS = frozenset({"type", "name", "description", "parameters", "strict"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a row asks of the model under training, in words of the task model."""

    prompt: Prompt
    tools: tuple[Function, ...] | None = None
    extras: Mapping[str, Data] = field(default_factory=dict)


def request_from_params(params: Object, notices: Notices) -> Request:
    """The request; `Malformed` for what NeMo Gym refuses and nobody can translate."""
    if params.get("input") is None:
        raise bad(
            "no-input",
            f"{PARAMS} has no input; a prompt template is to fill it",
            "Render it first: gym dataset render",
        )
    extras: dict[str, Data] = {}
    for key, value in params.items():
        if key in ("input", "tools") and value is not None:
            continue
        if value is None:
            if key in _NEVER_NULL or key not in KEYS:
                notices.refused(EXTRAS, f"{key} is null")
        elif key not in KEYS:
            raise bad("unknown-param", f"NeMo Gym knows no request parameter {key!r}", "Remove it")
        elif not KEYS[key](value):
            raise bad("bad-param", f"{key} has a value that NeMo Gym does not take", "Correct it")
        else:
            extras[f"/{PARAMS}/{key}"] = cast("Data", value)
    messages = messages_from_input(params["input"], notices)
    if INSTRUCTIONS in extras:
        first = Message("system", (Text(str(extras[INSTRUCTIONS])),))
        messages = (first, *messages)
    prompt: Prompt = Messages(messages) if messages else FromEnvironment()
    tools = params.get("tools")
    if tools is None:
        return Request(prompt=prompt, extras=extras)
    functions, others = _tools(tools, notices)
    return Request(prompt=prompt, tools=functions, extras=extras | others)


def _tools(tools: Json, notices: Notices) -> tuple[tuple[Function, ...], dict[str, Data]]:
    if not isinstance(tools, list):
        raise bad("bad-tool", "tools must be a list", "Correct it")
    functions: list[Function] = []
    others: dict[str, Data] = {}
    for index, tool in enumerate(tools):
        if not isinstance(tool, Mapping):
            raise bad("bad-tool", "a tool is no object", "Correct it")
        function = _function(tool, notices)
        if function is not None:
            functions.append(function)
        elif tool.get("type") in _TOOL_TYPES:
            others[f"{_TOOL}{index}"] = cast("Data", tool)
        else:
            raise bad("unknown-tool", f"NeMo Gym knows no tool of type {tool.get('type')!r}")
    return tuple(functions), others


def _function(tool: Object, notices: Notices) -> Function | None:
    """The tool as a plain function; None where it is, or has, something else."""
    if tool.get("type") != "function":
        return None
    inner = tool.get("function")
    if isinstance(inner, Mapping):
        notices.refused("runtime", "a tool in the form of chat completions")
        said = inner
    else:
        said = tool
        if missing := [key for key in ("strict", "parameters") if key not in tool]:
            notices.refused("runtime", f"a function without {' and '.join(missing)}")
    name, description = said.get("name"), said.get("description")
    parameters, strict = said.get("parameters"), said.get("strict")
    plain = (
        isinstance(name, str)
        and isinstance(description, str | None)
        and isinstance(parameters, Mapping | None)
        and isinstance(strict, bool | None)
    )
    if not plain:
        raise bad("bad-tool", "a function needs a name, and an object as parameters", "Correct it")
    if any(said[key] is not None for key in said.keys() - _FUNCTION_KEYS):
        return None
    return Function(
        name=cast("str", name),
        description=cast("str | None", description),
        parameters=cast("Mapping[str, Data] | None", parameters),
        strict=cast("bool | None", strict),
    )


# --- back ----------------------------------------------------------------------------------------


def params_from_request(request: Request) -> dict[str, object]:
    """The parameters as NeMo Gym accepts them; `ValueError` says what they cannot hold."""
    messages = request.prompt.messages if isinstance(request.prompt, Messages) else ()
    said = request.extras.get(INSTRUCTIONS)
    if said is not None:
        if messages[:1] != (Message("system", (Text(str(said)),)),):
            raise ValueError("the instructions are not what the first message says")
        messages = messages[1:]
    params: dict[str, object] = {"input": input_from_messages(messages)}
    others = dict(_others(request.extras))
    if request.tools is not None:
        params["tools"] = list(_woven([_flat(each) for each in request.tools], others))
    for pointer, value in request.extras.items():
        key = pointer.removeprefix(f"/{PARAMS}/")
        if key in KEYS:
            params[key] = value
    return params


def _others(extras: Mapping[str, Data]) -> Iterator[tuple[int, Data]]:
    for pointer, value in extras.items():
        if pointer.startswith(_TOOL):
            yield int(pointer.removeprefix(_TOOL)), value


def _woven(functions: list[dict[str, object]], others: dict[int, Data]) -> Iterator[object]:
    """The functions, with the other tools at the places they had."""
    left = iter(functions)
    for index in range(len(functions) + len(others)):
        yield others[index] if index in others else next(left)


def _flat(function: Function) -> dict[str, object]:
    tool: dict[str, object] = {"type": "function", "name": function.name}
    if function.description is not None:
        tool["description"] = function.description
    return tool | {"parameters": function.parameters, "strict": function.strict}
