"""Which named rewards a verifier writes: patterns that are known, and what must stay unknown."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlconvert.files import Blob, Entry, File, FileTree, Link, make_tree
from rlconvert.formats.taskfolder.rewards import UNNAMED, reward_keys

J = "/logs/verifier/reward.json"
T = "/logs/verifier/reward.txt"


def folder(**scripts: str | bytes) -> FileTree:
    """A tests folder; `test_sh` is `test.sh`."""
    entries: dict[str, Entry] = {}
    for name, text in scripts.items():
        data = text if isinstance(text, bytes) else text.encode()
        entries[name.replace("__", "/").replace("_", ".")] = File(Blob(data))
    return make_tree(entries)


Keys = tuple[str, ...] | None
KINDS: dict[str, Keys] = {"unknown": None, "one number": UNNAMED}


def cases(file: str) -> dict[str, tuple[str, Keys]]:
    """The sections of a text file: a name, what is expected, a script."""
    text = Path(__file__).with_name(file).read_text(encoding="utf-8")
    found: dict[str, tuple[str, Keys]] = {}
    for section in text.split("\n### ")[1:]:
        head, _, script = section.partition("\n")
        name, _, said = head.rpartition(": ")
        assert name not in found
        keys = KINDS[said] if said in KINDS else tuple(said.split(", "))
        found[name] = (script.rstrip("\n") + "\n", keys)
    return found


SHELL = cases("reward_scripts.txt")
PYTHON = cases("reward_programs.txt")
DUMP = "import json\n"


@pytest.mark.parametrize("name", SHELL)
def test_shell(name: str) -> None:
    script, expected = SHELL[name]
    assert reward_keys(folder(test_sh=f"#!/bin/bash\n{script}\n")) == expected


@pytest.mark.parametrize("name", PYTHON)
def test_python(name: str) -> None:
    code, expected = PYTHON[name]
    assert (
        reward_keys(folder(test_sh="python3 /tests/score.py\n", score_py=DUMP + code)) == expected
    )


def test_programs_that_python_does_not_take() -> None:
    for code in ("x = " + "(" * 5000 + "'reward.json'" + ")" * 5000, "x = 'reward.json\0'"):
        assert reward_keys(folder(score_py=code)) is None


def test_windows_line_ends() -> None:
    script = f"echo '{{\"a\": 1}}' > {J}\r\ncat {J}\r\n"
    assert reward_keys(folder(test_sh=script)) == ("a",)


def test_a_script_in_python() -> None:
    code = f"#!/usr/bin/env python3\nimport json\njson.dump({{'a': 1}}, open('{J}', 'w'))\n"
    assert reward_keys(folder(test_sh=code)) == ("a",)
    assert reward_keys(folder(test_sh=code.replace("python3", "node"))) is None


@pytest.mark.parametrize(
    ("scripts", "expected"),
    [
        ({}, None),
        ({"a_js": f"fs.writeFileSync('{J}', JSON.stringify({{a: 1}}))"}, None),
        ({"a_rb": f"File.write('{J}', {{a: 1}}.to_json)", "b_sh": f"echo 1 > {T}"}, None),
        ({"a_bin": b"\x7fELF\0\xff" + J.encode() + b"\0"}, None),
        ({"a_bin": b"\x7fELF\0\xff" + T.encode() + b"\0"}, UNNAMED),
        ({"a_sh": f"echo 1 > {T}", "data_csv": "x," * 1000}, UNNAMED),
        ({"a_sh": f"echo '{{\"a\": 1}}' > {J}", "b_sh": f"echo '{{\"b\": 1}}' > {J}"}, None),
        ({"a_sh": f"echo '{{\"a\": 1}}' > {J}", "b_sh": f"echo '{{\"a\": 0}}' > {J}"}, ("a",)),
        ({"a_sh": f"echo 1 > {T}", "big": b"x" * ((1 << 20) - 5) + b"reward.json" + b"x"}, None),
        ({"a_sh": f"echo 1 > {T}", "big": b"x" * (3 << 20)}, UNNAMED),
        ({"big": b"x" * (3 << 20) + T.encode()}, None),
    ],
)
def test_several_files(scripts: dict[str, str | bytes], expected: tuple[str, ...] | None) -> None:
    assert reward_keys(folder(**scripts)) == expected


def test_a_large_file_speaks_across_its_pieces(tmp_path: Path) -> None:
    for before in range((1 << 20) - 12, (1 << 20) + 2):
        path = tmp_path / f"{before}"
        path.write_bytes(b"x" * before + b"reward.json" + b"x" * 100)
        status = path.stat()
        blob = Blob.of_file(str(path), status.st_size, status.st_mtime_ns)
        tree = folder(test_sh=f"echo 1 > {T}").union(FileTree({"big": File(blob)}))
        assert reward_keys(tree) is None


def test_links_are_not_read_twice() -> None:
    tree = folder(test_sh=f"echo 1 > {T}").union(FileTree({"again.sh": Link("test.sh")}))
    assert reward_keys(tree) == UNNAMED


@pytest.mark.parametrize(
    "text",
    [
        "python3 <<A\n" * 80_000 + "reward.json",
        "python3 -c '" * 80_000 + "reward.json",
        "cat > reward.json <<A\n" * 40_000,
        "cat > reward.json <<A\n" + "\n" * 900_000,
        "cat > reward.json <<A\n{" + " " * 900_000 + "}\nA\n",
        "echo '{" + "$" * 900_000 + "reward.json",
        "echo '{" * 250_000 + "reward.json",
        "echo " + "-n " * 300_000 + "reward.json",
        "X=reward.json\n" * 60_000,
        "".join(f"X{at}=/a/reward.json\n" for at in range(20_000)),
        "OUT=/logs/reward.json\n" + "$OUT" * 200_000,
        "$((" * 300_000 + "reward.json",
        'echo "{\\"a\\": ' + "$((" * 200_000 + '}" > reward.json',
        "# \n" * 300_000 + "reward.json",
        "reward." + " " * 900_000 + "reward.json",
    ],
    ids=range(15),
)
def test_hostile_scripts_take_no_time(text: str) -> None:
    started = time.monotonic()
    assert reward_keys(folder(test_sh=text)) is None
    assert time.monotonic() - started < 5


def test_hostile_programs_take_no_time() -> None:
    many = "\n".join(f"v{at} = v{at - 1} = 'reward.json'" for at in range(1, 5000))
    chain = "x0 = 'reward.json'\n" + "\n".join(f"x{at} = str(x{at - 1})" for at in range(1, 5000))
    wide = "x = 'reward.json'\n" + "print(x)\n" * 20_000
    for code in (many, chain, wide):
        started = time.monotonic()
        reward_keys(folder(score_py=code))
        assert time.monotonic() - started < 10


NAMES = st.sampled_from(["a", "b", "reward"])
KNOWN_SHELL = [script for script, keys in SHELL.values() if keys]
KNOWN_PYTHON = [code for code, keys in PYTHON.values() if keys]


@given(
    st.lists(st.sampled_from(KNOWN_SHELL), min_size=1, max_size=3),
    st.sampled_from(["", f"cp x {J}", f"./score {J}", f"echo $x > {J}", f"echo 1 > {T}"]),
)
def test_more_writers_never_make_a_longer_claim(scripts: list[str], more: str) -> None:
    alone = {reward_keys(folder(test_sh=script + "\n")) for script in scripts}
    joined = reward_keys(folder(test_sh="\n".join([*scripts, more, ""])))
    assert joined is None or alone == {joined}
    if more.startswith(("cp", "./", "echo $x")):
        assert joined is None


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
@pytest.mark.parametrize("name", [name for name, (_, keys) in SHELL.items() if keys])
def test_what_is_claimed_is_what_the_shell_writes(name: str, tmp_path: Path) -> None:
    """The known patterns, run by a real shell: they do write these names."""
    script, expected = SHELL[name]
    here = script.replace("/logs/verifier", str(tmp_path)).replace("$LOGS", str(tmp_path))
    here = here.replace("${LOGS}", str(tmp_path)).replace("\r\n", "\n")
    here = here.replace("rm -f", "ls")
    here = re.sub(r"(?m)^python3?\b", lambda _: sys.executable, here)
    given = {"x": "1", "y": "2", "correctness": "1", "performance": "0.5"}
    subprocess.run(
        ["bash", "-c", here],
        env={"PATH": os.environ["PATH"], **given},
        cwd=tmp_path,
        check=False,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=20,
    )
    written = json.loads((tmp_path / "reward.json").read_text(encoding="utf-8"))
    assert tuple(sorted(written)) == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, (_, keys) in PYTHON.items() if keys])
def test_what_is_claimed_is_what_the_program_writes(name: str, tmp_path: Path) -> None:
    code, expected = PYTHON[name]
    (tmp_path / "logs").mkdir()
    code = code.replace("/logs/verifier", str(tmp_path / "logs"))
    code = code.replace("os.makedirs(os.path.dirname(out))\n", "")
    code = code.replace("OUT.parent.mkdir()\n", "").replace("def main() -> None:", "if True:")
    start = "import json, os\nfrom pathlib import Path\nx, y = 1, 'y'\n"
    start += f"LOGS = Path({str(tmp_path / 'logs')!r})\n"
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", start + code], cwd=tmp_path, check=True, timeout=20
    )
    written = json.loads((tmp_path / "logs" / "reward.json").read_text(encoding="utf-8"))
    assert tuple(sorted(written)) == expected
