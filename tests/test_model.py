"""Which fields of two tasks differ."""

from __future__ import annotations

from dataclasses import replace

from rlconvert.data import Data
from rlconvert.model import Agent, Step, Task, differing_fields
from rlconvert.prompt import Messages
from rlconvert.reward import Hosted


def a_task(number: float) -> Task:
    """A task that says one number at every depth, each time a new object."""
    said: dict[str, Data] = {"a": [float(str(number)), {"b": float(str(number))}]}
    return Task(
        id="a",
        steps=(Step(name="", prompt=Messages.user("x"), min_reward=float(str(number))),),
        metadata=said,
        agent=Agent(timeout=float(str(number))),
        reward=Hosted(framework="f", component="c", version="1", config={}, payload=said),
        extras={"f": said},
    )


def test_what_is_no_number_is_the_same_as_itself() -> None:
    assert not differing_fields(a_task(float("nan")), a_task(float("nan")))


def test_every_difference_is_named() -> None:
    changed = {"agent", "extras", "metadata", "reward", "steps.min_reward"}
    assert differing_fields(a_task(float("nan")), a_task(1.0)) == changed
    assert differing_fields(a_task(2.0), a_task(1.0)) == changed
    longer = replace(a_task(1.0), metadata={"a": [1.0]})
    assert differing_fields(longer, a_task(1.0)) == {"metadata"}
