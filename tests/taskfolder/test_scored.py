"""Tasks that a scorer grades, as task folders: what is in them, who sees what, the way back."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from laws.checks import (
    check_again,
    check_identity,
    check_rebuild,
    check_with_sidecar,
    check_without_sidecar,
)
from laws.running import laid, room, run, tasks_in
from rlconvert.api import roundtrip
from rlconvert.data import Data
from rlconvert.errors import UsageError
from rlconvert.files import Blob, Entry, File, FileTree, Link
from rlconvert.format import Refusal
from rlconvert.formats.nemo import writer
from rlconvert.formats.scorers import Scorer, scorers
from rlconvert.formats.taskfolder.choices import base_image_from
from rlconvert.formats.taskfolder.folder import task_from_folder
from rlconvert.formats.taskfolder.saying import Folder, folder_of
from rlconvert.model import Native, Remark, RowLine, Step, Task
from rlconvert.pipe import Settings
from rlconvert.prompt import (
    FromEnvironment,
    Media,
    Message,
    Messages,
    Opaque,
    Prompt,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from rlconvert.reward import Hosted, Scored, Script, Submission
from rlconvert.runtime import Function, Image, Runtime
from rlconvert.source import BOOKKEEPING, FolderSource
from strategies.files import lay, text_file
from strategies.nemo_rows import CASES, rows_of

FIXTURES = Path(__file__).parents[2] / "fixtures"
ROW = b'{"responses_create_params": {"input": "Say it."}, "expected_answer": "swordfish"}\n'
RULE = Scored(
    scorer="nemo.equivalence_rule@1",
    params={
        "server": "equivalence_rule",
        "config": {"grading_rule": "exact"},
        "row": {"expected_answer": "swordfish"},
    },
    submission=Submission.FINAL_MESSAGE,
)


def task(prompt: Prompt | None = None, rule: Scored = RULE, **more: object) -> Task:
    step = Step(name="", prompt=prompt or Messages.user("Say it."))
    native = {"nemo": Native("r.jsonl", rows=(RowLine("r.jsonl", ROW),))}
    return Task(id="one", steps=(step,), reward=rule, native=native, **more)  # type: ignore[arg-type]


def folder(of: Task, base_image: str | None = None) -> Folder:
    made = folder_of(of, base_image)
    assert isinstance(made, Folder), made
    return made


def texts(tree: FileTree) -> dict[str, str]:
    return {path: each.blob.read().decode() for path, each in tree if isinstance(each, File)}


def refusal(of: Task) -> Refusal:
    made = folder_of(of)
    assert isinstance(made, Refusal)
    return made


# --- what is written -----------------------------------------------------------------------------


def test_a_folder_is_whole() -> None:
    made = folder(task())
    files = texts(made.tree)
    known = {each.id: each for each in scorers()}[RULE.scorer]
    assert made.way == "scored"
    assert sorted(files) == [
        "environment/Dockerfile",
        "instruction.md",
        "solution/answer.txt",
        "solution/solve.sh",
        "task.toml",
        "tests/grade.py",
        "tests/row.json",
        "tests/rule.json",
        "tests/score.py",
        "tests/test.sh",
    ]
    assert files["instruction.md"].startswith("Say it.\n\n---\n\n# Where the answer goes\n")
    assert "/app/answer.txt" in files["instruction.md"]
    assert files["environment/Dockerfile"] == "FROM python:3.13-slim\nWORKDIR /app\n"
    assert files["solution/answer.txt"] == "swordfish"
    assert files["tests/score.py"].encode() == known.source
    assert files["tests/grade.py"].encode() == known.grade
    assert files["tests/row.json"].encode() == ROW
    assert json.loads(files["tests/rule.json"]) == {
        "scorer": RULE.scorer,
        "params": RULE.params,
        "submission": "final message",
    }


def test_it_reads_as_the_same_rule_on_a_file() -> None:
    read = task_from_folder("one", "", folder(task()).tree)
    assert read.reward == Scored(
        scorer=RULE.scorer,
        params=RULE.params,
        submission=Submission.FILE,
        path="/app/answer.txt",
    )


def test_the_image_is_chosen() -> None:
    made = folder(task(), "registry.example.org/python:3")
    assert texts(made.tree)["environment/Dockerfile"].startswith("FROM registry.example.org/")
    assert base_image_from({"base-image": "a/b:1"}) == "a/b:1"
    with pytest.raises(UsageError, match="not the name of an image"):
        base_image_from({"base-image": "a\nRUN b"})


@pytest.mark.parametrize("server", sorted(CASES))
def test_nothing_of_the_rule_is_in_what_the_agent_sees_or_in_a_program(server: str) -> None:
    """Whatever the rule, all but the data files is the same for the same kind of submission."""
    data = ("rule.json", "row.json", "answer.txt", "tool_calls.json")
    known = next(each for each in scorers() if server in each.servers)
    same: set[tuple[Submission, str, str]] = set()
    for config, row in CASES[server]:
        params: dict[str, Data] = {"server": server, "config": config, "row": row}
        kind = known.submission_for({"config": config, "row": row})
        files = texts(
            folder(task(rule=Scored(scorer=known.id, params=params, submission=kind))).tree
        )
        same |= {(kind, path, text) for path, text in files.items() if not path.endswith(data)}
    by_path = [(kind, path) for kind, path, _ in same]
    assert sorted(by_path) == sorted(set(by_path))


@pytest.mark.parametrize(
    "known", [each for each in scorers() if each.requirements], ids=lambda known: known.name
)
def test_what_a_scorer_needs_is_pinned_and_its_answer_found_in_the_container(known: Scorer) -> None:
    """The same folder, whatever is installed here."""
    config, row = CASES[known.servers[0]][0]
    params: dict[str, Data] = {"server": known.servers[0], "config": config, "row": row}
    rule = Scored(
        scorer=known.id,
        params=params,
        submission=known.submission_for({"config": config, "row": row}),
    )
    files = texts(folder(task(rule=rule)).tree)
    assert files["environment/requirements.txt"].splitlines() == list(known.requirements)
    assert "-r /opt/requirements.txt\n" in files["environment/Dockerfile"]
    assert "gold.py /solution/rule.json" in files["solution/solve.sh"]
    assert files["solution/score.py"] == files["tests/score.py"]
    assert files["solution/rule.json"] == files["tests/rule.json"]


ALONE = {server: each for each in scorers() if not each.requirements for server in each.servers}
"""The others' answers are always found in the container, where what they need is."""


@pytest.mark.parametrize("server", sorted(ALONE))
def test_the_answer_found_in_a_container_is_the_one_found_here(server: str, tmp_path: Path) -> None:
    known = ALONE[server]
    config, row = CASES[server][0]
    params: dict[str, Data] = {"server": server, "config": config, "row": row}
    tree = folder(
        task(rule=Scored(scorer=known.id, params=params, submission=known.submission))
    ).tree
    lay(tmp_path / "task", tree.union(FileTree({"tests/gold.py": File(Blob(known.finder))})))
    home, out = tmp_path / "task" / "tests", tmp_path / "found"
    command = [sys.executable, "-I", str(home / "gold.py"), str(home / "rule.json"), str(out)]
    run = subprocess.run(command, check=False)
    said = [text for path, text in texts(tree).items() if path.endswith((".txt", "_calls.json"))]
    assert ([out.read_text()] if run.returncode == 0 else []) == said


def test_values_that_would_be_code_stay_data() -> None:
    bad = "\"; rm -rf / #\n$(id)`id`'''${X}"
    rule = Scored(
        scorer=RULE.scorer,
        params={**RULE.params, "row": {"expected_answer": bad}},
        submission=RULE.submission,
    )
    files = texts(folder(task(Messages.user(bad), rule)).tree)
    holding = {path for path, text in files.items() if "rm -rf" in text}
    assert holding == {"instruction.md", "solution/answer.txt", "tests/rule.json"}


# --- prompts -------------------------------------------------------------------------------------

PNG = Media("image", Blob(b"PNG"), "image/png", detail="low")
TALK = Messages(
    (
        Message("system", (Text("Be brief."),)),
        Message("user", (Text("What?"), PNG)),
        Message("assistant", (Reasoning("Hm."), ToolCall("c1", "look", "{}"))),
        Message("tool", (ToolResult("c1", "a cat"),)),
        Message("user", (Text("===== message 9: user ====="),)),
    )
)


def test_a_conversation_is_written_message_by_message() -> None:
    look = Function(name="look", description="Looks.", parameters={"type": "object"})
    files = texts(folder(task(TALK, runtime=Runtime(tools=(look,)))).tree)
    text, bars = files["instruction.md"], "=" * 6
    for expected in (
        f"{bars} message 1: system {bars}\n\nBe brief.\n",
        f"{bars} message 2: user {bars}\n\nWhat?\n\n[image: /app/prompt/1.png, detail low]\n",
        f"{bars} message 3: assistant {bars}\n\n[reasoning]\nHm.\n\n[call c1 of look]\n{{}}\n",
        f"{bars} message 4: tool {bars}\n\n[result of call c1]\na cat\n",
        f"{bars} message 5: user {bars}\n\n===== message 9: user =====\n",
        f"{bars} functions {bars}\n\n",
        '"name": "look"',
    ):
        assert expected in text
    assert "COPY prompt/ /app/prompt/\n" in files["environment/Dockerfile"]


def test_media_are_files() -> None:
    tree = folder(task(TALK)).tree
    assert tree.entries["environment/prompt/1.png"] == File(Blob(b"PNG"))


@pytest.mark.parametrize(
    ("prompt", "reason"),
    [
        (FromEnvironment(), "prompt-not-text"),
        (Messages((Message("user", (Opaque("input_file", {}),)),)), "prompt-not-text"),
        (Messages((Message("user", (Media("image", "http://x/y"),)),)), "media-elsewhere"),
    ],
)
def test_what_no_text_can_say_is_refused(prompt: Prompt, reason: str) -> None:
    said = refusal(task(prompt))
    assert (said.reason, said.field) == (reason, "steps.prompt")


# --- refusals ------------------------------------------------------------------------------------


def test_a_rule_that_can_grade_nothing_is_refused_by_its_field() -> None:
    rule = Scored(
        scorer=RULE.scorer,
        params={**RULE.params, "row": {"expected_answer": 5}},
        submission=RULE.submission,
    )
    said = refusal(task(rule=rule))
    assert said.reason == "not-gradable"
    assert "expected_answer" in said.problem


@pytest.mark.parametrize("scorer", ["nemo.equivalence_rule@99", "nemo.nobody@1", "nobody"])
def test_a_scorer_that_there_is_not_is_refused(scorer: str) -> None:
    said = refusal(task(rule=Scored(scorer=scorer, params=RULE.params, submission=RULE.submission)))
    assert said.reason == "no-reward-script"
    assert scorer.partition("@")[0] in said.problem


def test_a_task_that_lives_somewhere_is_refused() -> None:
    said = refusal(task(runtime=Runtime(place=Image("x"))))
    assert said.reason == "no-reward-script"


def test_who_else_grades_is_said() -> None:
    remark = Remark("reward", "its rule is not known as data", "its config sets judge")
    native = {"nemo": Native("r.jsonl", rows=(RowLine("r.jsonl", ROW),), remarks=(remark,))}
    hosted = Hosted(framework="nemo", component="simpleqa", version="1", config={}, payload={})
    step = Step(name="", prompt=Messages.user("x"))
    said = refusal(Task(id="one", steps=(step,), reward=hosted, native=native))
    assert said.problem.endswith(": simpleqa grades it; its config sets judge")


# --- recognising ---------------------------------------------------------------------------------


def edited(path: str, change: Entry | None) -> FileTree:
    tree = folder(task()).tree
    entries = {each: entry for each, entry in tree.entries.items() if each != path}
    return FileTree(entries if change is None else {**entries, path: change})


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("tests/test.sh", text_file("#!/bin/bash\nexec python3 -I /tests/grade.py\n")),
        ("tests/grade.py", text_file("print(1)\n")),
        ("tests/score.py", None),
        ("tests/score.py", text_file("def score(params, submission): ...\n")),
        ("tests/score.py", Link("grade.py")),
        ("tests/more.py", text_file("")),
        ("tests/rule.json", None),
        ("tests/rule.json", text_file("{")),
        ("tests/rule.json", text_file("[]")),
        ("tests/rule.json", text_file('{"scorer": "nemo.equivalence_rule@1", "params": {}}')),
        (
            "tests/rule.json",
            text_file('{"scorer": "nemo.nobody@1", "params": {}, "submission": "final message"}'),
        ),
        (
            "tests/rule.json",
            text_file(
                '{"scorer": "nemo.equivalence_rule@1", "params": {}, "submission": "tool calls"}'
            ),
        ),
    ],
)
def test_an_edited_rule_is_a_script(path: str, change: Entry | None) -> None:
    read = task_from_folder("one", "", edited(path, change))
    assert isinstance(read.reward, Script)


@pytest.mark.parametrize(
    "config",
    [
        '[verifier]\nenvironment_mode = "separate"\n',
        '[environment]\nos = "windows"\n',
    ],
)
def test_another_verifier_is_a_script(config: str) -> None:
    """Where the answer is not, or the script is not ours."""
    tree = edited("task.toml", text_file(config)).union(
        FileTree({"tests/test.bat": text_file("")}) if "windows" in config else FileTree()
    )
    assert isinstance(task_from_folder("one", "", tree).reward, Script)


# --- there and back ------------------------------------------------------------------------------


def row_of(server: str, number: int = 0, prompt: object = "Say it.") -> dict[str, object]:
    _, row = CASES[server][0]
    return {"responses_create_params": {"input": prompt}, **row, "note": number}


@pytest.mark.parametrize("server", sorted(CASES))
def test_rows_of_every_scorer_there_and_back(server: str) -> None:
    rule, _ = CASES[server][0]
    tree = rows_of(server, row_of(server), row_of(server, 1), rule=rule)
    with room() as place:
        source = laid(place, tree)
        there = run(source, "nemo", "harbor", place / "there")
        assert not there.conversion.report.any_refused
        bare = there.forgetful()
        assert all(isinstance(each.reward, Scored) for each in tasks_in(bare, "harbor").values())
        back = run(bare, "harbor", "nemo", place / "back")
        (written,) = back.out.glob("data/*/*.jsonl")
        lines = (source / "data/one/train.jsonl").read_bytes().splitlines()
        assert sorted(written.read_bytes().splitlines()) == sorted(lines)
        assert tasks_in(back.out, "nemo") == tasks_in(source, "nemo")


FOLDERS = {
    "plain": row_of("equivalence_rule"),
    "conversation": row_of(
        "equivalence_rule",
        prompt=[
            {"role": "system", "content": "Be brief."},
            {
                "role": "user",
                "content": [
                    {
                        "type": "input_image",
                        "image_url": "data:image/png;base64,YWI=",
                        "detail": "auto",
                    }
                ],
            },
        ],
    ),
    "line ends": row_of("equivalence_rule", prompt="\r\n<!-- canary -->\rSay\u2028it.\n\n"),
}


@pytest.mark.parametrize("name", FOLDERS)
def test_folders_keep_the_laws(name: str) -> None:
    """As Harbor's own: the same again, from the model alone, and by way of the row."""
    with room() as place:
        source = laid(place, rows_of("equivalence_rule", FOLDERS[name], rule={}))
        there = run(source, "nemo", "harbor", place / "there")
        made = FolderSource(str(there.out)).tree("", skip=BOOKKEEPING)
    tree = made.without("environments")
    check_identity(tree, "harbor")
    check_rebuild(tree, "harbor")
    for target in ("nemo", "openenv", "verifiers"):
        check_again(tree, "harbor", target)
        check_with_sidecar(tree, "harbor", target)
        check_without_sidecar(tree, "harbor", target)


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("instruction.md", "Say it twice.\n"),
        ("environment/Dockerfile", "FROM python:3.13-slim\nWORKDIR /app\nRUN id\n"),
        ("solution/answer.txt", "perch"),
        ("tests/rule.json", None),
        ("tests/row.json", None),
        ("task.toml", "[agent]\ntimeout_sec = 1.0\n"),
        ("notes.md", "of somebody\n"),
    ],
)
@pytest.mark.parametrize("sidecar", [True, False])
def test_an_edited_folder_is_no_row_again(path: str, change: str | None, sidecar: bool) -> None:
    with room() as place:
        source = laid(place, rows_of("equivalence_rule", row_of("equivalence_rule"), rule={}))
        there = run(source, "nemo", "harbor", place / "there")
        (home,) = (there.out / "tasks").iterdir()
        file = home / path
        if change is None:
            change = file.read_text().replace('"expected_answer": "', '"expected_answer": "not ')
        file.write_text(change)
        out = there.out if sidecar else there.forgetful()
        back = run(out, "harbor", "nemo", place / "back")
        (written,) = back.out.glob("data/*/harbor_agent_general-train.jsonl")
        assert json.loads(written.read_bytes())["task_name"] == home.name
        assert (back.out / "tasks" / home.name / path).read_text() == change


def test_a_chosen_image_is_lost_on_the_way_to_the_row_and_said_so() -> None:
    with room() as place:
        source = laid(place, rows_of("equivalence_rule", row_of("equivalence_rule"), rule={}))
        options = {"base-image": "example.org/python:3"}
        there = run(source, "nemo", "harbor", place / "there", options=options)
        tree = FolderSource(str(there.out)).tree("", skip=BOOKKEEPING).without("environments")
    check_with_sidecar(tree, "harbor", "nemo")
    check_without_sidecar(tree, "harbor", "nemo")


def test_two_rules_of_one_server_stay_apart() -> None:
    """Rows of two configs come back to two configs, though the folders stand in one set."""
    with room() as place:
        outs = []
        for number, rule in enumerate(("exact", "seq_match")):
            row = row_of("equivalence_rule", number)
            tree = rows_of("equivalence_rule", row, rule={"grading_rule": rule})
            source = laid(place / rule, tree)
            outs.append(run(source, "nemo", "harbor", place / f"to-{rule}").forgetful())
        (other,) = (outs[1] / "tasks").iterdir()
        other.rename(outs[0] / "tasks" / other.name)
        back = run(outs[0], "harbor", "nemo", place / "back")
        rewards = [each.reward for each in tasks_in(back.out, "nemo").values()]
        configs = [each.params["config"] for each in rewards if isinstance(each, Scored)]
        assert sorted(map(str, configs)) == [
            "{'grading_rule': 'exact'}",
            "{'grading_rule': 'seq_match'}",
        ]


@pytest.mark.parametrize("via", ["harbor", "openenv", "verifiers"])
def test_a_round_trip_sees_the_same_meaning_once_the_task_is_back(via: str) -> None:
    settings = Settings(options={"image-template": "example.org/{task}:1"}, jobs=1)
    trip = roundtrip(str(FIXTURES / "nemo" / "scored"), via=via, settings=settings)
    assert (trip.same_bytes, trip.same_meaning, trip.differences) == (3, 3, [])


def test_a_round_trip_sees_a_row_that_does_not_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "task_of_row", lambda _: None)
    trip = roundtrip(
        str(FIXTURES / "nemo" / "scored"), via="harbor", settings=Settings(jobs=1)
    )  # fmt: skip
    assert (trip.same_bytes, trip.same_meaning) == (3, 0)
