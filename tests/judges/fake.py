"""A judge that does what it is told: `PYTHON fake.py ANSWER HOW [FILE]`. It stands for a framework.

It ends with status 0 whatever happens, as frameworks do.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

ALIVE = "import sys, time; open(sys.argv[1], 'a').close(); time.sleep(600)"


def main(answer: str, how: str, file: str = "") -> None:
    """Answer, or fail to."""
    out = Path(answer)
    match how:
        case "nothing":
            print("I could not say")  # noqa: T201
        case "empty":
            out.touch()
        case "garbled":
            out.write_text('{"tasks": [')
        case "other":
            out.write_text('{"said": "fine"}')
        case "sleep":
            child = [sys.executable, "-c", ALIVE, f"{file}.child"]
            subprocess.Popen(child)
            subprocess.Popen(child, start_new_session=True)
            Path(file).write_text(str(os.getpid()))
            time.sleep(600)
        case "memory":
            try:
                bytearray(1 << 33)
            except MemoryError:
                return
            out.write_text('{"tasks": [["one", null]]}')
        case "environment":
            seen = {**os.environ, "cwd": str(Path.cwd()), "home": os.listdir(Path.home())}  # noqa: PTH208
            out.write_text(json.dumps({"tasks": [["one", None]], "faults": [json.dumps(seen)]}))
        case _:
            out.write_text(how)


if __name__ == "__main__":
    main(*sys.argv[1:])
