"""Ask the real NeMo Gym about rows and the configs that declare them. Runs inside its own Python.

    PYTHON nemo_environments.py JOB ANSWER

JOB is a JSON object: `repo`; `configs`, paths of configs in it; `brought`, the components (as
`resources_servers/NAME`) whose code the repo brings: that code is not run; `undeclared`, a list of
`{path, component}`: rows that no config declares, with the server (or agent) that grades them;
`rows`, files as `nemo_rows.py` is asked about them, but that the components of a file which configs
declare are those that NeMo Gym finds, less the ones that are brought.

Each config goes through NeMo Gym's own parser. Each server and agent in it must have its program,
in NeMo Gym or, where the repo brings its code, there. Each instance with datasets is resolved to
the agent that would run its rows, as it is at the start of a rollout. Then `gym env validate` and
`gym dataset collate` run, and what they report is compared with the lines of the files (they end
with status 0 in many a failure). Undeclared rows are collated with a config of our own, which
declares them on their server.

ANSWER is a line of JSON on all this, and then the lines of `nemo_rows.py`. Written for nemo-gym
0.7.0.
"""

# The framework is no dependency, and not in the type checkers' environment.
# mypy: disable-error-code="import-not-found"
# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from nemo_commands import (
    Counted,
    codeless,
    count_lines,
    gym,
    instances,
    judge_collate,
    judge_validate,
    parse_config,
)

SERVERS, AGENTS = "resources_servers", "responses_api_agents"


def component_of(instance: Any, by_name: Mapping[str, Any]) -> str | None:
    """Who grades the rows of an instance: the rule of `collate` for rows that a server declares."""
    if instance.SERVER_TYPE == SERVERS:
        return str(next(iter(instance.resources_servers)))
    reference = getattr(instance.get_inner_run_server_config(), "resources_server", None)
    if reference is None:
        return f"{AGENTS}/{next(iter(instance.responses_api_agents))}"
    name = reference.get("name") if hasattr(reference, "get") else getattr(reference, "name", None)
    server = by_name.get(str(name))
    return None if server is None else str(next(iter(server.resources_servers)))


def homeless(every: Collection[Any], repo: Path, brought: Collection[str]) -> Iterator[str]:
    """Servers and agents whose program is nowhere: nothing would compute a reward."""
    from nemo_gym import PARENT_DIR

    for instance in every:
        if instance.SERVER_TYPE not in (SERVERS, AGENTS):
            continue
        for name, settings in getattr(instance, instance.SERVER_TYPE).items():
            home = f"{instance.SERVER_TYPE}/{name}"
            program = f"{home}/{settings.entrypoint}"
            if home in brought:  # it hides NeMo Gym's own, all of it
                if not (repo / program).is_file():
                    yield f"{instance.name}: the repo brings {home}, and no {program}"
            elif not Path(PARENT_DIR, home).is_dir():
                yield f"{instance.name}: NeMo Gym has no {home}, and the repo brings none"
            elif not Path(PARENT_DIR, program).is_file():
                yield f"{instance.name}: {home} of NeMo Gym has no {settings.entrypoint}"


def unrouted(parsed: Any, instance: Any) -> Iterator[str]:
    """Why the rows of an instance would reach no agent."""
    from nemo_gym.global_config import resolve_dataset_agent

    for dataset in instance.datasets:
        pin, taskset = getattr(dataset, "agent", None), dataset.taskset
        try:
            resolve_dataset_agent(parsed, instance.name, pin=pin, taskset=taskset)
        except Exception as error:
            yield f"{instance.name}, {dataset.name}: {error}"


def judge_config(config: str, repo: Path, root: Path, brought: Collection[str]) -> dict[str, Any]:
    """Everything about one config."""
    found: dict[str, Any] = {"config": config, "faults": [], "warnings": [], "datasets": []}
    faults: list[str] = found["faults"]
    try:
        parsed = parse_config(root / config, {})
        every = instances(parsed)
    except Exception as error:
        faults.append(f"{type(error).__name__}: {error}")
        return found
    faults += homeless(every, repo, brought)
    by_name = {each.name: each for each in every}
    counted = Counted()
    missing = False
    for instance in every:
        if instance.SERVER_TYPE not in (SERVERS, AGENTS) or not instance.datasets:
            continue
        faults += unrouted(parsed, instance)
        component = component_of(instance, by_name)
        for dataset in instance.datasets:
            path = Path(root, dataset.jsonl_fpath)
            rows = count_lines(path) if path.is_file() else 0
            counted.add(dataset, rows)
            if not rows:
                missing = True
                faults.append(f"{instance.name}, {dataset.name}: no row in {dataset.jsonl_fpath}")
            place = str(dataset.jsonl_fpath)  # of a benchmark it is a Path
            found["datasets"].append({"path": place, "component": component})
    if missing:
        return found  # both commands would end at once
    folder = (repo / config).parent
    if folder.parent == repo / "environments" and (folder / "manifest.yaml").is_file():
        said = judge_validate(folder.name, root, counted)
        faults += [f"gym env validate: {each}" for each in said["faults"]]
        found["warnings"] += said["warnings"]
    else:
        faults += plainly_validated(root / config, root)
    for said in judge_collate(root / config, root, counted, ()):
        faults += [f"gym dataset collate: {each}" for each in said["faults"]]
    return found


def plainly_validated(config: Path, root: Path) -> Iterator[str]:
    """`gym env validate` for a config without a manifest: it prints that all is well, or not."""
    with tempfile.TemporaryDirectory() as scratch:
        arguments = ["env", "validate", "--config", str(config), "--search-dir", str(root)]
        done = gym(arguments, Path(scratch))
    if "Config is valid." not in done.stdout:
        yield f"gym env validate: {done.last_words}"


def judge_undeclared(files: list[dict[str, str]], root: Path) -> dict[str, Any]:
    """Collate rows with a config that declares them on whoever grades them."""
    counted, faults = Counted(), []
    document: dict[str, Any] = {}
    for number, each in enumerate(files):
        kind, _, name = each["component"].rpartition("/")
        entry = {"name": f"rows_{number}", "type": "train", "jsonl_fpath": each["path"]}
        settings = {
            "entrypoint": "app.py",
            "domain": "other",
            "datasets": [entry | {"license": "TBD"}],
        }
        document[f"rows_{number}"] = {kind or SERVERS: {name: settings}}
    with tempfile.TemporaryDirectory() as scratch:
        config = Path(scratch, "rows.yaml")
        config.write_text(json.dumps(document), encoding="utf-8")
        try:
            for instance in instances(parse_config(config, {})):
                for dataset in getattr(instance, "datasets", None) or ():
                    counted.add(dataset, count_lines(root / dataset.jsonl_fpath))
        except Exception as error:
            faults.append(f"{type(error).__name__}: {error}")
        for said in judge_collate(config, root, counted, ()):
            faults += [f"gym dataset collate: {each}" for each in said["faults"]]
    return {"config": "", "faults": faults, "warnings": [], "datasets": files}


def graded(
    rows: dict[str, Any], repo: Path, found: list[dict[str, Any]], brought: Collection[str]
) -> None:
    """Put the components that NeMo Gym finds in the place of ours."""
    path = Path(rows["path"]).relative_to(repo).as_posix()
    said = {
        dataset["component"]
        for config in found
        if config["config"]
        for dataset in config["datasets"]
        if dataset["path"] == path
    }
    components = sorted(said - {None}) or rows["components"]
    homes = {each: each if "/" in each else f"{SERVERS}/{each}" for each in components}
    rows["components"] = [each for each in components if homes[each] not in brought]


def main(job_file: str, answer_file: str) -> None:
    """Judge what the job names."""
    job = json.loads(Path(job_file).read_bytes())
    repo = Path(job["repo"]).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        root = codeless(repo, Path(scratch, "root"))
        os.environ["NEMO_GYM_EXTRA_ROOTS"] = str(root)
        os.chdir(scratch)  # NeMo Gym writes caches and logs where it stands
        found = [judge_config(each, repo, root, job["brought"]) for each in job["configs"]]
        if job["undeclared"]:
            found.append(judge_undeclared(job["undeclared"], root))
        said = {
            "nemo-gym": version("nemo-gym"),
            "python": platform.python_version(),
            "configs": found,
        }
        for rows in job["rows"]:
            graded(rows, repo, found, job["brought"])
        from nemo_rows import answers  # it imports NeMo Gym, which now knows its root

        with Path(answer_file).open("w", encoding="utf-8") as out:
            out.write(json.dumps(said) + "\n")
            out.writelines(answers(job["rows"]))
        os.chdir("/")


if __name__ == "__main__":
    main(*sys.argv[1:])
