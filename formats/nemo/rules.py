"""Rows whose reward rule is known: a scorer of ours gives what their server gives.

Which those are is said by the manifests of the scorers: the server, the keys of its config that
decide or never do, the fields of a row that it reads. A config that says more stays NeMo Gym's own,
and so does a row that needs what no scorer has, such as a judge model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from rlconvert.data import Data
from rlconvert.errors import RlconvertError
from rlconvert.formats.scorers import Scorer, scorer, scorer_for_server
from rlconvert.model import Task
from rlconvert.reward import Hosted, Scored, Submission

from .jsonline import Json, beyond_64_bits
from .layout import PARAMS
from .rowconfig import SIMPLE_AGENT
from .servers import VERSION

FRAMEWORK = "nemo"
_ORIGIN = "nemo-gym"
_SERVER = "server"


@dataclass(frozen=True, slots=True)
class Known:
    """The rule, and the fields of the row that it does not read, by JSON pointer."""

    rule: Scored
    others: Mapping[str, Data]


def known_rule(hosted: Hosted, agents: frozenset[str], *, long: bool) -> Known | str | None:
    """The rule of a row that fits its server's schema, as data.

    A text says why there is none although the server has a scorer; None: it has none. `agents` are
    those that run the rows: of others than the simple one nobody says what they hand in. `long`:
    there are digits enough in the row for an integer beyond 64 bits.
    """
    known = scorer_for_server(hosted.component)
    if known is None or known.framework != _ORIGIN:
        return None
    if other := sorted(agents - {SIMPLE_AGENT}):
        return f"the rows are run by {', '.join(other)}, not by the {SIMPLE_AGENT}"
    if (doubt := next(_doubts(known, hosted.config), None)) is not None:
        return f"{doubt}, so that only NeMo Gym itself can grade it"
    params = known.params(hosted.config, hosted.payload)
    if refusal := known.refusal(params):
        return f"{refusal}, so that only NeMo Gym itself can grade it"
    if long and beyond_64_bits(cast("Json", params["row"])):
        return "an integer beyond 64 bits, which NeMo Gym grades as a float"
    idle = {key: hosted.config[key] for key in known.idle if key in hosted.config}
    return Known(
        Scored(
            scorer=known.id,
            params={
                _SERVER: hosted.component,
                "config": {**params["config"], **idle},
                "row": params["row"],
            },
            submission=known.submission_for(params),
        ),
        {_pointer(key): value for key, value in hosted.payload.items() if key not in known.row},
    )


def _doubts(known: Scorer, config: Mapping[str, Data]) -> Iterator[str]:
    """What a config says that the scorer cannot take for what NeMo Gym takes it for."""
    for key, value in config.items():
        if key in known.idle:
            continue
        if key not in known.config:
            yield f"its config sets {key}, which {known.id} does not know"
        elif "${" in str(value):
            yield f"its config takes {key} from elsewhere"
        elif not _is_like(value, known.config[key]):
            yield f"its config has {key} of another type"


def _is_like(value: Data, default: Data) -> bool:
    """Whether pydantic takes a value as it is, as far as the default tells its type."""
    if default is None:
        return True
    kinds = (int, float) if isinstance(default, float) else (type(default),)
    return type(value) in kinds


def _pointer(key: str) -> str:
    return "/" + key.replace("~", "~0").replace("/", "~1")


# --- back ----------------------------------------------------------------------------------------


def hosted_rule(task: Task) -> Hosted | None:
    """The rule of a task as NeMo Gym hosts it; None where it hosts no such rule."""
    rule = task.reward
    if isinstance(rule, Hosted):
        return rule if rule.framework == FRAMEWORK else None
    if not isinstance(rule, Scored) or rule.submission is Submission.FILE:
        return None
    match rule.params:
        case {"server": str(server), "config": Mapping() as config, "row": Mapping() as row}:
            others = {
                _key(pointer): value
                for pointer, value in task.extras.get(FRAMEWORK, {}).items()
                if not pointer.startswith(f"/{PARAMS}/")
            }
            return Hosted(
                framework=FRAMEWORK,
                component=server,
                version=VERSION,
                config=_stated(rule.scorer, config),
                payload={**others, **row},
            )
    return None


def _stated(name: str, config: Mapping[str, Data]) -> Mapping[str, Data]:
    """A config less what is the framework's default anyway."""
    try:
        defaults = scorer(name).config
    except RlconvertError:
        return config
    return {
        key: value
        for key, value in config.items()
        if key not in defaults or repr(value) != repr(defaults[key])
    }


def _key(pointer: str) -> str:
    return pointer.removeprefix("/").replace("~1", "/").replace("~0", "~")
