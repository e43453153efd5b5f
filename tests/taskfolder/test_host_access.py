"""What a task asks of the host, told from its compose files; and what is nothing to speak of."""

from __future__ import annotations

import time

import pytest

from rlconvert.files import Blob, File, make_tree
from rlconvert.format import get_format
from rlconvert.formats.taskfolder.folder import task_from_folder
from rlconvert.formats.taskfolder.host_access import host_access
from rlconvert.model import Task

COMPOSE = "environment/docker-compose.yaml"


def task(files: dict[str, str | bytes], config: str = "") -> Task:
    given: dict[str, str | bytes] = {
        "instruction.md": "do it\n",
        "task.toml": config,
        "tests/test.sh": "exit 0\n",
        "environment/Dockerfile": "FROM base\n",
    }
    data = {
        path: text if isinstance(text, bytes) else text.encode()
        for path, text in (given | files).items()
    }
    return task_from_folder("it", "it", make_tree({path: File(Blob(data[path])) for path in data}))


def asked(compose: str | bytes, **more: str) -> list[str]:
    """What is said of a compose file, less where it stands; `a_yaml` is another file beside it."""
    files: dict[str, str | bytes] = {COMPOSE: compose}
    for name, text in more.items():
        files[f"environment/{name.replace('_', '.')}"] = text
    said = host_access(task(files))
    assert all(sentence.startswith(f"{COMPOSE}: ") for sentence in said)
    return [sentence.removeprefix(f"{COMPOSE}: ") for sentence in said]


def service(text: str) -> str:
    """A compose file of one service with these lines."""
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    return f"services:\n  main:\n{lines}"


SERVICES = {
    "volumes: [/etc:/host]": "mounts the file of the host '/etc'",
    "volumes: ['~/.ssh:/ssh:ro']": "mounts the file of the host '~/.ssh'",
    "volumes: [../tests:/tests]": "mounts outside its own folder, '../tests'",
    "volumes: [./a/../../b:/b]": "mounts outside its own folder, './a/../../b'",
    "volumes: ['${HOME}:/home']": "mounts the file of the host that a variable names, '${HOME}'",
    "volumes: ['${DIR:-./data}:/data']": (
        "mounts the file of the host that a variable names, '${DIR:-./data}'"
    ),
    "volumes: ['C:\\data:/data']": "mounts the file of the host 'C:\\\\data'",
    "volumes:\n- /var/run/docker.sock:/var/run/docker.sock": (
        "mounts the file of the host '/var/run/docker.sock' (the socket of the container engine)"
    ),
    "volumes: [{type: bind, source: /, target: /host}]": "mounts the file of the host '/'",
    "volumes_from: ['container:other']": "asks for volumes_from: container:other",
    "privileged: true": "is given privileged: the rights of the host",
    "privileged: ${YES}": "is given privileged: the rights of the host",
    "use_api_socket: true": "is given use_api_socket: the rights of the host",
    "network_mode: host": "shares with the host: network_mode: host",
    "network_mode: 'container:other'": "shares with the host: network_mode: container:other",
    "pid: host": "shares with the host: pid: host",
    "ipc: 'host'": "shares with the host: ipc: host",
    "userns_mode: host": "shares with the host: userns_mode: host",
    "cgroup: host": "shares with the host: cgroup: host",
    "devices: ['/dev/kvm:/dev/kvm']": "asks for devices: /dev/kvm:/dev/kvm",
    "devices: [{source: /dev/sda, target: /dev/sda}]": "asks for devices: /dev/sda",
    "device_cgroup_rules: ['c 1:3 mr']": "asks for device_cgroup_rules: c 1:3 mr",
    "cap_add: [SYS_ADMIN]": "asks for cap_add: SYS_ADMIN",
    "security_opt: ['seccomp:unconfined']": (
        "loosens what confines it: security_opt: seccomp:unconfined"
    ),
    "security_opt: [apparmor=unconfined]": (
        "loosens what confines it: security_opt: apparmor=unconfined"
    ),
    "security_opt: ['label:disable']": "loosens what confines it: security_opt: label:disable",
    "provider: {type: tool}": "asks for a provider of the host",
    "runtime: nvidia": "asks for a runtime of the host",
    "post_start: [{command: id, privileged: true}]": "runs post_start with the rights of the host",
    "env_file: ../.env": "reads outside its own folder, '../.env'",
    "env_file: [{path: /etc/environment}]": "reads the file of the host '/etc/environment'",
    "extends: {file: /x.yaml, service: a}": "takes in the file of the host '/x.yaml'",
    "build: ../..": "is built from outside its own folder, '../..'",
    "build: {context: /srv}": "is built from the file of the host '/srv'",
    "build: https://git.example.invalid/a.git": (
        "is built from a remote place, 'https://git.example.invalid/a.git'"
    ),
    "build: {context: ., additional_contexts: {home: /root}}": (
        "is built from the file of the host '/root'"
    ),
    "build: {context: ., additional_contexts: ['up=../x']}": (
        "is built from outside its own folder, '../x'"
    ),
    "build: {context: a, dockerfile: ../../Dockerfile}": (
        "has as its recipe outside its own folder, '../../Dockerfile'"
    ),
    "build: {context: ., network: host}": "is built in the network of the host",
    "build: {context: ., ssh: [default]}": "is built with ssh of the host",
    "build: {context: ., privileged: true}": "is built with privileged: the rights of the host",
    "ports: ['8080:80']": "opens a port of the host to all: 8080:80",
    "ports: [80]": "opens a port of the host to all: 80",
    "ports: ['0.0.0.0:8080:80']": "opens a port of the host to all: 0.0.0.0:8080:80",
    "ports: [{target: 80, published: 8080}]": "opens a port of the host to all: 80",
}


@pytest.mark.parametrize("text", SERVICES)
def test_a_service_asks(text: str) -> None:
    assert asked(service(text)) == [f"the service 'main' {SERVICES[text]}"]


HARMLESS = [
    "image: base\ncommand: [sleep, infinity]\nenvironment: {A: b}\nexpose: [80]",
    "volumes: ['data:/data', './seed:/seed:ro', '/cache']",
    "volumes: [{type: volume, source: data, target: /x}, {type: tmpfs, target: /y}]",
    "volumes: ['${HOST_VERIFIER_LOGS_PATH}:${ENV_VERIFIER_LOGS_PATH}']",
    "volumes: [{type: bind, source: ./seed, target: /seed}]",
    "privileged: false",
    "network_mode: none",
    "network_mode: 'service:store'",
    "ipc: shareable",
    "cap_drop: [ALL]\nsecurity_opt: ['no-new-privileges:true']\nread_only: true",
    "build: .",
    "build: {context: '${CONTEXT_DIR}', dockerfile: Dockerfile, additional_contexts: [a=./a]}",
    "build: {context: ./a, dockerfile: ../Dockerfile}",
    "env_file: [./a.env]",
    "ports: ['127.0.0.1:8080:80', {target: 80, published: 81, host_ip: 127.0.0.1}]",
    "volumes_from: [store]\ndepends_on: [store]\ndevices: []\ncap_add:\nports:",
    "container_name: host\nhostname: host\nlabels: {privileged: 'true', pid: host}",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_a_service_asks_nothing(text: str) -> None:
    assert asked(service(text)) == []


TOPS = {
    "secrets: {key: {file: ~/.netrc}}": "the secret 'key' is the file of the host '~/.netrc'",
    "configs: {c: {file: ../x}}": "the config 'c' is outside its own folder, '../x'",
    "volumes: {data: {driver_opts: {type: none, o: bind, device: /srv}}}": (
        "the volume 'data' is the file of the host '/srv'"
    ),
    "volumes: {data: {external: true}}": "the volume 'data' is one of the host's own",
    "networks: {lan: {external: true}}": "the network 'lan' is one of the host's own",
    "networks: {lan: {driver: macvlan}}": "the network 'lan' is that of the host",
    "include: [../other.yaml]": "it takes in outside its own folder, '../other.yaml'",
    "include: ['https://example.invalid/c.yaml']": (
        "it takes in a remote file, 'https://example.invalid/c.yaml'"
    ),
    "include: [{path: b.yaml}]": "it takes in 'b.yaml', which the task does not have",
}


@pytest.mark.parametrize("text", TOPS)
def test_a_file_asks(text: str) -> None:
    assert asked(f"services: {{main: {{image: base}}}}\n{text}\n") == [TOPS[text]]


def test_a_file_asks_nothing() -> None:
    text = """
volumes: {data: , cache: {driver: local}, mem: {driver_opts: {type: tmpfs, device: tmpfs}}}
networks: {lan: {driver: bridge, internal: true}}
secrets: {key: {file: ./key.txt}}
services: {main: {image: base}}
"""
    assert asked(text) == []


def test_files_that_are_taken_in_are_read_too() -> None:
    other = service("privileged: true")
    said = ["the service 'main' is given privileged: the rights of the host"]
    assert asked("include: [a.yaml]\n", a_yaml=other) == said
    assert asked("include: [{path: [./a.yaml]}]\n", a_yaml=other) == said
    assert asked(service("extends: {file: a.yaml, service: main}"), a_yaml=other) == said
    assert asked("include: [a.yaml]\n", a_yaml="include: [docker-compose.yaml]\n") == []


def test_anchors_and_merges_are_followed() -> None:
    text = """
x-more: &more {privileged: true}
services:
  main:
    <<: *more
  other:
    <<: [*more, {pid: host}]
    privileged: false
"""
    assert asked(text) == [
        "the service 'main' is given privileged: the rights of the host",
        "the service 'other' shares with the host: pid: host",
    ]


def test_only_the_compose_files_of_a_run_count() -> None:
    bad = service("privileged: true")
    said = ("the service 'main' is given privileged: the rights of the host",)
    assert host_access(task({})) == ()
    assert host_access(task({"environment/app/docker-compose.yaml": bad})) == ()
    assert host_access(task({"tests/docker-compose.yaml": bad})) == ()
    separate = '[verifier]\nenvironment_mode = "separate"\n'
    found = host_access(task({"tests/docker-compose.yaml": bad}, separate))
    assert found == (f"tests/docker-compose.yaml: {said[0]}",)
    steps = (
        '[[steps]]\nname = "a"\n[steps.verifier]\nenvironment_mode = "separate"\n'
        '[[steps]]\nname = "b"\n'
    )
    files: dict[str, str | bytes] = {f"steps/{each}/instruction.md": "x\n" for each in "ab"}
    files |= {f"steps/{each}/tests/docker-compose.yaml": bad for each in "ab"}
    assert host_access(task(files, steps)) == (f"steps/a/tests/docker-compose.yaml: {said[0]}",)


def test_every_format_with_task_folders_says_it() -> None:
    bad = task({COMPOSE: service("pid: host")})
    for name in ("harbor", "verifiers", "openenv", "nemo"):
        assert get_format(name).host_access(bad) == host_access(bad) != ()


LAUGHS = "a0: &a0 {privileged: true}\n" + "".join(
    f"a{level}: &a{level} {{<<: [{', '.join([f'*a{level - 1}'] * 10)}]}}\n"
    for level in range(1, 12)
)
LISTS = "a0: &a0 [x]\n" + "".join(
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n" for level in range(1, 12)
)
OPEN = "${a" * 1_000
MOUNTS = "the service 'main' mounts the file of the host that a variable names,"
UNKNOWN = "what it asks for is not known: "
HOSTILE: dict[str, tuple[str | bytes, list[str]]] = {
    "not YAML": ("services: [", [f"{UNKNOWN}it is not YAML"]),
    "bytes": (b"\xff\xfe\x00services", [f"{UNKNOWN}it is not YAML"]),
    "two documents": ("a: 1\n---\nb: 2\n", [f"{UNKNOWN}it is not YAML"]),
    "unknown tag": ("services: !!python/object/apply:os.system [id]\n", []),
    "deep": ("[" * 50_000, [f"{UNKNOWN}it is nested too deeply"]),
    "big": ("# x\n" * 100_000, [f"{UNKNOWN}it is too big"]),
    "laughs": (f"{LAUGHS}services: *a11\n", [f"{UNKNOWN}its aliases make it too large"]),
    "laughs in lists": (f"{LISTS}services: {{main: {{cap_add: *a11, devices: *a11}}}}\n", []),
    "merges itself": ("services: &a\n  <<: *a\n", [f"{UNKNOWN}it merges itself"]),
    "an open variable": (service(f"volumes: ['{OPEN}:/x']"), [f"{MOUNTS} '{OPEN}'"]),
    "variables": (service(f"volumes: ['{OPEN}}}:/x']"), [f"{MOUNTS} '{OPEN}}}'"]),
    "no mapping": ("- a\n- b\n", []),
    "empty": ("", []),
    "odd kinds": ("services: {main: [privileged], other: 3, ? [a] : b}\ninclude: 3\n", []),
    "many files": (
        "include: [" + ", ".join(f"f{number}.yaml" for number in range(5_000)) + "]\n",
        [f"it takes in 'f{number}.yaml', which the task does not have" for number in range(15)]
        + ["it takes in more files than are read"],
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_end_quickly(name: str) -> None:
    text, expected = HOSTILE[name]
    before = time.process_time()
    found = asked(text)
    assert time.process_time() - before < 5
    assert found == expected
