"""What scorers give: the cases by hand, gold answers, and that nothing makes them fail."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlconvert.formats.scorers import Answer, Call, Params, Scorer, scorers
from scorers.generating import NASTY, Case, generated, lacking, sound_rows, spoiled, written

EACH = [
    pytest.param(
        each,
        id=each.name,
        marks=pytest.mark.skipif(bool(lacking(each)), reason=f"needs {lacking(each)}"),
    )
    for each in scorers()
]
OUTCOMES = {"graded", "not extractable", "invalid task"}


def params_of(each: Scorer) -> list[Params]:
    """The tasks of its cases by hand."""
    return [each.params(case.config, case.row) for case, _, _ in written(each)]


def sound(each: Scorer, params: Params, answer: Answer) -> None:
    """The grade keeps the contract, and is the same the second time."""
    grade = each.rule().score(params, answer)
    assert set(grade) == {"outcome", "reward", "parts", "detail"}
    assert grade["outcome"] in OUTCOMES
    assert len(grade["detail"]) <= 500
    if grade["outcome"] == "graded":
        assert grade["reward"] is not None
    if grade["outcome"] == "invalid task":
        assert grade["reward"] is None
    if grade["reward"] is not None:
        assert type(grade["reward"]) is float
        assert math.isfinite(grade["reward"])
    assert each.rule().score(params, answer) == grade


@pytest.mark.parametrize("each", EACH)
def test_cases_by_hand(each: Scorer) -> None:
    """Each was measured with the original."""
    cases = written(each)
    for case, outcome, reward in cases:
        grade = each.rule().score(each.params(case.config, case.row), case.answer)
        assert (grade["outcome"], grade["reward"]) == (outcome, reward), case
    assert {"graded", "invalid task"} <= {outcome for _, outcome, _ in cases}
    assert len(cases) >= 15


@pytest.mark.parametrize("each", EACH)
def test_gold_earns_all(each: Scorer) -> None:
    """And an empty submission less; no gold is told for a task that cannot be graded."""
    found = 0
    for params in params_of(each):
        gold = each.rule().gold(params)
        empty = each.rule().score(params, {"text": "", "calls": []})
        if empty["outcome"] == "invalid task":
            assert gold is None
        elif gold is not None:
            found += 1
            grade = each.rule().score(params, gold)
            assert (grade["outcome"], grade["reward"]) == ("graded", 1.0)
    assert found


@pytest.mark.parametrize("each", EACH)
def test_generated_submissions_are_graded(each: Scorer) -> None:
    for case in generated(each, sound_rows(each), 300):
        sound(each, each.params(case.config, case.row), case.answer)


@pytest.mark.parametrize("each", EACH)
@given(data=st.data())
def test_no_text_makes_it_fail(each: Scorer, data: st.DataObject) -> None:
    params = data.draw(st.sampled_from(params_of(each)))
    some = st.one_of(
        st.sampled_from(NASTY),
        st.text(st.characters(codec=None)),
        st.text('\\boxed{}[]():answer ABC\n"0,.`*'),
    )
    calls = st.builds(Call, name=some, arguments=some)
    sound(
        each,
        params,
        {
            "text": data.draw(st.lists(some, max_size=4).map("".join)),
            "calls": data.draw(st.lists(calls, max_size=3)),
        },
    )


@pytest.mark.parametrize("each", EACH)
@given(seed=st.integers(0, 2**32))
def test_no_row_makes_it_fail(each: Scorer, seed: int) -> None:
    """A field that is missing or holds what it should not: graded, or said to be invalid."""
    random = Random(seed)  # noqa: S311
    params = random.choice(params_of(each))
    place = random.choice(["row", "config"])
    holder: dict[str, Any] = dict(params["row"] if place == "row" else params["config"])
    for name in random.sample(sorted(holder), min(len(holder), random.randint(1, 2))):
        holder[name] = spoiled(random, holder[name])
    made: Params = {
        "config": holder if place == "config" else params["config"],
        "row": holder if place == "row" else params["row"],
    }
    sound(each, made, {"text": random.choice(NASTY), "calls": []})
    gold = each.rule().gold(made)
    if gold is not None:
        sound(each, made, gold)


def test_the_same_seed_gives_the_same_cases() -> None:
    each = scorers()[0]
    rows = sound_rows(each)
    first: list[Case] = generated(each, rows, 50, seed=3)
    assert repr(first) == repr(generated(each, rows, 50, seed=3))
    assert repr(first) != repr(generated(each, rows, 50, seed=4))
