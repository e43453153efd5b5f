"""Requests, and what NeMo Gym 0.7.0 makes of them: the same table for our tests and for its own.

A verdict is `ok`, `refused` or `lost` (what the remarks say), or the reason of a fault.
"""

from __future__ import annotations

from typing import Any

TEXT = "data:text/plain;base64,YQ=="
PNG = "data:image/png;base64,iVBORw0KGgo="
TOOL: dict[str, Any] = {
    "type": "function", "name": "f", "description": "d", "strict": True,
    "parameters": {"type": "object", "properties": {}},
}  # fmt: skip
CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
CHAT_CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
OUTPUT = {"type": "function_call_output", "call_id": "c", "output": "4"}
SAID = {"type": "output_text", "text": "a", "annotations": []}


def said(*items: object) -> dict[str, Any]:
    """A request of these items."""
    return {"input": list(items)}


def user(content: object, **more: object) -> dict[str, Any]:
    """A request of one user message."""
    return said({"role": "user", "content": content, **more})


def tooled(*tools: object) -> dict[str, Any]:
    """A request with tools."""
    return {"input": "hi", "tools": list(tools)}


def without(tool: dict[str, Any], *keys: str) -> dict[str, Any]:
    """A tool less some keys."""
    return {key: value for key, value in tool.items() if key not in keys}


REQUESTS: dict[str, tuple[dict[str, Any], str]] = {
    "string": ({"input": "hi"}, "ok"),
    "empty_list": ({"input": []}, "ok"),
    "every_role": (
        said(*({"role": r, "content": r} for r in ("system", "developer", "user", "assistant"))),
        "ok",
    ),
    "typed_message": (user("x", type="message"), "ok"),
    "empty_content": (user([]), "ok"),
    "text_part": (user([{"type": "input_text", "text": "x"}]), "ok"),
    "image": (user([{"type": "input_image", "image_url": PNG, "detail": "high"}]), "ok"),
    "image_address": (
        user([{"type": "input_image", "image_url": "http://x/y", "detail": "low"}]), "ok"
    ),
    "image_id": (user([{"type": "input_image", "file_id": "f", "detail": "auto"}]), "ok"),
    "image_no_detail": (user([{"type": "input_image", "image_url": PNG}]), "refused"),
    "image_bad_detail": (
        user([{"type": "input_image", "image_url": PNG, "detail": "much"}]), "bad-part"
    ),
    "file": (
        user([{"type": "input_file", "file_data": TEXT, "filename": "a"}]), "ok"
    ),
    "file_address": (user([{"type": "input_file", "file_url": "http://x/y"}]), "ok"),
    "file_id": (user([{"type": "input_file", "file_id": "f"}]), "ok"),
    "audio": (
        user([{"type": "input_audio", "input_audio": {"data": "YQ==", "format": "wav"}}]), "refused"
    ),
    "video": (user([{"type": "input_video", "video_url": "http://x/y"}]), "ok"),
    "video_object": (user([{"type": "input_video", "video_url": {"url": "http://x"}}]), "ok"),
    "video_other_place": (user([{"type": "input_video", "video": "http://x/y"}]), "ok"),
    "video_twice": (user([{"type": "input_video", "video": "a", "video_url": "b"}]), "bad-part"),
    "video_blank": (user([{"type": "input_video", "video_url": " "}]), "bad-part"),
    "chat_text": (user([{"type": "text", "text": "x"}]), "refused"),
    "chat_image": (user([{"type": "image_url", "image_url": {"url": PNG}}]), "refused"),
    "unknown_part": (user([{"type": "input_smell", "smell": "x"}]), "unknown-part"),
    "user_output_text": (user([SAID]), "lost"),
    "call_and_output": (said(CALL, OUTPUT), "ok"),
    "call_untyped": (said(without(CALL, "type")), "ok"),
    "output_untyped": (said(without(OUTPUT, "type")), "ok"),
    "output_parts": (said({**OUTPUT, "output": [{"type": "input_text", "text": "x"}]}), "ok"),
    "output_object": (said({**OUTPUT, "output": {"a": 1}}), "bad-item"),
    "call_object": (said({**CALL, "arguments": {"a": 1}}), "refused"),
    "call_twice_encoded": (said({**CALL, "arguments": '"{\\"a\\": 1}"'}), "ok"),
    "call_no_id": (said(without(CALL, "call_id")), "bad-item"),
    "reasoning": (
        said({"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "t"}]}),
        "ok",
    ),
    "reasoning_empty": (said({"type": "reasoning", "id": "r", "summary": []}), "ok"),
    "reasoning_no_id": (said({"type": "reasoning", "summary": []}), "refused"),
    "output_message": (
        said({"type": "message", "id": "m", "role": "assistant", "status": "completed",
              "content": [SAID]}), "ok",
    ),
    "output_no_id": (said({"type": "message", "role": "assistant", "content": [SAID]}), "refused"),
    "output_untyped_no_id": (said({"role": "assistant", "content": [SAID]}), "lost"),
    "tool_role": (said({"role": "tool", "tool_call_id": "c", "content": "4"}), "lost"),
    "tool_role_no_call": (said({"role": "tool", "content": "4"}), "lost"),
    "tool_role_typed": (
        said({"type": "message", "role": "tool", "tool_call_id": "c", "content": "4"}), "refused"
    ),
    "null_content": (said({"role": "assistant", "content": None}), "lost"),
    "null_content_typed": (said({"type": "message", "role": "user", "content": None}), "bad-item"),
    "chat_calls": (
        said({"role": "assistant", "content": "hm", "tool_calls": [CHAT_CALL]}), "lost"
    ),
    "chat_calls_null": (
        said({"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]}), "lost"
    ),
    "named": (user("x", name="bob"), "lost"),
    "unknown_role": (said({"role": "narrator", "content": "x"}), "lost"),
    "unknown_role_typed": (
        said({"type": "message", "role": "narrator", "content": "x"}), "bad-role"
    ),
    "nothing": (said({}), "lost"),
    "unknown_item": (said({"type": "smell"}), "unknown-item"),
    "item_text": (said("hi"), "bad-item"),
    "input_number": ({"input": 5}, "bad-input"),
    "input_null": ({"input": None}, "no-input"),
    "no_input": ({}, "no-input"),
    "instructions": ({"input": "hi", "instructions": "be kind"}, "ok"),
    "tool": (tooled(TOOL), "ok"),
    "no_tools": (tooled(), "ok"),
    "tool_nulls": (tooled({**TOOL, "strict": None, "parameters": None}), "ok"),
    "tool_no_strict": (tooled(without(TOOL, "strict")), "refused"),
    "tool_no_parameters": (tooled(without(TOOL, "parameters")), "refused"),
    "tool_nested": (tooled({"type": "function", "function": {"name": "f"}}), "refused"),
    "tool_nameless": (tooled(without(TOOL, "name")), "bad-tool"),
    "tool_other": (tooled({"type": "web_search"}, TOOL), "ok"),
    "tool_unknown": (tooled({"type": "smell"}), "unknown-tool"),
    "tools_null": ({"input": "hi", "tools": None}, "refused"),
    "choice_null": ({"input": "hi", "tool_choice": None}, "refused"),
    "parallel_null": ({"input": "hi", "parallel_tool_calls": None}, "refused"),
    "temperature_null": ({"input": "hi", "temperature": None}, "ok"),
    "seed": ({"input": "hi", "seed": 1}, "unknown-param"),
    "seed_null": ({"input": "hi", "seed": None}, "refused"),
    "messages": ({"input": "hi", "messages": []}, "unknown-param"),
    "metadata": ({"input": "hi", "metadata": {"a": "b"}}, "ok"),
    "metadata_number": ({"input": "hi", "metadata": {"a": 1}}, "bad-param"),
    "stream": ({"input": "hi", "stream": True}, "bad-param"),
    "stream_false": ({"input": "hi", "stream": False}, "ok"),
    "temperature_text": ({"input": "hi", "temperature": "warm"}, "bad-param"),
    "truncation": ({"input": "hi", "truncation": "never"}, "bad-param"),
    "every_plain_param": (
        {"input": "hi", "temperature": 0.5, "top_p": 1, "max_output_tokens": 5, "model": "m",
         "user": "u", "store": True, "background": False, "parallel_tool_calls": False,
         "tool_choice": "required", "truncation": "auto", "service_tier": "flex"}, "ok",
    ),
}  # fmt: skip
