r"""NeMo Gym `math_with_judge`, the judge off: math-verify finds the answer equal to the expected.

The text must have a last `\boxed{}` that closes and holds something; then math-verify reads the
whole text (expressions and LaTeX) and `expected_answer`, as LaTeX in a box and without the `\(\)`
or `$` around it. In a process of its own, that is ended after `library_verifier_timeout_seconds`:
too long is 0, and so is any fault of the library, so that a few hard answers depend on the machine.
With `should_use_judge` what math-verify does not accept is for a judge to grade: no reward here.
"""

from __future__ import annotations

import contextlib
import io
import logging
import multiprocessing
import warnings
from functools import cache
from importlib import import_module
from typing import Any

LONGEST = 86_400
"""Seconds; no operating system waits for as long as a config may say."""


def score(params: dict[str, Any], submission: dict[str, Any]) -> dict[str, Any]:
    """The reward that the original gives the text of `submission`."""
    row, config = params["row"], params["config"]
    for key in ("question", "expected_answer"):
        if not isinstance(row.get(key), str):
            return _result("invalid task", None, f"the row has no text `{key}`")
    judged = config.get("should_use_judge", True)
    seconds = config.get("library_verifier_timeout_seconds", 10.0)
    if not isinstance(judged, bool) or not isinstance(seconds, (int, float)) or not seconds > 0:
        return _result("invalid task", None, "the config is not as it should be")
    if not _last_box(submission["text"]).strip():
        return _result("not extractable", 0.0, "no last box with an answer")
    equal = _equal(row["expected_answer"], submission["text"], float(min(seconds, LONGEST)))
    if judged and not equal:
        return _result("invalid task", None, "only a judge could grade this answer")
    return _result("graded", float(equal), "equal" if equal else "not equal, or not read in time")


def gold(params: dict[str, Any]) -> dict[str, Any] | None:
    """The expected answer in a box, where math-verify can read it."""
    expected = params["row"].get("expected_answer")
    if not isinstance(expected, str):
        return None
    answer = {"text": f"\\boxed{{{_bare(expected)}}}", "calls": []}
    return answer if score(params, answer)["reward"] == 1.0 else None


def _last_box(text: str) -> str:
    """What the last box holds; "" where it does not close, or there is none."""
    start = text.rfind("\\boxed{")
    if start < 0:
        return ""
    start += len("\\boxed{")
    depth = 1
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if not depth:
            return text[start:at]
    return ""


def _bare(expected: str) -> str:
    expected = expected.strip()
    if expected.startswith("\\(") and expected.endswith("\\)"):
        expected = expected[2:-2].strip()
    if expected.startswith("$") and expected.endswith("$") and len(expected) > 1:
        expected = expected[1:-1].strip()
    return expected


def _equal(expected: str, text: str, seconds: float) -> bool:
    """What math-verify says in that time; False where it fails."""
    _make_ready()  # here, so that the time is for the answer alone
    process = multiprocessing.get_context("fork")
    heard, said = process.Pipe(duplex=False)
    child = process.Process(target=_compare, args=(expected, text, said))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a process with threads, from Python 3.12 on
        child.start()
    said.close()
    try:
        return bool(heard.poll(seconds) and heard.recv())
    except EOFError:
        return False
    finally:
        child.kill()
        child.join()
        heard.close()


@cache
def _make_ready() -> None:
    """What math-verify makes when it first reads an answer: once, not in each process."""
    import_module("math_verify.metric")
    parser = import_module("math_verify.parser")
    parser.get_extraction_regexes((parser.ExprExtractionConfig(), parser.LatexExtractionConfig()))
    parser.latex2sympy("\\{x^2 + 1, \\sqrt{2}, \\frac{1}{2}, -3\\}")


def _compare(expected: str, text: str, said: Any) -> None:
    logging.disable(logging.CRITICAL)
    parser = import_module("math_verify.parser")
    late = import_module("math_verify.errors").TimeoutException
    metric = import_module("math_verify.metric").math_metric(
        gold_extraction_target=(parser.LatexExtractionConfig(),),
        pred_extraction_target=(parser.ExprExtractionConfig(), parser.LatexExtractionConfig()),
    )
    try:
        quiet = io.StringIO()
        with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
            reward, _ = metric([f"\\boxed{{{_bare(expected)}}}"], [text])
    except (Exception, late):  # noqa: BLE001  as the original
        reward = 0.0
    said.send(reward == 1.0)


def _result(outcome: str, reward: float | None, detail: str) -> dict[str, Any]:
    return {"outcome": outcome, "reward": reward, "parts": {}, "detail": detail[:200]}
