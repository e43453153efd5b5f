"""`check` with the real NeMo Gym on rows that are tasks: green, and red for each damage.

`eval "$(scripts/frameworks DIR)"` makes the framework's environment and names its Python.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from converting import convert_folder
from nemo.nemo_rows import CONFIG, repo_of, row
from rlconvert.errors import ExitCode
from rlconvert.judge import Verdict
from rlconvert.pipe import Settings
from rlconvert.proof.checking import check
from rlconvert.proof.records import CHECKS, parse_checks
from strategies.files import lay

pytestmark = pytest.mark.framework

ROOT = Path(__file__).parents[2]
NEMO = ROOT / "fixtures" / "nemo"
GONE = "the record of the conversion lists it, and it is not here"


def nemo_python() -> str:
    """NeMo Gym's own Python, or a skipped test that says how to get one."""
    python = os.environ.get("RLCONVERT_NEMO_PYTHON")
    if not python:
        pytest.skip('RLCONVERT_NEMO_PYTHON is not set: eval "$(scripts/frameworks DIR)"')
    return python


def heard(repo: Path) -> Verdict:
    """NeMo Gym's verdict; the record says the same."""
    run = check(str(repo), frameworks=["nemo"], using={"nemo": nemo_python()})
    (result,) = run.results
    record = parse_checks((repo / CHECKS).read_bytes())["nemo"]
    assert record.passed is result.passed
    assert run.exit_code is (ExitCode.DONE if result.passed else ExitCode.CHECK_FAILED)
    return result.verdict


def reasons(verdict: Verdict) -> list[str]:
    """Everything that is held against a repo."""
    return [f"{each.task}: {each.reason}" for each in verdict.failures] + list(verdict.faults)


def environment(name: str, *rows: bytes, config: bytes = CONFIG) -> dict[str, bytes]:
    """An environment of mcqa with these rows, beside others."""
    files = {f"data/{name}/rows.jsonl": b"".join(rows)} if rows else {}
    return files | {f"environments/{name}/config.yaml": config.replace(b"demo", name.encode())}


def fixture(name: str) -> dict[str, bytes]:
    """The rows of a fixture that has one file of them."""
    return environment(name, (NEMO / name / "data" / "train.jsonl").read_bytes())


def written(files: dict[str, bytes], folder: Path, source: Path = NEMO / "agents") -> Path:
    """The files beside those of `source`, gone home, with a record of it."""
    shutil.copytree(source, folder / "source")
    lay(folder / "more", repo_of(files))
    shutil.copytree(folder / "more", folder / "source", dirs_exist_ok=True)
    convert_folder(folder / "source", folder / "out", "nemo")
    return folder / "out"


def test_fixtures_are_green(tmp_path: Path) -> None:
    out = written(fixture("shapes") | fixture("items"), tmp_path)
    (out / "data" / "letters" / "notes.jsonl").write_bytes(b'{"beside\n' + row())
    verdict = heard(out)
    assert not reasons(verdict)
    assert verdict.loaded == len(verdict.tasks) == 5 + 4 + 8
    assert verdict.versions == {"nemo-gym": "0.7.0"}
    assert verdict.graders == (
        "resources_servers/echo (code of the repo, which was not run)",
        "resources_servers/mcqa",
    )
    brought = "the repo brings the code of resources_servers/echo, which is not run"
    assert any(brought in each for each in verdict.warnings), verdict.warnings


def test_rows_whose_server_nothing_names_are_red(tmp_path: Path) -> None:
    """Whatever their fields look like: a rollout ends with `No agent specified for rows`."""
    out = written({"more.jsonl": (NEMO / "ambiguous" / "train.jsonl").read_bytes()}, tmp_path,
                  NEMO / "bare")  # fmt: skip
    verdict = heard(out)
    assert verdict.loaded == len(verdict.tasks) == 4
    assert not verdict.graders
    assert [fault.partition(":")[0] for fault in verdict.faults] == ["more.jsonl", "train.jsonl"]
    assert all("nothing names the server that grades 2 of its 2" in each for each in verdict.faults)
    for warning in ("train.jsonl: no config of the repo lists", "could be graded by any of"):
        assert any(warning in each for each in verdict.warnings), verdict.warnings


NAMED: dict[str, dict[str, object]] = {
    "by_agent": {"agent_ref": {"name": "mcqa_simple_agent"}},
    "by_source": {"task_source": "mcqa_simple_agent"},
    "by_server": {"task_source": "mcqa"},
    # Its config wants a model to judge with, which only a run names.
    "judged": {"agent_ref": {"name": "abstention_simple_agent"}},
}
NOT_NAMED: dict[str, dict[str, object]] = {
    "of_an_older_release": {"agent_ref": {"name": "turing_vif_simple_agent"}},
    "of_two_configs": {"agent_ref": {"name": "gymnasium_agent"}},
    "a_model": {"task_source": "policy_model"},
    "no_name": {"agent_ref": {"type": "responses_api_agents"}},
}


def test_rows_may_name_what_nemo_gym_ships(tmp_path: Path) -> None:
    options = [{"A": "one"}, {"B": "two"}]
    files = {
        f"{name}.jsonl": row(options=options, question="?", **said)
        for name, said in (NAMED | NOT_NAMED).items()
    }
    verdict = heard(lay(tmp_path / "repo", repo_of(files)))
    assert verdict.graders == ("resources_servers/abstention", "resources_servers/mcqa")
    named = [fault.partition(".jsonl: nothing names the server")[0] for fault in verdict.faults]
    assert sorted(named) == sorted(NOT_NAMED)


def test_a_config_may_stand_on_one_that_nemo_gym_ships(tmp_path: Path) -> None:
    agent = CONFIG[CONFIG.index(b"demo_simple_agent") :].replace(b"name: demo}", b"name: mcqa}")
    config = b"config_paths: [resources_servers/mcqa/configs/mcqa.yaml]\n" + agent
    config = config.replace(b"data/demo", b"rows/demo")
    files = {"environments/demo/config.yaml": config, "rows/demo/rows.jsonl": row()}
    verdict = heard(lay(tmp_path / "repo", repo_of(files)))
    assert verdict.graders == ("resources_servers/mcqa",)
    # The config that it stands on lists rows as well, which are not here.
    assert all("mcqa_simple_agent" in each for each in verdict.faults), verdict.faults


def test_a_server_without_its_program_is_red(tmp_path: Path) -> None:
    """What the repo brings hides what NeMo Gym has under the same name."""
    files = repo_of({**environment("demo", row()), "resources_servers/mcqa/task_data.py": b""})
    faults = heard(lay(tmp_path / "hidden", files)).faults
    assert any("the repo brings resources_servers/mcqa, and no resources_servers/mcqa/app.py" in
               each for each in faults), faults  # fmt: skip
    config = CONFIG.replace(b"mcqa:", b"gymnasium:").replace(b"      grading_mode", b"      more")
    faults = heard(
        lay(tmp_path / "none", repo_of(environment("demo", row(), config=config)))
    ).faults
    assert any("resources_servers/gymnasium of NeMo Gym has no app.py" in each
               for each in faults), faults  # fmt: skip


def test_every_damage_is_red_and_nothing_else(tmp_path: Path) -> None:
    """Of most of these the status of `gym env validate` and `gym dataset collate` is 0."""
    lines = [row(task_id=f"t{number}") for number in range(8)]
    two = row(expected_answer="B"), row(expected_answer="C")
    other = CONFIG.replace(b"mcqa:", b"structured_outputs:").replace(b"grading_mode", b"more")
    whole = {
        **fixture("misread"),
        **fixture("padded"),
        **environment("hurt", *lines),
        **environment("gone", row(task_id="gone")),
        **environment("emptied", row(task_id="emptied")),
        **environment("renamed", two[0]),
        **environment("other", two[1]),
        **environment("refers", row(task_id="refers")),
    }
    out = written(whole, tmp_path)
    lines[1] = lines[1][:-2] + b"\n"  # not JSON
    lines[2] = row(task_id="t2", grading_mode="by ear")  # not one of the server's
    lines[3] = row(task_id="t3", responses_create_params={"input": "hi", "seed": 1})
    lines[4] = row(task_id="other")
    del lines[5]
    damaged = {
        **environment("hurt", *lines, b"\n"),
        **environment("emptied", b""),
        **environment("renamed", two[0], config=CONFIG.replace(b"mcqa:", b"mcqb:")),
        **environment("other", two[1], config=other),
        **environment("refers", config=CONFIG.replace(b"name: demo}", b"name: nobody}")),
        **environment("refused", b'{"prompt": "x"}\n', b'{"prompt": "y"}\n'),
    }
    for path, data in damaged.items():
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).write_bytes(data)
    (out / "data" / "gone" / "rows.jsonl").unlink()
    verdict = heard(out)
    found = {each.task: each.reason or "" for each in verdict.failures}
    for place, reason in {
        "misread/rows.jsonl:1": "ValidationError",
        "misread/rows.jsonl:3": "lost: keys of a message dropped: name",
        "misread/rows.jsonl:5": "lost: an item became mcp_list_tools",
        "padded/rows.jsonl:1": "ValidationError",
        "hurt/rows.jsonl:2": "JSONDecodeError",
        "hurt/rows.jsonl:3": "the rows of mcqa: ",
        "hurt/rows.jsonl:4": "ValidationError",
        "hurt/rows.jsonl:8": "JSONDecodeError",
        "other/rows.jsonl:1": "the rows of structured_outputs: ",
        "refused/rows.jsonl:1": "ValidationError",
        "refused/rows.jsonl:2": "ValidationError",
    }.items():
        assert any(each.startswith(f"data/{place}: ") and reason in each
                   for each in found.values()), (place, found)  # fmt: skip
    gone = {name for name, reason in found.items() if reason == GONE}
    assert gone == {"t1", "t4", "t5", "gone", "emptied"}
    assert not found.keys() & {"t0", "t6", "t7", "say-one", "say-two", "refers"}
    faults = "\n".join(verdict.faults)
    for fault in (
        "misread/config.yaml: gym dataset collate: train: 5 rows, 2 examples, 5 written",
        "gone/config.yaml: gone_simple_agent, gone: no row in data/gone/rows.jsonl",
        "emptied/config.yaml: emptied_simple_agent, emptied: no row in data/emptied/rows.jsonl",
        "renamed/config.yaml: renamed: NeMo Gym has no resources_servers/mcqb",
        "refers/config.yaml: ",
        "refused/config.yaml: gym dataset collate: train: 2 rows, ",
    ):
        assert f"environments/{fault}" in faults, (fault, faults)
    assert "environments/letters/" not in faults


def test_written_rows_and_task_folders_in_one_repo(tmp_path: Path) -> None:
    """One verdict over both kinds; a manifest that does not fit its config."""
    bare = lay(tmp_path / "bare", repo_of({"more.jsonl": row(task_id="a") + row(task_id="b")}))
    stated = Settings(jobs=1, options={"nemo-server": "mcqa", "licence": "mit"})
    convert_folder(bare, tmp_path / "rows", "nemo", "harbor", settings=stated)
    out = tmp_path / "out"
    convert_folder(ROOT / "fixtures" / "harbor" / "hello", out, "nemo")
    shutil.rmtree(out / ".rlconvert")
    for folder in ("environments", "data"):
        shutil.copytree(tmp_path / "rows" / folder, out / folder, dirs_exist_ok=True)
    (manifest,) = (out / "environments").glob("more*/manifest.yaml")
    text = manifest.read_text()
    verdict = heard(out)
    assert not reasons(verdict)
    assert {each.task for each in verdict.tasks} == {"hello", "a", "b"}
    assert verdict.versions == {"nemo-gym": "0.7.0", "harbor": "0.25.0"}
    assert verdict.graders == (
        "resources_servers/mcqa",
        "responses_api_agents/harbor_agent_general (the tests of each task, run by Harbor)",
    )
    manifest.write_text(text.replace("simple_agent-train", "others"))
    (reason,) = reasons(heard(out))
    assert "gym env validate: no report:" in reason
    assert "Manifest composition is stale" in reason
