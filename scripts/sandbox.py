"""Make what is needed to run tasks on a Debian machine that has no image registry.

    eval "$(scripts/sandbox DIR)" && pytest -m run        tasks run in podman
    eval "$(scripts/sandbox DIR --docker)"                in a Docker daemon of our own
    eval "$(scripts/sandbox DIR --published)"             with images for published tasks
    scripts/sandbox DIR --stop                            stop that daemon, let go of all mounts

As root. The engine and its tools come from apt. A root file system is made from the machine's own
Debian mirror, and becomes an image under each name that the tasks in `fixtures` build from or run:
a *substitute*, so a task that runs here is not proved to run on the published image. With
`--published` the names are those that published tasks build from, and inside is what their tests
fetch first: uv, pytest, pip, git, curl, and the machine's own certificates and settings of package
managers (those of /etc: a user's may hold secrets). All of it is kept in DIR (images too: they are
not among the machine's own; those of `--published` are apart from the others) and left alone when
it is there; only the apt packages and folders in /run are outside. Standard output: `export` lines.
What cannot be done is one line "not available: ..." on standard error, and exit status 51.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from rlconvert.errors import ExitCode

from .sandbox_recipes import FIXTURES, LABEL, NEEDLESS, SUITE, Recipe, digest, published

COMMON = ("bubblewrap", "mmdebstrap", "runc")
PODMAN = ("podman", "buildah", "uidmap", "netavark", "aardvark-dns")
DOCKER = ("docker.io",)

# runc, and limits below the machine's own: crun and podman's defaults fail where root has neither
# cgroups of one version nor CAP_SYS_RESOURCE.
CONTAINERS_CONF = """\
[containers]
default_ulimits = ["nofile=8192:8192", "nproc=16384:16384"]
[engine]
runtime = "runc"
tmp_dir = "{run}/libpod"
lock_type = "file"
[network]
network_backend = "netavark"
network_config_dir = "{folder}/networks"
"""
CONF = {"containers": "CONTAINERS_CONF", "storage": "CONTAINERS_STORAGE_CONF"}
STORAGE_CONF = """\
[storage]
driver = "overlay"
graphroot = "{folder}/storage"
runroot = "{run}/storage"
"""


class NotAvailable(Exception):
    """This machine cannot do it; the text says why, in one line."""


def say(text: str) -> None:
    """Talk goes to standard error: standard output is for a shell."""
    print(f"sandbox: {text}", file=sys.stderr, flush=True)


def run(*command: str | Path, env: Mapping[str, str] | None = None, minutes: int = 10) -> str:
    """What a command prints; its last words become the reason when it fails."""
    name = Path(command[0]).name
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=60 * minutes,
            check=False,
        )
    except FileNotFoundError:
        raise NotAvailable(f"there is no {name}") from None
    except subprocess.TimeoutExpired:
        raise NotAvailable(f"{name} took more than {minutes} minutes") from None
    if done.returncode:
        raise NotAvailable(f"{name} {command[1]}: {last_words(done.stderr or done.stdout)}")
    return done.stdout


def last_words(text: str) -> str:
    """What went wrong, without the addresses in it: a mirror's name is nobody's business."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"(?i)e:|error", line)]
    return re.sub(r"\w+://\S+", "(address)", [*errors[:1], *lines[-1:], "it failed"][0])


def install(packages: Iterable[str]) -> None:
    """Have these apt packages."""
    status = subprocess.run(
        ["dpkg-query", "--show", "--showformat=${Package} ${db:Status-Status}\n", *packages],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.splitlines()
    missing = [name for name in packages if f"{name} installed" not in status]
    if not missing:
        return
    say(f"apt packages: {' '.join(missing)}")
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    run("apt-get", "update", "-qq", env=quiet)
    run("apt-get", "install", "-qq", "--no-install-recommends", *missing, env=quiet)


def mirror() -> str:
    """The Debian mirror that apt uses here."""
    etc = Path("/etc/apt")
    files = [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*"))]
    used = [path for path in files if path.suffix in (".list", ".sources") and path.is_file()]
    return mirror_of("\n".join(path.read_text() for path in used))


def mirror_of(sources: str) -> str:
    """The first address in apt's sources, of either style, that has more than updates."""
    for address in re.findall(r"^(?:URIs:|deb(?:\s+\[.*?\])?)\s+(\S+)", sources, re.MULTILINE):
        if "security" not in address:
            return str(address)
    raise NotAvailable("apt knows no Debian mirror here")


def bootstrap(folder: Path, *arguments: str) -> None:
    """Make a folder out of packages, whole or not at all."""
    for left in folder.parent.glob(".making.*"):  # by a run that was killed
        shutil.rmtree(left)
    with tempfile.TemporaryDirectory(prefix=".making.", dir=folder.parent) as scratch:
        made = Path(scratch) / folder.name
        run("mmdebstrap", "--mode=root", "--format=directory", *arguments, SUITE, made, mirror())
        made.rename(folder)


def root_file_system(root: Path, recipe: Recipe) -> Path:
    """The root file system of this recipe; those of others are removed."""
    folder = root / recipe.rootfs
    if folder.is_dir():
        return folder
    for old in root.glob("rootfs-*"):
        shutil.rmtree(old)
    say(f"root file system: Debian {SUITE} with {' '.join(recipe.packages)}")
    without = [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in NEEDLESS]
    bootstrap(folder, "--variant=minbase", f"--include={','.join(recipe.packages)}", *without)
    return folder


class Engine:
    """A container engine with images of its own."""

    def __init__(self, program: str, registry: str, environment: Mapping[str, str]) -> None:
        self._program = program
        self._registry = registry
        self._environment = environment

    def __call__(self, *arguments: str | Path) -> str:
        """What the engine prints."""
        return run(self._program, *arguments, env=self._environment)

    def name_of(self, image: str) -> str:
        """What it calls an image."""
        host, slash, _ = image.partition("/")
        if not self._registry or (slash and "." in host):
            return image
        return f"{self._registry}{'' if slash else 'library/'}{image}"

    def have_images(self, rootfs: Path, recipe: Recipe) -> None:
        """Every image under its names, made from `rootfs` unless that was done before."""
        names = [name for _, every in recipe.images for name in every]
        ours = f"--filter=label={LABEL}={recipe.label}"
        there = self("images", ours, "--format={{.Repository}}:{{.Tag}}").split()
        if not {self.name_of(name) for name in names} <= set(there):
            say(f"{self._program}: images {' '.join(names)}")
            with tempfile.TemporaryDirectory() as context:
                self._make_images(Path(context), rootfs, recipe)
        self("run", "--rm", "--network=none", self.name_of(names[0]), "true")

    def _make_images(self, context: Path, rootfs: Path, recipe: Recipe) -> None:
        needless = [f"--exclude=./{name}/*" for name in ("dev", "proc", "run", "sys", "tmp")]
        run("tar", "-C", rootfs, *needless, "-cf", context / "rootfs.tar", ".")
        (context / "settings").mkdir()
        for path in recipe.settings:
            copy = context / "settings" / path.relative_to("/etc")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
        for dockerfile, names in recipe.images:
            (context / "Dockerfile").write_text(dockerfile)
            tags = [f"--tag={self.name_of(name)}" for name in names]
            label = f"--label={LABEL}={recipe.label}"
            self("build", "--quiet", "--network=host", label, *tags, context)
            (context / "rootfs.tar").unlink(missing_ok=True)


def podman(root: Path, state: Path, recipe: Recipe) -> dict[str, str]:
    """What to export for podman, whose settings, images and containers are all in DIR."""
    install([*COMMON, *PODMAN])
    folder = root / "podman"
    folder.mkdir(exist_ok=True)
    environment = {}
    for name, text in {"containers": CONTAINERS_CONF, "storage": STORAGE_CONF}.items():
        file = folder / f"{name}.conf"
        file.write_text(text.format(folder=folder, run=state))
        environment[CONF[name]] = str(file)
    rootfs = root_file_system(root, recipe)
    Engine("podman", "docker.io/", environment).have_images(rootfs, recipe)
    return {**environment, "RLCONVERT_ROOTFS": str(rootfs), "RLCONVERT_SANDBOX": "podman"}


def docker(root: Path, state: Path, recipe: Recipe) -> dict[str, str]:
    """What to export for the Docker daemon, which is started unless it runs."""
    install([*COMMON, *DOCKER])
    rootfs = root_file_system(root, recipe)
    folder = root / "docker"
    plugins = folder / "config" / "cli-plugins"
    if not (plugins / "docker-compose").exists():
        say("docker: its compose plugin")
        compose = folder / "compose"
        shutil.rmtree(compose, ignore_errors=True)
        plugins.mkdir(parents=True, exist_ok=True)
        bootstrap(compose, "--variant=extract", "--include=docker-compose")
        found = next(compose.glob("usr/**/cli-plugins/docker-compose"))
        (folder / "config" / "config.json").write_text("{}")  # podman wants it
        found.rename(plugins / "docker-compose")
        shutil.rmtree(compose)
    environment = {
        "DOCKER_HOST": f"unix://{state}/docker.sock",
        "DOCKER_CONFIG": str(folder / "config"),
    }
    engine = Engine("docker", "", environment)
    if daemon(state) is None:
        start_daemon(folder, state, engine)
    engine.have_images(rootfs, recipe)
    return {**environment, "RLCONVERT_ROOTFS": str(rootfs), "RLCONVERT_SANDBOX": "docker"}


def start_daemon(folder: Path, state: Path, engine: Engine) -> None:
    """No rules for the machine's firewall: containers reach each other, but not beyond."""
    say("docker: starting the daemon")
    off = [f"--{name}=false" for name in ("iptables", "ip6tables", "ip-forward", "ip-masq")]
    places = {
        "data-root": folder / "data",
        "exec-root": state / "docker",
        "host": f"unix://{state}/docker.sock",
        "pidfile": state / "docker.pid",
    }
    with (folder / "daemon.log").open("wb") as log:
        started = subprocess.Popen(
            ["dockerd", *off, *(f"--{name}={place}" for name, place in places.items())],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    for _ in range(60):
        time.sleep(0.5)
        if started.poll() is not None:
            break
        with suppress(NotAvailable):
            engine("version")
            return
    started.kill()
    said = last_words((folder / "daemon.log").read_text(errors="replace"))
    raise NotAvailable(f"dockerd: {said}")


def daemon(state: Path) -> int | None:
    """The process that is our daemon, while it runs."""
    try:
        pid = int((state / "docker.pid").read_text())
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (OSError, ValueError):
        return None
    return pid if f"{state}/docker.pid".encode() in command else None


def stop(root: Path, state: Path) -> None:
    """End the daemon, and unmount what the engines have mounted, so that DIR can be removed."""
    if (pid := daemon(state)) is not None:
        os.kill(pid, signal.SIGTERM)
        for _ in range(300):
            if daemon(state) is None:
                break
            time.sleep(0.1)
        else:
            raise NotAvailable("dockerd does not stop")
    for line in reversed(Path("/proc/self/mounts").read_text().splitlines()):
        place = Path(line.split()[1])
        if root in place.parents or state in place.parents:
            run("umount", "--lazy", place)
    shutil.rmtree(state, ignore_errors=True)


PUBLISHED = "published"
"""The folder in DIR that has the images of `--published`, and all else that goes with them."""


def state_of(root: Path) -> Path:
    """The sockets and mounts that go with a folder: their paths must be short."""
    return Path("/run") / f"rlconvert-{digest(str(root))}"


def main() -> int:
    """Make, start or stop."""
    parser = argparse.ArgumentParser(
        prog="sandbox", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dir", metavar="DIR", type=Path)
    parser.add_argument("--docker", action="store_true")
    parser.add_argument("--published", action="store_true")
    parser.add_argument("--stop", action="store_true")
    asked = parser.parse_args()
    root: Path = asked.dir.resolve()
    try:
        if os.geteuid() != 0:
            raise NotAvailable("only root can make it")
        if shutil.which("apt-get") is None:
            raise NotAvailable("there is no apt")
        root.mkdir(parents=True, exist_ok=True)
        with (root / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if asked.stop:
                for each in (root / PUBLISHED, root):
                    stop(each, state_of(each))
                return ExitCode.DONE
            recipe = FIXTURES
            if asked.published:
                root, recipe = root / PUBLISHED, published()
            root.mkdir(exist_ok=True)
            state_of(root).mkdir(exist_ok=True)
            engine = docker if asked.docker else podman
            exports = dict(engine(root, state_of(root), recipe))
            if asked.published:
                exports["RLCONVERT_PUBLISHED"] = "1"
    except (NotAvailable, OSError) as reason:
        print(f"not available: {reason}", file=sys.stderr)
        return ExitCode.JUDGE_MISSING
    for name, value in exports.items():
        print(f"export {name}={shlex.quote(value)}")
    return ExitCode.DONE


if __name__ == "__main__":
    sys.exit(main())
