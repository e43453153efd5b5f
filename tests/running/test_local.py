"""Task folders on the local machine, for real. Needs `RLCONVERT_ROOTFS` and bubblewrap."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from rlconvert.formats.taskfolder.local.machine import missing_tools
from rlconvert.running.runner import ErrorKind, Head, Order, Trial

pytestmark = pytest.mark.run

ROOTFS = os.environ.get("RLCONVERT_ROOTFS", "")
FROM = "FROM ubuntu:24.04\nWORKDIR /app\n"
ONE = "#!/bin/bash\necho 1 > /logs/verifier/reward.txt\n"
SECRET = "of-the-host"

Files = Mapping[str, str]
Trials = dict[tuple[str, str, int], Trial]


@pytest.fixture(autouse=True)
def _machine() -> None:
    if not ROOTFS:
        pytest.skip("RLCONVERT_ROOTFS names no root file system")
    if missing := missing_tools():
        pytest.skip(f"not on PATH: {', '.join(missing)}")


def write(folder: Path, files: Files) -> Path:
    """A task folder; what `files` does not say is the smallest that runs."""
    smallest = {
        "task.toml": "",
        "instruction.md": "Do it.",
        "environment/Dockerfile": FROM,
        "tests/test.sh": ONE,
    }
    for path, text in {**smallest, **files}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())
    return folder


def bash(*lines: str) -> str:
    """A script."""
    return "\n".join(("#!/bin/bash", *lines, ""))


def graded(*conditions: str) -> str:
    """A verifier that names each condition and says whether it holds."""
    checks = [
        f'{{ {each}; }} >&2 && r=1 || r=0; out+="\\"{number}\\": $r,"'
        for number, each in enumerate(conditions)
    ]
    return bash('out=""', *checks, 'echo "{${out%,}}" > /logs/verifier/reward.json')


def order_of(
    work: Path, tasks: Mapping[str, Path], agents: tuple[str, ...] = ("nop",), **more: object
) -> Order:
    """An order for every task."""
    asked = [{"task": name, "folder": str(at), "agents": agents} for name, at in tasks.items()]
    facts = {"sandbox": "local", "work": str(work), "rootfs": ROOTFS, "seconds": 60, **more}
    return Order.model_validate({**facts, "tasks": asked})


def names(folder: Path) -> set[str]:
    """What is in a folder."""
    return {each.name for each in folder.iterdir()}


def start(order: Order, lines: Path) -> subprocess.Popen[bytes]:
    """The runner, as it is started by whoever wants tasks to be run."""
    asked = lines.with_suffix(".order")
    asked.write_text(order.model_dump_json())
    return subprocess.Popen(
        [sys.executable, "-m", "rlconvert.formats.taskfolder.local", str(asked), str(lines)],
        env={**os.environ, "SECRET": SECRET},
        start_new_session=True,
    )


def run(order: Order, lines: Path) -> tuple[Head, Trials]:
    """What comes of an order."""
    assert start(order, lines).wait(120) == 0
    head, *trials = lines.read_text().splitlines()
    found = [Trial.model_validate_json(each) for each in trials]
    return Head.model_validate_json(head), {
        (each.task, each.agent, each.attempt): each for each in found
    }


@pytest.fixture
def one(tmp_path: Path) -> Callable[..., Trial]:
    """Runs one task with one agent."""

    def hold(files: Files, agent: str = "nop", **more: object) -> Trial:
        task = write(tmp_path / "task", files)
        order = order_of(tmp_path / "work", {"t": task}, (agent,), **more)
        return run(order, tmp_path / "lines")[1]["t", agent, 0]

    return hold


def held(trial: Trial) -> list[int]:
    """The conditions of `graded` that do not hold."""
    assert trial.rewards, (trial.error, trial.refused, trial.log)
    return [int(name) for name, reward in trial.rewards.items() if not reward]


# --- an order ----------------------------------------------------------------------------------


def test_every_agent_and_attempt_is_a_line_after_the_head(tmp_path: Path) -> None:
    good = write(
        tmp_path / "good",
        {
            "solution/solve.sh": bash("echo hello > greeting.txt"),
            "tests/test.sh": graded("grep -qx hello greeting.txt"),
        },
    )
    refused = write(tmp_path / "refused", {"environment/Dockerfile": "FROM me/app:1\n"})
    order = order_of(
        tmp_path / "work",
        {"good": good, "refused": refused, "nothing": tmp_path / "nothing"},
        ("oracle", "nop"),
        repeat=2,
        jobs=2,
    )
    head, trials = run(order, tmp_path / "lines")
    assert {"rlconvert", "bubblewrap", "substitute base"} == set(head.versions)
    assert len(trials) == 12
    for attempt in (0, 1):
        assert trials["good", "oracle", attempt].reward == 1
        assert trials["good", "nop", attempt].reward == 0
        assert "only the image 'me/app:1'" in (trials["refused", "nop", attempt].refused or "")
        assert "there is no folder" in (trials["nothing", "nop", attempt].refused or "")
    assert names(tmp_path / "work") == {"layers"}, "every trial's folder is gone"


def test_without_a_root_file_system_no_trial_is_held(
    one: Callable[..., Trial], tmp_path: Path
) -> None:
    trial = one({}, rootfs=str(tmp_path / "nothing"))
    assert trial.error is not None
    assert trial.error.kind is ErrorKind.ENVIRONMENT
    assert "root file system" in trial.error.message


# --- as the real one ---------------------------------------------------------------------------

VERIFY = Path(__file__).parents[2] / "fixtures/verify"
REFUSED = {
    "sound/compose",
    "sound/hello-image",
    "sound/separate-verifier",
    "broken/bad-image",
    "broken/no-tests",
    "broken/tests-not-found",
    "broken/unreachable-host",
}
NOT_BEGUN = {"broken/isolated", "broken/unset-variable"}
"""What Harbor on podman does not even begin with."""


def test_tasks_earn_what_they_earn_with_harbor(tmp_path: Path) -> None:
    """`expected.json` is what the real Harbor said, on containers."""
    expected = json.loads((VERIFY / "expected.json").read_text())
    tasks = {name: VERIFY / name for name in expected["tasks"]}
    order = order_of(
        tmp_path / "work", tasks, ("oracle", "nop"), variables=expected["variables"], jobs=2
    )
    _, trials = run(order, tmp_path / "lines")
    assert {name for (name, _, _), trial in trials.items() if trial.refused} == REFUSED
    for (name, agent, _), trial in trials.items():
        said = expected["tasks"][name][agent]
        if name in REFUSED | NOT_BEGUN:
            continue
        if "differs" in said:
            assert list(trial.rewards or ()) == said["differs"], name
        else:
            assert trial.rewards == said["rewards"], (name, agent, trial)
        steps = [{"name": step.name, "rewards": step.rewards} for step in trial.steps]
        assert steps == said.get("steps", []), (name, agent)
        assert (trial.error is None) == ("exception" not in said), (name, agent, trial.error)
        assert expected["tasks"][name].get("log", "") in trial.log, (name, agent)


# --- the Dockerfile ----------------------------------------------------------------------------


def test_a_dockerfile_is_carried_out(one: Callable[..., Trial]) -> None:
    dockerfile = """\
FROM python:3.13-slim AS base
ARG NAME=x
ENV DEEP=/srv/deep GREETING="hello there"
RUN useradd --create-home dev; sleep 1000 >/dev/null 2>&1 & echo $NAME$GREETING > /made
RUN if grep -a [s]leep /proc/*/cmdline; then exit 1; fi
RUN ["touch", "/exec form"]
COPY --chown=9:10 data /data
COPY --chmod=600 --chown=7:8 data/*.txt one.sh $DEEP/
COPY data/a.txt /renamed
COPY data/a.txt /srv
WORKDIR /app
COPY . .
RUN chown dev . && ls > /listed
USER dev
RUN id -un > who
"""
    files = {
        "environment/Dockerfile": dockerfile,
        "environment/data/a.txt": "a",
        "environment/data/b.txt": "b",
        "environment/data/c.md": "c",
        "environment/data/deep/d": "d",
        "environment/one.sh": "echo",
        "tests/test.sh": graded(
            '[ "$(cat /made)" = "xhello there" ]',
            '[ -f "/exec form" ]',
            '[ "$(cd /data; echo *)" = "a.txt b.txt c.md deep" ]',
            '[ "$(stat -c %u:%g /data /data/deep /data/deep/d | uniq)" = 9:10 ]',
            '[ "$(cd /srv/deep; echo *)" = "a.txt b.txt one.sh" ]',
            '[ "$(stat -c %a:%u:%g /srv/deep/b.txt)" = "600:7:8" ]',
            '[ "$(cat /renamed)" = a ]',
            '[ "$(cat /srv/a.txt)" = a ]',
            '[ "$(cat /app/data/a.txt)" = a ] && [ -f /app/Dockerfile ]',
            '[ "$(stat -c %a:%u /app/one.sh)" = 644:0 ]',
            '[ "$(cat /app/who)" = dev ] && [ "$(id -un)" = dev ] && [ "$HOME" = /home/dev ]',
            '[ "$(pwd)" = /app ]',
            '[ "$DEEP" = /srv/deep ] && [ -z "$NAME" ]',
        ),
    }
    assert held(one(files)) == []


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("RUN echo the reason; exit 3", "line 3: RUN ended with status 3: the reason"),
        ("COPY nothing /", "line 3: the context has no nothing"),
        ("USER nobody-here\nRUN true", "there is no user nobody-here"),
        ("RUNN x", "line 3: unknown instruction RUNN"),
    ],
)
def test_a_build_that_fails(one: Callable[..., Trial], line: str, problem: str) -> None:
    trial = one({"environment/Dockerfile": f"{FROM}{line}\n"})
    assert trial.error is not None
    assert trial.error.kind is ErrorKind.ENVIRONMENT
    assert problem in trial.error.message
    assert trial.rewards is None


def test_a_build_takes_no_longer_than_it_may(one: Callable[..., Trial]) -> None:
    trial = one(
        {
            "task.toml": "environment.build_timeout_sec = 1.0",
            "environment/Dockerfile": f"{FROM}RUN sleep 100\n",
        }
    )
    assert trial.error is not None
    assert (trial.error.kind, trial.seconds < 30) == (ErrorKind.ENVIRONMENT, True)


def test_a_layer_is_built_once(tmp_path: Path) -> None:
    dockerfile = f"{FROM}RUN date +%s%N > /when\n"
    script = bash('echo "{\\"when\\": $(cat /when)}" > /logs/verifier/reward.json')
    files = {"environment/Dockerfile": dockerfile, "tests/test.sh": script}
    tasks = {name: write(tmp_path / name, files) for name in "ab"}
    _, trials = run(order_of(tmp_path / "work", tasks, repeat=2), tmp_path / "lines")
    assert len({trial.reward for trial in trials.values()}) == 1


def test_an_add_that_would_unpack_is_refused(one: Callable[..., Trial]) -> None:
    files = {"environment/Dockerfile": f"{FROM}ADD a.tar /x\n", "environment/a.tar": "\x1f\x8b"}
    assert one({**files, "environment/a.tar": "BZh91"}).refused is not None


# --- phases ------------------------------------------------------------------------------------


def test_phases_run_as_in_harbor(one: Callable[..., Trial]) -> None:
    files = {
        "task.toml": """
            agent.user = "dev"
            verifier.env = {V = "${WORD}"}
            solution.env = {S = "s"}
            environment.env = {E = "${NOT:-e}", DEBIAN_FRONTEND = "dialog"}
        """,
        "environment/Dockerfile": f"{FROM}RUN useradd -m dev && chown dev .\n",
        "solution/solve.sh": bash(
            "cd /app; env > oracle.env; id -un > oracle.user; ls -A /solution > oracle.files",
            "echo 1 > /logs/verifier/reward.txt; ls /tests; python3 -m http.server 8123 &",
            "sleep 1",
        ),
        "solution/.harborignore": "*.md",
        "solution/notes.md": "",
        "solution/helper.py": "",
        "tests/expected": "",
        "tests/test.sh": graded(
            "grep -x S=s oracle.env && grep -x E=e oracle.env && ! grep ^V= oracle.env",
            "grep -x DEBIAN_FRONTEND=noninteractive oracle.env && [ $DEBIAN_FRONTEND = dialog ]",
            '[ "$V" = plum ] && [ "$E" = e ] && [ -z "$S" ]',
            "[ $(cat oracle.user) = dev ] && [ $(id -un) = root ]",
            '[ "$(cat oracle.files | xargs)" = "helper.py solve.sh" ]',
            "[ ! -e /logs/verifier/reward.txt ] && [ -f /tests/expected ] && [ $(pwd) = /app ]",
            "curl -fs localhost:8123/oracle.user",
            "grep 'No such file' /logs/agent/oracle.txt",
        ),
    }
    assert held(one(files, "oracle", variables={"WORD": "plum"})) == []


def test_a_working_folder_that_is_not_there(one: Callable[..., Trial]) -> None:
    trial = one({"task.toml": "environment.workdir = '/nowhere'"})
    assert trial.error is not None
    assert trial.error.kind is ErrorKind.ENVIRONMENT
    assert "no working directory /nowhere" in trial.error.message


def test_what_runs_a_script_is_what_its_first_line_says(one: Callable[..., Trial]) -> None:
    script = "#!/usr/bin/env python3\nopen('/logs/verifier/reward.txt', 'w').write('0.5')\n"
    assert one({"tests/test.sh": script}).reward == 0.5


def test_line_ends_of_windows_are_what_they_are_there(one: Callable[..., Trial]) -> None:
    trial = one({"tests/test.sh": ONE.replace("\n", "\r\n")})
    assert trial.error is not None
    assert trial.error.kind is ErrorKind.NO_REWARD
    assert "required file not found" in trial.log


def test_without_a_solution_there_is_an_error_and_a_reward(one: Callable[..., Trial]) -> None:
    trial = one({}, "oracle")
    assert trial.error is not None
    assert (trial.error.kind, trial.reward) == (ErrorKind.AGENT_FAILED, 1)


def test_what_an_oracle_did_in_its_time_is_graded(one: Callable[..., Trial]) -> None:
    trial = one(
        {
            "task.toml": "agent.timeout_sec = 2.0",
            "solution/solve.sh": bash("touch done", "sleep 100 &", "sleep 100"),
            "tests/test.sh": graded("[ -f done ]", "! grep -a [s]leep /proc/*/cmdline"),
        },
        "oracle",
    )
    assert held(trial) == []
    assert trial.error is not None
    assert (trial.error.kind, trial.seconds < 30) == (ErrorKind.AGENT_TIMEOUT, True)


def test_a_reward_of_a_verifier_that_is_late_does_not_count(one: Callable[..., Trial]) -> None:
    script = ONE + "echo last words; sleep 100 & sleep 100\n"
    trial = one({"task.toml": "verifier.timeout_sec = 2.0", "tests/test.sh": script})
    assert trial.error is not None
    assert (trial.error.kind, trial.rewards) == (ErrorKind.VERIFIER_TIMEOUT, None)
    assert (trial.log, trial.seconds < 30) == ("last words\n", True)


def test_what_a_verifier_leaves_running_is_not_waited_for(one: Callable[..., Trial]) -> None:
    trial = one({"tests/test.sh": ONE + "sleep 100 & setsid sleep 100 &\n"})
    assert (trial.reward, trial.seconds < 30) == (1, True)


STEPS: Files = {
    "task.toml": """
        steps = [
            {name = "one", min_reward = 0.5},
            {name = "two", min_reward = {reward = 0.5}},
            {name = "three"},
        ]
    """,
    "steps/one/instruction.md": "One.",
    "steps/one/solution/solve.sh": bash("echo one > one; mkdir /tests; touch /tests/x"),
    "steps/two/instruction.md": "Two.",
    "steps/two/workdir/given.txt": "given",
    "steps/two/workdir/setup.sh": "yes & cp given.txt kept.txt; ls /tests /logs/verifier > left",
    "steps/two/tests/test.sh": bash(
        "[ -s left ] && grep -v : left | grep . && exit",
        "[ $(cat kept.txt)$(cat two) != giventwo ] && exit",
        'echo \'{"reward": 0.5, "more": 1}\' > /logs/verifier/reward.json',
    ),
    "steps/three/instruction.md": "Three.",
    "solution/solve.sh": bash("echo two > two"),
    "tests/test.sh": bash(
        "[ -e one ] && [ ! -e /tests/x ]; echo $((1 - $?)) > /logs/verifier/reward.txt"
    ),
}


def test_steps_follow_each_other_in_one_machine(one: Callable[..., Trial]) -> None:
    trial = one(STEPS, "oracle")
    assert trial.error is None
    assert [(step.name, step.rewards) for step in trial.steps] == [
        ("one", {"reward": 1}),
        ("two", {"reward": 0.5, "more": 1}),
        ("three", {"reward": 1}),
    ]
    assert trial.rewards == {"reward": 2.5 / 3, "more": 1 / 3}


def test_a_step_that_earns_too_little_is_the_last(one: Callable[..., Trial]) -> None:
    trial = one(STEPS)
    assert [(step.name, step.rewards) for step in trial.steps] == [("one", {"reward": 0})]
    assert trial.rewards == {"reward": 0}


def test_a_step_whose_setup_fails_is_the_last(one: Callable[..., Trial]) -> None:
    files = {**STEPS, "steps/two/workdir/setup.sh": "echo the reason >&2; exit 3"}
    trial = one(files, "oracle")
    assert [(step.name, step.rewards) for step in trial.steps] == [
        ("one", {"reward": 1}),
        ("two", None),
    ]
    assert trial.error is not None
    assert "the reason" in trial.error.message


# --- a machine of its own ----------------------------------------------------------------------


def test_nothing_of_the_host_is_seen(one: Callable[..., Trial], tmp_path: Path) -> None:
    script = graded(
        f"! grep -a {SECRET} /proc/*/environ",
        f"[ ! -e {tmp_path} ]",
        f"[ ! -e {Path(__file__)} ]",
        '[ "$(hostname)" = main ]',
        "[ $(ls -d /proc/[0-9]* | wc -l) -lt 12 ]",
        '[ "$(ls /dev | grep -c [sv]d)" = 0 ]',
        "grep 'CapEff.*0000000000000000' /proc/1/status",
        "! mount -t tmpfs none /mnt",
        "! mknod /device b 8 0",
        "! unshare --mount true",
        "! echo x > /proc/sys/kernel/hostname",
        "! chroot /proc/1/root/../.. test -e " + str(tmp_path),
        "kill -9 1; kill -9 -1; true",
    )
    assert held(one({"tests/test.sh": script})) == []


def test_a_machine_without_network_has_none(tmp_path: Path) -> None:
    script = bash("grep -c : /proc/net/dev > /logs/verifier/reward.txt")
    tasks = {
        mode: write(
            tmp_path / mode,
            {"task.toml": f"environment.network_mode = '{mode}'", "tests/test.sh": script},
        )
        for mode in ("no-network", "public")
    }
    _, trials = run(order_of(tmp_path / "work", tasks), tmp_path / "lines")
    host = Path("/proc/net/dev").read_text().count(":")
    assert trials["no-network", "nop", 0].reward == 1
    assert trials["public", "nop", 0].reward == host


def test_the_root_file_system_is_never_written(one: Callable[..., Trial]) -> None:
    before = names(Path(ROOTFS, "etc"))
    destroyer = bash("rm -rf /etc/* /opt", "touch /etc/made", "echo 1 > /logs/verifier/reward.txt")
    dockerfile = f"{FROM}RUN rm -f /etc/*release && touch /etc/made-too\n"
    assert one({"tests/test.sh": destroyer, "environment/Dockerfile": dockerfile}).reward == 1
    assert names(Path(ROOTFS, "etc")) == before
    assert Path(ROOTFS, "opt").is_dir()


@pytest.mark.parametrize(
    "write_it",
    [
        "ln -s /etc/shadow /logs/verifier/reward.txt",
        "mkfifo /logs/verifier/reward.txt",
        "mkdir /logs/verifier/reward.json",
        "yes | head -c 9000000 > /logs/verifier/reward.txt",
    ],
)
def test_a_reward_that_is_none(one: Callable[..., Trial], write_it: str) -> None:
    trial = one({"tests/test.sh": bash(write_it)})
    assert trial.error is not None
    assert (trial.error.kind, trial.rewards) == (ErrorKind.BAD_REWARD, None)


def test_no_link_of_a_task_leads_what_is_put_out_of_the_machine(
    one: Callable[..., Trial], tmp_path: Path
) -> None:
    escape = bash(
        f"mkdir -p {tmp_path}; ln -s {tmp_path} /tests; rm -rf /logs/agent/*",
        "ln -s /etc/hostname /logs/verifier/test-stdout.txt",
    )
    trial = one({"solution/solve.sh": escape, "tests/expected": ""}, "oracle")
    assert trial.reward == 1
    assert names(tmp_path) == {"task", "work", "lines", "lines.order"}


def test_a_file_has_an_end(one: Callable[..., Trial]) -> None:
    script = bash("truncate -s 100G /app/big || echo 1 > /logs/verifier/reward.txt")
    assert one({"tests/test.sh": script}).reward == 1


# --- killed ------------------------------------------------------------------------------------


def mount_spaces(words: bytes = b"") -> set[str]:
    """The mount namespaces of all processes, or of those that have `words` in their command."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended
            if words in (process / "cmdline").read_bytes():
                found.add(str((process / "ns/mnt").readlink()))
    return found


def wait_for(condition: Callable[[], bool]) -> bool:
    """Whether it comes true before long."""
    end = time.monotonic() + 30
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("place", ["build", "trial"])
def test_nothing_outlives_the_runner(tmp_path: Path, sign: int, place: str) -> None:
    asleep = f"sleep {1000 + os.getpid()}.{sign}"
    hang = f"setsid {asleep} & {asleep}"
    files = {
        "build": {"environment/Dockerfile": f"{FROM}RUN {hang}\n"},
        "trial": {"tests/test.sh": bash(hang)},
    }[place]
    task = write(tmp_path / "task", files)
    runner = start(order_of(tmp_path / "work", {"t": task}), tmp_path / "lines")
    words = asleep.replace(" ", "\0").encode()
    assert wait_for(lambda: bool(mount_spaces(words)))
    (space,) = mount_spaces(words)
    runner.send_signal(sign)
    assert runner.wait(30) == -sign
    assert wait_for(lambda: space not in mount_spaces())
    assert not mount_spaces(words)
