"""Content parts of a message: NeMo Gym's (OpenAI Responses, openai 2.44.0) <-> the model's.

Accepted by NeMo Gym 0.7.0 (`openai_utils.NeMoGymResponseInputContentPart`): `input_text`,
`input_image` (with `detail`), `input_file`, `input_video`; in an assistant's output message also
`output_text` and `refusal`. `input_audio`, and parts of chat completions (`text`, `image_url`), are
refused there; here they are read for what they mean.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Literal, cast

from rlconvert.data import Data
from rlconvert.files import Blob
from rlconvert.prompt import Media, MessagePart, Opaque, Text

from .jsonline import Json, Object
from .noticing import Notices, bad

PROMPT = "steps.prompt"
DETAILS = frozenset({"low", "high", "auto", "original"})
INPUT_PARTS = frozenset({"input_text", "input_image", "input_file", "input_video"})

_DATA_URI = re.compile(r"data:([\w.+-]+/[\w.+-]+);base64,([A-Za-z0-9+/]*={0,2})")


def part_from_row(part: Json, notices: Notices) -> MessagePart:
    """One content part; `Malformed` for one that NeMo Gym refuses and nobody can translate."""
    if not isinstance(part, Mapping):
        raise bad("bad-part", "a content part is no object", "Write it as input_text")
    said = {key: value for key, value in part.items() if value is not None}
    match said.get("type"):
        case "input_text" | "output_text" | "text":
            return _text(said, notices)
        case "input_image":
            return _image(said, notices)
        case "image_url":
            return _chat_image(said, notices)
        case "input_file":
            return _file(said)
        case "input_audio":
            return _audio(said, notices)
        case "input_video":
            return _video(said)
    raise bad("unknown-part", f"content part {said.get('type')!r} is none that NeMo Gym knows")


def _text(said: Object, notices: Notices) -> MessagePart:
    text = said.get("text")
    if not isinstance(text, str):
        raise bad("bad-part", "a text part without text", "Give it text")
    kind = said["type"]
    if kind == "text":
        notices.refused(PROMPT, "content part of type text")
    elif kind == "input_text" and said.keys() - {"type", "text"}:
        return Opaque("input_text", _plain(said))
    return Text(text)


def _image(said: Object, notices: Notices) -> MessagePart:
    detail = said.get("detail")
    if detail is None:
        notices.refused(PROMPT, "input_image without detail")
    elif detail not in DETAILS:
        raise bad("bad-part", f"input_image with detail {detail!r}", "Use low, high or auto")
    url = said.get("image_url")
    if not isinstance(url, str) or said.keys() - {"type", "image_url", "detail"}:
        return Opaque("input_image", {**_plain(said), "detail": detail or "auto"})
    return _media("image", url, detail=str(detail or "auto"))


def _chat_image(said: Object, notices: Notices) -> MessagePart:
    inner = said.get("image_url")
    url = inner.get("url") if isinstance(inner, Mapping) else inner
    detail = inner.get("detail") if isinstance(inner, Mapping) else None
    if not isinstance(url, str) or detail not in {None, *DETAILS}:
        raise bad("bad-part", "an image_url part without a URL", "Write it as input_image")
    notices.refused(PROMPT, "content part of type image_url")
    return _media("image", url, detail=str(detail or "auto"))


def _file(said: Object) -> MessagePart:
    data, name = said.get("file_data"), said.get("filename")
    if isinstance(data, str) and isinstance(name, str) and len(said) == 3:
        media = _media("file", data, name=name)
        if isinstance(media.content, Blob):
            return media
    url = said.get("file_url")
    if isinstance(url, str) and len(said) == 2 and not url.startswith("data:"):
        return Media("file", url)
    return Opaque("input_file", _plain(said))


def _audio(said: Object, notices: Notices) -> MessagePart:
    notices.refused(PROMPT, "input_audio, for which its requests have no place")
    sound = said.get("input_audio")
    if not isinstance(sound, Mapping):
        raise bad("bad-part", "input_audio without data and format", "Give it both")
    data, form = sound.get("data"), sound.get("format")
    if not isinstance(data, str) or form not in {"mp3", "wav"}:
        raise bad("bad-part", "input_audio without data and format", "Give it both")
    blob = _decoded(data)
    if blob is None or len(said) != 2 or len(sound) != 2:
        return Opaque("input_audio", _plain(said))
    return Media("audio", blob, media_type=f"audio/{form}")


def _video(said: Object) -> MessagePart:
    places = [key for key in ("video_url", "video") if key in said]
    if len(places) != 1:
        raise bad("bad-part", "input_video needs one of video_url and video", "Give it one")
    source = said[places[0]]
    url = source.get("url") if isinstance(source, Mapping) else source
    if not isinstance(url, str) or not url.strip():
        raise bad("bad-part", "input_video without an address", "Give it one")
    if places[0] == "video_url" and source is url and len(said) == 2:
        return _media("video", url)
    return Opaque("input_video", _plain(said))


def _media(
    kind: Literal["image", "video", "file"], url: str, *, name: str | None = None,
    detail: str | None = None,
) -> Media:  # fmt: skip
    """Bytes where the address holds them, written exactly as we would write them."""
    found = _DATA_URI.fullmatch(url)
    blob = _decoded(found[2]) if found is not None else None
    if found is None or blob is None:
        return Media(kind, url, name=name, detail=detail)
    return Media(kind, blob, media_type=found[1], name=name, detail=detail)


def _decoded(text: str) -> Blob | None:
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return Blob(data) if base64.b64encode(data).decode() == text else None


def _plain(said: Object) -> dict[str, Data]:
    return cast("dict[str, Data]", dict(said))


# --- back ----------------------------------------------------------------------------------------


def part_to_row(part: Text | Media | Opaque) -> dict[str, object]:
    """A content part as NeMo Gym accepts it; `ValueError` says why there is none."""
    match part:
        case Text(text):
            return {"type": "input_text", "text": text}
        case Opaque(kind, value) if kind in INPUT_PARTS:
            return dict(value)
        case Media(kind="image"):
            address = _address(part)
            return {"type": "input_image", "image_url": address, "detail": part.detail or "auto"}
        case Media(kind="video"):
            return {"type": "input_video", "video_url": _address(part)}
        case Media(kind="file", content=str(url), name=None):
            return {"type": "input_file", "file_url": url}
        case Media(kind="file", name=str(name), media_type=str()):
            return {"type": "input_file", "file_data": _address(part), "filename": name}
        case Media():
            raise ValueError(f"no request can hold this {part.kind}")
        case _:
            raise ValueError(f"no message of NeMo Gym has a part of kind {part.kind!r}")


def _address(media: Media) -> str:
    if isinstance(media.content, str):
        return media.content
    if media.media_type is None:
        raise ValueError(f"the {media.kind} has no media type")
    return f"data:{media.media_type};base64,{base64.b64encode(media.content.read()).decode()}"
