"""`responses_create_params` <-> prompt, functions and the rest.

Facts: NeMo Gym 0.7.0, `NeMoGymResponseCreateParamsNonStreaming`: a closed set of keys. Null is the
default of most; of `tools`, `tool_choice` and `parallel_tool_calls` it is refused, and is read here
as what tables leave behind. Values that pydantic would only coerce (a number in a string) are
refused: stricter than NeMo Gym, on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
from .requests import request_types
from .rowtypes import misfit, takes_null

EXTRAS = "extras"
INSTRUCTIONS = f"/{PARAMS}/instructions"
_TOOL = f"/{PARAMS}/tools/"

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
    params_known = request_types().params
    for key, value in params.items():
        if key in ("input", "tools") and value is not None:
            continue
        kind = params_known.get(key)
        if value is None:
            if kind is None or not takes_null(kind):
                notices.refused(EXTRAS, f"{key} is null")
        elif kind is None:
            raise bad("unknown-param", f"NeMo Gym knows no request parameter {key!r}", "Remove it")
        elif (wrong := misfit(value, kind, key)) is not None:
            raise bad("bad-param", f"a value that NeMo Gym does not take: {wrong}", "Correct it")
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
        else:
            others[f"{_TOOL}{index}"] = _other_tool(tool, notices)
    return tuple(functions), others


def _other_tool(tool: Object, notices: Notices) -> Data:
    word = tool.get("type")
    kind = request_types().tools.get(word) if isinstance(word, str) else None
    if kind is None:
        raise bad("unknown-tool", f"NeMo Gym knows no tool of type {word!r}")
    # NeMo Gym reads a null there as false.
    given = {key: value for key, value in tool.items() if (key, value) != ("defer_loading", None)}
    if (wrong := misfit(given, kind, str(word))) is not None:
        raise bad("bad-tool", f"a tool that NeMo Gym does not take: {wrong}", "Correct it")
    if word == "namespace":
        notices.refused(EXTRAS, "a tool of type namespace, at which its collate breaks off")
    return cast("Data", tool)


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
        if key in request_types().params:
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
