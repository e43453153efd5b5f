"""Reward files as Harbor 0.26.0 takes them, and those of a task that means harm."""

import os
import socket
from pathlib import Path

import pytest

from rlconvert.formats.taskfolder.local.phases import passes, total
from rlconvert.formats.taskfolder.local.rewards import (
    MAX_REWARD,
    RewardFault,
    read_rewards,
    tail_of,
)
from rlconvert.formats.taskfolder.local.running import number_of
from rlconvert.reward import StepRewards
from rlconvert.running.runner import MAX_LOG, ErrorKind


def fault(folder: Path) -> ErrorKind:
    with pytest.raises(RewardFault) as caught:
        read_rewards(folder)
    return caught.value.kind


@pytest.mark.parametrize(
    ("text", "reward"),
    [("1", 1), (" 0.5 \n\n", 0.5), ("-3", -3), ("17", 17), ("1e-2", 0.01), ("1_0", 10)],
)
def test_a_number(tmp_path: Path, text: str, reward: float) -> None:
    (tmp_path / "reward.txt").write_text(text)
    assert read_rewards(tmp_path) == {"reward": reward}


@pytest.mark.parametrize("text", ["\n", "true", "50%", "1 2", "nan", "inf", "1e999", "\xe9"])
def test_no_number(tmp_path: Path, text: str) -> None:
    (tmp_path / "reward.txt").write_text(text, encoding="latin-1")
    assert fault(tmp_path) is ErrorKind.BAD_REWARD


@pytest.mark.parametrize(
    ("text", "rewards"),
    [
        ('{"reward": 0.7}', {"reward": 0.7}),
        ('{"a": 1, "b": 0.5}', {"a": 1, "b": 0.5}),
        ('{"reward": true}', {"reward": 1}),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ("{}", {}),
    ],
)
def test_names(tmp_path: Path, text: str, rewards: dict[str, float]) -> None:
    (tmp_path / "reward.json").write_text(text)
    assert read_rewards(tmp_path) == rewards


@pytest.mark.parametrize(
    "text",
    [
        "1",
        "[1]",
        "null",
        '{"a": "1"}',
        '{"a": null}',
        '{"a": {}}',
        '{"a": NaN}',
        '{"a": 1e309}',
        '{"a": 1' + "0" * 400 + "}",
        '{"a": 1' + "0" * 5000 + "}",
        '{"\\ud800": 1}',
        "[" * 100_000,
        '\ufeff{"a": 1}',
        "{",
    ],
)
def test_no_names(tmp_path: Path, text: str) -> None:
    (tmp_path / "reward.json").write_text(text)
    (tmp_path / "reward.txt").write_text("1")
    assert fault(tmp_path) is ErrorKind.BAD_REWARD


def test_names_win_over_the_number(tmp_path: Path) -> None:
    (tmp_path / "reward.txt").write_text("1")
    (tmp_path / "reward.json").write_text('{"reward": 0}')
    assert read_rewards(tmp_path) == {"reward": 0}


@pytest.mark.parametrize("name", ["reward.json", "reward.txt"])
def test_nothing_written(tmp_path: Path, name: str) -> None:
    assert fault(tmp_path) is ErrorKind.NO_REWARD
    (tmp_path / name).touch()
    assert fault(tmp_path) is ErrorKind.NO_REWARD


# --- hostile -----------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["/etc/hostname", "../secret", "folder/secret", ".."])
def test_no_link_out_of_the_folder_is_followed(tmp_path: Path, target: str) -> None:
    logs = tmp_path / "logs"
    (logs / "folder").mkdir(parents=True)
    for place in (tmp_path / "secret", logs / "folder/secret"):
        place.write_text("1")
    (logs / "reward.txt").symlink_to(target)
    assert fault(logs) is ErrorKind.BAD_REWARD


def test_a_link_to_its_neighbour_is(tmp_path: Path) -> None:
    (tmp_path / "score").write_text("0.5")
    (tmp_path / "reward.txt").symlink_to("score")
    assert read_rewards(tmp_path) == {"reward": 0.5}


def test_a_link_to_nothing_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "reward.json").symlink_to("nothing")
    (tmp_path / "reward.txt").write_text("1")
    assert read_rewards(tmp_path) == {"reward": 1}


def test_a_link_to_itself_ends(tmp_path: Path) -> None:
    (tmp_path / "reward.txt").symlink_to("reward.txt")
    assert fault(tmp_path) is ErrorKind.BAD_REWARD


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "reward.txt")
    assert fault(tmp_path) is ErrorKind.BAD_REWARD
    os.mkfifo(tmp_path / "log")
    assert tail_of(tmp_path, "log") == ""


def test_a_folder_and_a_socket_are_no_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "reward.json").mkdir()
    assert fault(tmp_path) is ErrorKind.BAD_REWARD
    assert tail_of(tmp_path, "reward.json") == ""
    (tmp_path / "reward.json").rmdir()
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(tmp_path)  # the names of sockets are short
        server.bind("reward.json")
        assert fault(tmp_path) is ErrorKind.BAD_REWARD


def test_no_more_is_read_than_a_reward_can_be(tmp_path: Path) -> None:
    with (tmp_path / "reward.txt").open("wb") as file:
        file.write(b"1")
        file.truncate(1 << 40)
    assert fault(tmp_path) is ErrorKind.BAD_REWARD
    (tmp_path / "reward.txt").write_text("1" + " " * (MAX_REWARD - 1))
    assert read_rewards(tmp_path) == {"reward": 1}
    (tmp_path / "reward.txt").write_text("1" + " " * MAX_REWARD)
    assert fault(tmp_path) is ErrorKind.BAD_REWARD


def test_of_a_log_the_end_is_read(tmp_path: Path) -> None:
    with (tmp_path / "log").open("wb") as file:
        file.truncate(1 << 40)
        file.seek(0, os.SEEK_END)
        file.write(b"\xffthe end")
    assert tail_of(tmp_path, "log").endswith("\ufffdthe end")
    assert len(tail_of(tmp_path, "log")) == MAX_LOG
    (tmp_path / "link").symlink_to("log")
    assert tail_of(tmp_path, "link") == ""
    assert tail_of(tmp_path, "nothing") == ""


# --- several steps -----------------------------------------------------------------------------


def test_the_mean_counts_a_name_that_is_missing_as_zero() -> None:
    earned = [{"reward": 0.25, "extra": 1.0}, {"reward": 1.0}, None]
    assert total(StepRewards.MEAN, earned) == {"reward": 0.625, "extra": 0.5}
    assert total(None, earned) == {"reward": 0.625, "extra": 0.5}
    assert total(StepRewards.FINAL, earned[:2]) == {"reward": 1}
    assert total(StepRewards.FINAL, earned) is None
    assert total(StepRewards.MEAN, [None]) is None


def test_what_a_step_must_earn() -> None:
    assert passes(None, {})
    assert passes(0.5, {"reward": 0.5})
    assert not passes(0.5, {"reward": 0.4, "other": 1})
    assert not passes(0.0, {"other": 1})
    assert passes({"a": 1, "b": 0}, {"a": 1, "b": 0.5})
    assert not passes({"a": 1, "b": 0}, {"a": 1})


def test_the_one_number() -> None:
    assert number_of({"reward": 0.5, "other": 1}, None) == 0.5
    assert number_of({"other": 1}, None) == 1
    assert number_of({"a": 1, "b": 1}, None) is None
    assert number_of({"a": 0.25, "reward": 1}, "a") == 0.25
    assert number_of({"reward": 1}, "a") is None
    assert number_of({}, None) is None
    assert number_of(None, None) is None
