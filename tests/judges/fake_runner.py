"""A runner that does what the task folders say: `PYTHON fake_runner.py ORDER TRIALS`.

It stands for a framework. A task's `behave.json` holds by agent what becomes of its attempts: the
fields of a trial each, or a word for worse. It ends with status 0 whatever happens, as frameworks
do, and counts in `runs.log` beside the task's source how often it was asked.
"""

# ruff: noqa: ANN401 - what a task folder says is any JSON

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ALIVE = "import sys, time; open(sys.argv[1], 'a').close(); time.sleep(600)"


def main(order_file: str, trials_file: str) -> None:
    """Do as told."""
    order = json.loads(Path(order_file).read_bytes())
    with Path(trials_file).open("a") as out:

        def say(line: object) -> None:
            out.write((line if isinstance(line, str) else json.dumps(line)) + "\n")
            out.flush()

        say({"versions": {"fake": "1.0"}, "python": "3"})
        for task in order["tasks"]:
            behave = json.loads(Path(task["folder"], "behave.json").read_bytes())
            if log := behave.get("log_to"):
                with Path(log).open("a") as file:
                    file.write(f"{task['task']}\n")
            for agent in task["agents"]:
                for attempt in range(order["repeat"]):
                    said = behave[agent][attempt % len(behave[agent])]
                    one(task, agent, attempt, said, say)


def one(task: Any, agent: str, attempt: int, said: Any, say: Callable[[object], None]) -> None:
    """One trial."""
    head = {"task": task["task"], "agent": agent, "attempt": attempt}
    match said:
        case "silent":
            return
        case "die":
            sys.exit(0)
        case "garbled":
            say('{"task": ')
        case "twice":
            say({**head, "rewards": {"reward": 1}, "reward": 1})
            say({**head, "rewards": {"reward": 0}, "reward": 0})
        case "stranger":
            say({**head, "task": "nobody asked", "rewards": {"reward": 1}, "reward": 1})
        case "environment":
            seen = {**os.environ, "argv": sys.argv, "cwd": str(Path.cwd())}
            say({**head, "rewards": {"reward": 1}, "reward": 1, "log": json.dumps(seen)[-4000:]})
            Path(os.environ["SEEN"]).write_text(json.dumps(seen))
        case ["fill", size]:
            Path("filled").write_bytes(b"x" * int(size))
            time.sleep(600)
        case ["sleep", file]:
            child = [sys.executable, "-c", ALIVE, f"{file}.child"]
            subprocess.Popen(child)
            subprocess.Popen(child, start_new_session=True)
            Path(file).write_text(str(os.getpid()))
            time.sleep(600)
        case dict():
            say({**head, **said})
        case reward:
            say({**head, "rewards": {"reward": reward}, "reward": reward})


if __name__ == "__main__":
    main(*sys.argv[1:])
