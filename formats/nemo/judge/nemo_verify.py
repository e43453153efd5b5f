"""What `verify()` of NeMo Gym's own servers gives. Runs inside NeMo Gym's own Python.

    PYTHON nemo_verify.py < ASKED > ANSWERS

ASKED is a line of JSON per question: `server`, `config` (keys of the server's config), `row`, and
`text`, `calls` or both: what the model answered, as one message and as calls of functions. The
first line of ANSWERS tells `nemo-gym` (its version) and `root` (where its servers lie); then there
is a line per question, in order: `reward`, or `error` (the class) and `why`. A server is made once
for each config. A question that takes more than SECONDS ends in an error `Timeout`. Written for
nemo-gym 0.7.0.
"""

# The framework is no dependency, and not in the type checkers' environment.
# mypy: disable-error-code="import-not-found"
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import os
import signal
import sys
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any
from unittest.mock import MagicMock

SECONDS = 30
STAND_INS: dict[str, Any] = {
    "judge_model_server": {"type": "responses_api_models", "name": "none"},
    "judge_responses_create_params": {"input": []},
}
"""What configs must have, and no rule that is asked about uses."""


class Timeout(BaseException):
    """Raised by the alarm; not an `Exception`, so that no server swallows it."""


def too_long(_number: int, _frame: Any) -> None:
    """The alarm."""
    raise Timeout


class Server:
    """A server in this process, without network, model or sessions."""

    def __init__(self, name: str, config: Mapping[str, Any]) -> None:
        from nemo_gym.base_resources_server import SimpleResourcesServer
        from nemo_gym.server_utils import SESSION_ID_KEY, ServerClient

        # Some servers import what lies beside them, as they are started in their own folder.
        root = next(iter(importlib.import_module("resources_servers").__path__))
        home = f"{root}/{name}"
        sys.path.insert(0, home)
        try:
            module = importlib.import_module(f"resources_servers.{name}.app")
        finally:
            sys.path.remove(home)
        servers: list[Any] = [
            each
            for each in vars(module).values()
            if inspect.isclass(each)
            and issubclass(each, SimpleResourcesServer)
            and each.__module__ == module.__name__
            and not inspect.isabstract(each)
        ]
        kind = servers[-1].model_fields["config"].annotation
        needed = {key for key, field in kind.model_fields.items() if field.is_required()}
        stand_ins = {key: value for key, value in STAND_INS.items() if key in needed}
        settings = {"host": "127.0.0.1", "port": 0, "entrypoint": "app.py", "domain": "other"}
        self.server = servers[-1](
            config=kind(**{**settings, "name": name, **stand_ins, **config}),
            server_client=MagicMock(spec=ServerClient),
        )
        parameters = inspect.signature(servers[-1].verify, eval_str=True).parameters
        self.request = parameters["body"].annotation
        self.session = MagicMock(session={SESSION_ID_KEY: "session"})
        self.with_session = "request" in parameters

    def reward(self, row: Mapping[str, Any], response: Mapping[str, Any]) -> float:
        """As the server's route would do it: the request is validated, then graded."""
        params = row.get("responses_create_params", {"input": []})
        body = self.request.model_validate(
            {**row, "responses_create_params": params, "response": response}
        )
        arguments = (self.session, body) if self.with_session else (body,)
        return float(asyncio.run(self.server.verify(*arguments)).reward)


def response_of(question: Mapping[str, Any]) -> dict[str, Any]:
    """A model's response: calls first, and the message last."""
    output: list[dict[str, Any]] = [
        {"type": "function_call", "call_id": f"call_{number}", **call}
        for number, call in enumerate(question.get("calls") or ())
    ]
    if "text" in question:
        content = [{"type": "output_text", "text": question["text"], "annotations": []}]
        message = {"id": "m", "type": "message", "role": "assistant", "status": "completed"}
        output.append({**message, "content": content})
    return {
        "id": "r",
        "created_at": 0,
        "model": "none",
        "object": "response",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def answered(question: Mapping[str, Any], made: dict[str, Server]) -> dict[str, Any]:
    """The reward, or what was raised."""
    try:
        key = json.dumps([question["server"], question.get("config", {})], sort_keys=True)
        if key not in made:
            made[key] = Server(question["server"], question.get("config", {}))
        signal.alarm(SECONDS)
        try:
            return {"reward": made[key].reward(question["row"], response_of(question))}
        finally:
            signal.alarm(0)
    except (Exception, Timeout) as error:  # whatever it raises is the answer
        return {"error": type(error).__name__, "why": str(error)[:300]}


def main() -> None:
    """Answer every line."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # servers print
    signal.signal(signal.SIGALRM, too_long)
    questions = open(0, encoding="utf-8")  # noqa: SIM115
    from nemo_gym import PARENT_DIR

    first = {"nemo-gym": version("nemo-gym"), "root": str(PARENT_DIR)}
    print(json.dumps(first), file=answers)
    made: dict[str, Server] = {}
    for line in questions:
        print(json.dumps(answered(json.loads(line), made)), file=answers, flush=True)
    sys.exit(0)


if __name__ == "__main__":
    main()
