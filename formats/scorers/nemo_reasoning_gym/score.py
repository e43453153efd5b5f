r"""NeMo Gym `reasoning_gym`: the answer as reasoning-gym itself scores it.

`metadata.source_dataset` of the row names the dataset of reasoning-gym whose scoring is used, with
question, answer and metadata as they are. The answer is what the last `<answer>` holds, else the
first filled `\boxed{}` up to its first brace, else the whole text. A dataset that reasoning-gym
does not know gives every submission 0, and so does a scoring that fails. Scores between 0 and 1
are common, and a wrong answer may earn a little.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

TAGGED = re.compile(r"<answer>\s?(.*?)\s?</answer>", re.DOTALL)
BOXED = re.compile(r"\\boxed\{([^}]+)\}")


def score(params: dict[str, Any], submission: dict[str, Any]) -> dict[str, Any]:
    """The reward that the original gives the text of `submission`."""
    row = params["row"]
    fault = _fault(row)
    if fault:
        return _result("invalid task", None, fault)
    entry = {key: row[key] for key in ("question", "answer", "metadata")}
    answer = _answer(submission["text"])
    library = _library()
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            rule = library.get_score_answer_fn(row["metadata"]["source_dataset"])
            reward = float(rule(answer=answer, entry=entry))
    except Exception as error:  # noqa: BLE001  as the original
        return _result("graded", 0.0, f"the scoring fails: {type(error).__name__}: {error}")
    if not answer:
        return _result("not extractable", reward, "no text")
    return _result("graded", reward, f"answer {answer[:80]!r}")


def _library() -> Any:
    """reasoning-gym; it imports a solver, which is C, that it only needs to make puzzles."""
    if find_spec("pycosat") is None:
        sys.modules.setdefault("pycosat", ModuleType("pycosat"))
    return import_module("reasoning_gym")


def gold(params: dict[str, Any]) -> dict[str, Any] | None:
    """The row's own answer, where that earns the full reward."""
    if _fault(params["row"]) or params["row"]["answer"] is None:
        return None
    answer = {"text": f"<answer>{params['row']['answer']}</answer>", "calls": []}
    return answer if score(params, answer)["reward"] == 1.0 else None


def _fault(row: dict[str, Any]) -> str:
    if not isinstance(row.get("question"), str):
        return "the row has no text `question`"
    if not isinstance(row.get("answer", 0), (str, type(None))):
        return "the row has no `answer`"
    metadata = row.get("metadata")
    if not isinstance(metadata, dict):
        return "the row has no object `metadata`"
    name = metadata.get("source_dataset")
    return "" if name and isinstance(name, str) else "`metadata.source_dataset` is no name"


def _answer(text: str) -> str:
    # Nothing ends behind the last end: to look on would cost a square of the length.
    tagged = list(TAGGED.finditer(text, 0, text.rfind("</answer>") + len("</answer>")))
    if tagged and "</answer>" in text:
        return tagged[-1].group(1).strip()
    boxed = BOXED.search(text, 0, text.rfind("}") + 1)
    return (boxed.group(1) if boxed else text).strip()


def _result(outcome: str, reward: float | None, detail: str) -> dict[str, Any]:
    return {"outcome": outcome, "reward": reward, "parts": {}, "detail": detail[:200]}
