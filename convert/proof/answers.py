"""Reading what a judge's script wrote: it ran foreign code, so nothing of it is taken on trust."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from rlconvert.errors import CheckFailed


class Answer(BaseModel):
    """A JSON object of an answer; keys that nobody asks for are left aside."""

    model_config = ConfigDict(extra="ignore", frozen=True)


Kind = TypeVar("Kind", bound=Answer)


def answer(kind: type[Kind], data: bytes) -> Kind:
    """The answer in `data`; `CheckFailed` when it is not one."""
    try:
        return kind.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise CheckFailed(
            f"the judge's answer cannot be read: {first['msg']}",
            reason="garbled-verdict",
            where=where or None,
        ) from error


def answers(kind: type[Kind], lines: list[bytes]) -> list[Kind]:
    """An answer a line."""
    return [answer(kind, line) for line in lines]
