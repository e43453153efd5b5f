"""A repo in which everything that a loader could be lured to run would leave a mark.

Each piece of code writes a file called like its place into a folder of marks. What is a value to
be resolved or a command to be run does the same, or tells the secret `SECRET`.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

HUB = "https://huggingface.co"
SECRET = "hf_thisMustNotBeTold"
HELLO = Path(__file__).parents[1] / "fixtures" / "golden" / "harbor-to-nemo" / "hello"

PYTHON = (
    "conftest.py",
    "setup.py",
    "sitecustomize.py",
    "usercustomize.py",
    "__init__.py",
    "__main__.py",
    "repo.py",  # as `datasets` once loaded what is called like its repo
    "org.py",
    "name.py",
    "environment.py",
    "prepare.py",
    "prompts.py",
    "app.py",
    "task_data.py",
    "taskset.py",
    "hubconf.py",
    "noxfile.py",
    "antigravity.py",
)
MODULES = (
    "asyncio",
    "datasets",
    "dirhash",
    "fsspec",
    "harbor",
    "huggingface_hub",
    "hydra",
    "hydra_plugins",
    "json",
    "litellm",
    "nemo_gym",
    "omegaconf",
    "openai",
    "openenv",
    "pydantic",
    "pytest",
    "ray",
    "rich",
    "tomllib",
    "tqdm",
    "typing_extensions",
    "verifiers",
    "yaml",
)
"""What the frameworks import: first on the path, these would be taken for it."""
COMPONENTS = (
    "resources_servers/mcqa",
    "resources_servers/evil",
    "responses_api_agents/simple_agent",
    "responses_api_agents/harbor_agent_general",
    "responses_api_models/openai_model",
    "environment_servers/legacy_agent",
    "benchmarks/evil",
)
FOLDERS = ("", "tasks", "tasks/hello", "tasks/hello/environment", "tasks/hello/tests", "data",
           "environments", "environments/rows", "environments/hello")  # fmt: skip
SHELL = (
    "Makefile",
    "tasks/hello/environment/Dockerfile",
    "tasks/hello/environment/entrypoint.sh",
    "tasks/hello/pre_artifacts.sh",
    "tasks/hello/solution/solve.sh",
    "tasks/hello/tests/test.sh",
    "hooks/post-checkout",
    ".githooks/post-checkout",
)

ROWS = """\
rows:
  resources_servers:
    mcqa: {entrypoint: app.py, domain: knowledge}
rows_simple_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.py
      resources_server: {type: resources_servers, name: rows}
      model_server: {type: responses_api_models, name: policy_model}
      datasets:
      - {name: rows, type: train, jsonl_fpath: data/rows.jsonl, license: MIT}
"""
MANIFEST = """\
name: rows
version: "1"
kind: environment
integration_profile: custom-gym-verifier
domain: knowledge
description: d
modality: text
licensing: MIT
authors: [a]
reward: {range: [0, 1], higher_is_better: true}
determinism: unknown
resources_server: mcqa
agent_server: simple_agent
model_server: policy_model
datasets:
- {name: rows, type: train, jsonl_fpath: data/rows.jsonl, num_repeats: 1}
"""
REQUEST = {"input": "?"}
ROW = {"options": [{"A": "one"}, {"B": "two"}], "expected_answer": "A"}


class Hostile:
    """A folder to fill, and the marks that code of it would leave."""

    def __init__(self, folder: Path) -> None:
        self.repo = folder / "repo"
        self._marks = folder / "marks"
        self._marks.mkdir(parents=True)
        self.repo.mkdir()
        self._planted: set[str] = set()

    @property
    def marks(self) -> list[str]:
        """What ran."""
        return sorted(path.name for path in self._marks.iterdir())

    @property
    def planted(self) -> int:
        """How many things could have."""
        return len(self._planted)

    def mark(self, place: str) -> str:
        """The file that shows that `place` was run."""
        self._planted.add(place)
        return str(self._marks / re.sub(r"\W", "_", place))

    def touch(self, place: str) -> str:
        """A command that leaves the mark."""
        return f"touch {shlex.quote(self.mark(place))}"

    def write(self, path: str, text: str) -> None:
        """A file; what is there stays."""
        place = self.repo / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.exists():
            place.write_text(text, encoding="utf-8")

    def python(self, path: str) -> None:
        """A module that leaves its mark."""
        self.write(path, f"open({self.mark(path)!r}, 'w').close()\n")

    def script(self, path: str) -> None:
        """A program that leaves its mark."""
        self.write(path, f"#!/bin/sh\n{self.touch(path)}\n")
        (self.repo / path).chmod(0o755)


def plant_code(hostile: Hostile) -> None:
    """Everything that Python, pip, git, make and docker would take for a program."""
    for path in SHELL:
        hostile.script(path)
    for folder in FOLDERS:
        above = f"{folder}/" if folder else ""
        for name in (*PYTHON, *(f"{each}.py" for each in MODULES)):
            hostile.python(above + name)
        for name in MODULES if folder != "tasks" else ():  # where every folder is a task
            hostile.python(f"{above}{name}/__init__.py")
        entry = f"import sys; exec(open({hostile.mark(above + 'pth')!r}, 'w').close())"
        hostile.write(f"{above}evil.pth", f"{entry}\n")
    for home in COMPONENTS:
        for name in ("__init__.py", "app.py", "task_data.py", "prepare.py", "verifier.py"):
            hostile.python(f"{home}/{name}")
        hostile.python(f"{home.partition('/')[0]}/__init__.py")
    hostile.write(
        "pyproject.toml",
        '[build-system]\nrequires = []\nbuild-backend = "repo"\nbackend-path = ["."]\n'
        '[project]\nname = "repo"\nversion = "1"\n'
        '[project.entry-points."verifiers.tasksets"]\nevil = "repo:main"\n'
        '[tool.pytest.ini_options]\naddopts = "-p repo"\n',
    )
    hostile.write("repo.egg-info/entry_points.txt", "[verifiers]\nevil = repo:main\n")
    hostile.write(".gitattributes", "* filter=evil diff=evil merge=evil\n")
    hostile.write(".gitmodules", '[submodule "x"]\n\tpath = x\n\turl = ext::sh\n')
    hostile.write("env.yaml", f"config_paths: [{hostile.repo}/environments/rows/config.yaml]\n")
    compose = f"services:\n  main:\n    command: {hostile.touch('compose')}\n"
    hostile.write("tasks/hello/environment/docker-compose.yaml", compose)
    plant_git(hostile, "")


def plant_git(hostile: Hostile, folder: str) -> None:
    """A `.git` as an archive can bring it, whose settings are programs."""
    git = f"{folder}.git"
    subprocess.run(["git", "init", "-q", hostile.repo / folder], check=True)
    for hook in ("pre-commit", "post-commit", "post-checkout", "post-index-change", "pre-auto-gc"):
        hostile.script(f"{git}/hooks/{hook}")
    evil = {
        "core.fsmonitor": "fsmonitor",
        "core.sshCommand": "ssh",
        "core.editor": "editor",
        "core.pager": "pager",
        "diff.external": "diff",
        "filter.evil.clean": "clean",
        "filter.evil.smudge": "smudge",
        "uploadpack.packObjectsHook": "pack",
        "gpg.program": "gpg",
        "commit.gpgSign": "",
    }
    for key, name in evil.items():
        value = hostile.touch(f"{git} {name}") if name else "true"
        subprocess.run(["git", "-C", hostile.repo / folder, "config", key, value], check=True)


def plant_tasks(hostile: Hostile) -> None:
    """A task of Harbor with everything that is a command, and a registry that lists it."""
    for path in HELLO.rglob("*"):  # with what NeMo Gym wants of them
        if path.is_file() and path.name in ("instruction.md", "config.yaml", "manifest.yaml"):
            hostile.write(str(path.relative_to(HELLO)), path.read_text(encoding="utf-8"))
    row = {"task_name": "hello", "responses_create_params": {"input": []}}
    hostile.write("data/hello/harbor_agent_general-train.jsonl", json.dumps(row) + "\n")
    command = json.dumps(hostile.touch("task.toml"))
    hostile.write(
        "tasks/hello/task.toml",
        f"""\
schema_version = "1.4"
[task]
name = "org/hello"
description = "${{oc.env:HF_TOKEN}} ${{HF_TOKEN}} {{{{ HF_TOKEN }}}}"
[verifier.env]
KEY = "${{HF_TOKEN}}"
[solution.env]
KEY = "${{HF_TOKEN:-none}}"
[environment]
docker_image = "registry.example.org/hello:1"
[environment.env]
KEY = "${{HF_TOKEN}}"
[environment.healthcheck]
command = {command}
[[verifier.collect]]
command = {command}
[[environment.mcp_servers]]
name = "m"
transport = "stdio"
command = "sh"
args = ["-c", {command}]
""",
    )
    tasks = [{"name": "hello", "path": "tasks/hello"}]
    whole = [{"name": "set", "version": "1", "description": "d", "tasks": tasks}]
    hostile.write("registry.json", json.dumps(whole))


def plant_rows(hostile: Hostile) -> None:
    """Rows of NeMo Gym, by a good config."""
    text = f"${{oc.env:HF_TOKEN}} {{HF_TOKEN}} $({hostile.touch('row')})"
    row = {"responses_create_params": {"input": text, "metadata": {"k": text}}, **ROW}
    hostile.write("data/rows.jsonl", json.dumps(row) + "\n")
    hostile.write("environments/rows/config.yaml", ROWS)
    hostile.write("environments/rows/manifest.yaml", MANIFEST)


def evil_configs(hostile: Hostile) -> Iterator[tuple[str, str]]:
    """Configs of NeMo Gym by their names, each with another way to make something of its text."""
    touch = hostile.touch
    resolved = "${oc.env:HF_TOKEN} ${oc.decode:${oc.env:HF_TOKEN}} ${hydra:runtime.cwd}"
    code = f"__import__('os').system({touch('eval')!r})"
    settings = {
        "target": f"_target_: os.system, _args_: [{json.dumps(touch('target'))}]",
        "env": f"description: '{resolved}', grading_mode: '${{oc.env:HF_TOKEN}}'",
        "decode": "grading_mode: '${oc.decode:${oc.env:HF_TOKEN}}'",
        "eval": f"grading_mode: {json.dumps(f'${{eval:{code}}}')}",
        "judge": "judge_prompt_template_fpath: prepare.py",
    }
    for name, more in settings.items():
        yield name, ROWS.replace("domain: knowledge}", f"domain: knowledge, {more}}}")
    yield "entry", ROWS.replace("entrypoint: app.py", "entrypoint: ../../prepare.py")
    for name, more in {
        "prepare": "prepare_script: prepare.py",
        "prompt": "prompt_config: prompt.yaml",
    }.items():
        yield name, ROWS.replace("license: MIT", f"license: MIT, {more}")
    yield "benchmark", ROWS.replace("type: train", "type: benchmark, prepare_script: prepare.py")
    yield "chain", f"config_paths: [../../env.yaml, {hostile.repo}/env.yaml, /etc/passwd]\n{ROWS}"
    for dataset in ("commit", "address"):  # of the registry with options
        repo = f"{{repo: {HUB}/datasets/org/name, name: {dataset}, version: '1'}}"
        text = (HELLO / "environments" / "hello" / "config.yaml").read_text(encoding="utf-8")
        found = re.sub(r"harbor_dataset:\n.*\n", f"harbor_dataset: {repo}\n", text)
        yield dataset, found.replace("hello_harbor_agent", f"{dataset}_harbor_agent")
    tags = (
        f'!!python/object/apply:os.system ["{touch("yaml apply")}"]',
        f'!!python/object/new:os.system ["{touch("yaml new")}"]',
        "!!python/name:repo.x ''",
    )
    for number, tag in enumerate(tags):
        yield f"yaml{number}", f"a: {tag}\n{ROWS}"


def evil_registry(hostile: Hostile, *, options: bool) -> str:
    """A registry whose every dataset would have git run something; `options`: by an option."""
    option = f"--upload-pack={hostile.touch('upload-pack')};true"
    there = f"file://{hostile.repo}"
    entries: dict[str, dict[str, str]] = {
        "ext": {"git_url": f"ext::sh -c {hostile.touch('ext').replace(' ', '% ')}"},
        "ssh": {"git_url": f"ssh://-oProxyCommand={hostile.touch('ssh')}/x"},
        "folder": {"git_url": there},
        "path": {"path": f"--stdin={hostile.touch('path')}"},
    }
    if options:
        entries = {
            "address": {"git_url": option, "git_commit_id": "0" * 40},
            "commit": {"git_commit_id": option},
            "commit-there": {"git_url": there, "git_commit_id": option},
            "setting": {"git_url": f"-ccore.fsmonitor={hostile.touch('setting')}"},
        }
    hello = {"name": "hello", "path": "tasks/hello"}
    datasets = [
        {"name": name, "version": "1", "description": "d", "tasks": [hello | more]}
        for name, more in entries.items()
    ]
    return json.dumps(datasets)
