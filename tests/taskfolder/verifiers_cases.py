"""Task folders that Verifiers takes, and for every reason those that it is not given.

Each case is what it changes in `BASE`, a folder that Verifiers (0.4.0) loads: `None` takes a file
away, and a text that begins with `->` is a link. `tests/frameworks/test_folder_routes.py` asks the
framework about each.
"""

from __future__ import annotations

from typing import NamedTuple

from rlconvert.files import Blob, Entry, File, FileTree, Link, make_tree

Files = dict[str, str | None]

TOML = """\
[metadata]
difficulty = "easy"

[environment]
docker_image = "busybox"
"""
REWARD = "echo 1 > /logs/verifier/reward.txt\n"
BASE: Files = {
    "task.toml": TOML,
    "instruction.md": "Do it.\n",
    "tests/test.sh": "#!/bin/bash\n" + REWARD,
}
COMPOSE = "environment/docker-compose.yaml"
BUILT = {"environment/Dockerfile": "FROM busybox\n"}
NO_IMAGE = "[environment]\ncpus = 1\n"
SERVICES = "services:\n  main:\n    image: busybox\n  db:\n    image: postgres\n"


class Case(NamedTuple):
    """A folder by its changes, and the name it is to have; without a `reason` it is taken."""

    name: str
    reason: str
    files: Files


def toml(more: str) -> Files:
    """The base's `task.toml`, with more at its end."""
    return {"task.toml": TOML + more}


def before(more: str) -> Files:
    """The same, with more at its start."""
    return {"task.toml": more + TOML}


TAKEN = [
    Case("plain", "", {}),
    Case("image and Dockerfile", "", {**BUILT}),
    Case("files for the image", "", {"environment/data.txt": "x"}),
    Case("a kept folder", "", {"task.toml": "", "environment/.gitkeep": ""}),
    Case("ünïcode ☃", "", {}),
    Case("a*b", "", {}),
    Case(".hidden", "", {}),
    Case("compose image", "", {"task.toml": NO_IMAGE, COMPOSE: SERVICES}),
    Case("compose build", "", {"task.toml": NO_IMAGE, COMPOSE: "services: {main: {build: .}}\n"}),
    Case(
        "compose merge",
        "",
        {"task.toml": NO_IMAGE, COMPOSE: "x: &x {image: a}\nservices: {main: {<<: *x}}\n"},
    ),
    Case(
        "compose without main", "", {"task.toml": NO_IMAGE, COMPOSE: "services: {db: {image: a}}\n"}
    ),
    Case("compose and image", "", {COMPOSE: "services: {db: {image: a}}\n", **BUILT}),
    Case(
        "hook in a service",
        "",
        {
            **before('artifacts = [{source = "/x", service = "db"}]\n'),
            COMPOSE: SERVICES,
        },
    ),
    Case("whole cpus", "", toml("cpus = 2.0\n")),
    Case("cpus as text", "", toml('cpus = "2"\n')),
    Case("separate, same image", "", toml('[verifier]\nenvironment_mode = "separate"\n')),
    Case(
        "separate, own image",
        "",
        {
            **toml('[verifier.environment]\ndocker_image = "busybox"\n'),
            "tests/test.sh": None,
        },
    ),
    Case("shared, tests with a Dockerfile", "", {"tests/Dockerfile": "FROM busybox\n"}),
    Case("no first line", "", {"tests/test.sh": REWARD}),
    Case("sh", "", {"tests/test.sh": "#!/bin/sh\n" + REWARD}),
    Case("env bash", "", {"tests/test.sh": "#!/usr/bin/env bash\n" + REWARD}),
    Case(
        "several rewards",
        "",
        {
            "tests/test.sh": 'echo \'{"reward": 1, "style": 0}\' > /logs/verifier/reward.json\n',
        },
    ),
    Case("ignored solution", "", {"solution/.harborignore": "*\n", "solution/x": "x"}),
    Case("tags", "", {"task.toml": TOML.replace("difficulty", 'tags = ["a"]\ncategory')}),
    Case("no network", "", toml('network_mode = "no-network"\n')),
    Case("empty steps", "", before("steps = []\n")),
    Case("link to a file", "", {"tests/a.txt": "x", "tests/b.txt": "-> a.txt"}),
    Case("link to a folder", "", {"tests/a/b.txt": "x", "environment/c": "-> ../tests/a"}),
    Case("unknown keys", "", toml("[nobody]\nknows = 1\n")),
]

FAILING = [
    Case(
        "steps",
        "several-steps",
        {
            **toml('[[steps]]\nname = "one"\n'),
            "steps/one/instruction.md": "x",
        },
    ),
    Case("verifier user", "verifier-user", toml('[verifier]\nuser = "root"\n')),
    Case("collect user", "collect-user", toml('[[verifier.collect]]\ncommand = "x"\nuser = 0\n')),
    Case(
        "hook elsewhere",
        "service-undeclared",
        toml('[[verifier.collect]]\ncommand = "x"\nservice = "db"\n'),
    ),
    Case(
        "artifact elsewhere",
        "service-undeclared",
        before('artifacts = [{source = "/x", service = "web"}]\n') | {COMPOSE: SERVICES},
    ),
    Case("compose is a list", "compose-unreadable", {"task.toml": NO_IMAGE, COMPOSE: "- a\n"}),
    Case("compose is broken", "compose-unreadable", {"task.toml": NO_IMAGE, COMPOSE: "a: [\n"}),
    Case("compose is empty", "compose-unreadable", {"task.toml": NO_IMAGE, COMPOSE: ""}),
    Case(
        "main is null",
        "compose-unreadable",
        {"task.toml": NO_IMAGE, COMPOSE: "services: {main: }\n"},
    ),
    Case("Dockerfile", "image-missing", {"task.toml": NO_IMAGE, **BUILT}),
    Case(
        "Dockerfile, image empty",
        "image-missing",
        {"task.toml": '[environment]\ndocker_image = ""\n', **BUILT},
    ),
    Case(
        "Dockerfile is a folder",
        "image-missing",
        {"task.toml": NO_IMAGE, "environment/Dockerfile/x": ""},
    ),
    Case(
        "compose over a Dockerfile",
        "image-missing",
        {"task.toml": NO_IMAGE, COMPOSE: "services: {main: {environment: {A: b}}}\n", **BUILT},
    ),
    Case(
        "separate Dockerfile",
        "verifier-image-missing",
        {
            **toml('[verifier]\nenvironment_mode = "separate"\n'),
            "tests/Dockerfile": "FROM busybox\n",
        },
    ),
    Case(
        "separate compose",
        "verifier-image-missing",
        {
            **toml("[verifier.environment]\ncpus = 1\n"),
            "tests/docker-compose.yaml": SERVICES,
        },
    ),
    Case(
        "separate windows",
        "verifier-machine",
        {
            **toml('[verifier.environment]\nos = "windows"\n'),
            "tests/test.bat": "x",
        },
    ),
    Case(
        "separate tpu",
        "verifier-machine",
        toml('[verifier.environment.tpu]\ntype = "v4"\ntopology = "2x2"\n'),
    ),
    Case("difficulty", "metadata-types", {"task.toml": TOML.replace('"easy"', "3")}),
    Case(
        "category",
        "metadata-types",
        {"task.toml": TOML.replace('difficulty = "easy"', "category = []")},
    ),
    Case("tags as text", "metadata-types", {"task.toml": TOML.replace("difficulty", "tags")}),
    Case(
        "tags of numbers",
        "metadata-types",
        {"task.toml": TOML.replace('difficulty = "easy"', "tags = [1]")},
    ),
    Case("half a cpu", "fraction-of-a-cpu", toml("cpus = 0.5\n")),
    Case(
        "half a cpu for the verifier",
        "fraction-of-a-cpu",
        toml("[verifier.environment]\ncpus = 1.5\n"),
    ),
    Case("one inside", "task-inside", {"environment/inner/task.toml": "x = 1\n"}),
    Case("one in tests", "task-inside", {"tests/data/task.toml": ""}),
]

STRICTER = [
    Case("windows", "windows", {**toml('os = "windows"\n'), "tests/test.bat": "x"}),
    Case("tpu", "tpu", toml('[environment.tpu]\ntype = "v4"\ntopology = "2x2"\n')),
    Case(
        "container name",
        "compose-refused",
        {"task.toml": NO_IMAGE, COMPOSE: "services: {main: {image: a, container_name: b}}\n"},
    ),
    Case(
        "named volume",
        "compose-refused",
        {
            "task.toml": NO_IMAGE,
            COMPOSE: "services: {main: {image: a}}\nvolumes: {v: {external: true}}\n",
        },
    ),
    Case(
        "compose with a GPU",
        "compose-refused",
        {"task.toml": NO_IMAGE + "gpus = 1\n", COMPOSE: SERVICES},
    ),
    Case(
        "files and no image", "files-without-image", {"task.toml": NO_IMAGE, "environment/x": "x"}
    ),
    Case("python", "script-not-bash", {"tests/test.sh": "#!/usr/bin/env python3\nprint(1)\n"}),
    Case("bash -e", "script-options", {"tests/test.sh": "#!/bin/bash -e\n" + REWARD}),
    Case("ignored tests", "tests-ignored", {"tests/.harborignore": "*.txt\n", "tests/x.txt": "x"}),
    Case("conversation", "conversation-before", {"trajectory.json": "{}"}),
    Case(
        "headers",
        "mcp-headers",
        toml('[[environment.mcp_servers]]\nname = "a"\nurl = "http://a"\nheaders = {X-A = "b"}\n'),
    ),
    Case("artifact twice", "artifact-twice", before('artifacts = ["/x", "/x/"]\n')),
    Case(
        "other rewards",
        "reward-key-missing",
        {
            "tests/test.sh": 'echo \'{"a": 1, "b": 0}\' > /logs/verifier/reward.json\n',
        },
    ),
    Case(
        "volumes of nothing",
        "compose-unreadable",
        {"task.toml": NO_IMAGE, COMPOSE: "services: {main: {image: a}}\nvolumes: 3\n"},
    ),
]

UNFETCHED = [
    Case("[x]", "name-not-fetched", {}),
    Case("a[b", "name-not-fetched", {}),
    Case("link to nothing", "link-to-nothing", {"tests/a.txt": "-> later.txt"}),
]
"""Apart from the others, since none of a dataset is fetched with them."""


def folder_of(case: Case) -> FileTree:
    """The folder of a case."""
    entries: dict[str, Entry] = {}
    for path, text in {**BASE, **case.files}.items():
        if text is not None:
            link = text.removeprefix("-> ")
            entries[path] = File(Blob(text.encode())) if link == text else Link(link)
    return make_tree(entries)
