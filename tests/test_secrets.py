"""Secrets are found by shape, told by place and never by value; what is made up is let through.

Every value here is made by the test, so that no file of this repo looks like it holds one.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import re
import string
import tarfile
import zipfile
from base64 import urlsafe_b64encode
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlconvert.errors import ExitCode, SecretFound, UsageError
from rlconvert.publishing import searched, secrets
from rlconvert.publishing.secrets import Secret, find_secrets, refuse_secrets
from rlconvert.publishing.secretshapes import SHAPES, is_made_up
from rlconvert.source import FolderSource

ROOT = Path(__file__).parents[1]


def noise(length: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    """Characters without a pattern, the same each time."""
    return "".join(random.Random(length).choices(alphabet, k=length))  # noqa: S311


def part(facts: dict[str, object]) -> str:
    return urlsafe_b64encode(json.dumps(facts).encode()).decode().rstrip("=")


def jwt(**facts: object) -> str:
    return f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{part(facts)}.{noise(43)}"


HEX, UPPER = "0123456789abcdef", string.ascii_uppercase
KEY = "-----BEGIN {}-----\n{}\n{}\n"
REAL = {
    "hugging-face": ["hf_" + noise(34, string.ascii_letters)],
    "github": [f"gh{kind}_" + noise(36) for kind in "pousr"]
    + [f"github_pat_{noise(22)}_{noise(59)}"],
    "gitlab": ["glpat-" + noise(20)],
    "aws": [
        "AKIA" + noise(16, UPPER + "234567"),
        "AWS_SECRET_ACCESS_KEY=" + noise(40),
        f'"aws_secret_access_key": "{noise(40)}"',
    ],
    "google": ["AIza" + noise(35), "GOCSPX-" + noise(28), "ya29." + noise(70)],
    "openai": ["sk-proj-" + noise(48), f"sk-{noise(20)}T3BlbkFJ{noise(20)}", "sk-" + noise(48)],
    "openrouter": ["sk-or-v1-" + noise(64, HEX)],
    "anthropic": [f"sk-ant-api03-{noise(93)}"],
    "groq": ["gsk_" + noise(52)],
    "nvidia": ["nvapi-" + noise(64)],
    "replicate": ["r8_" + noise(37)],
    "e2b": ["e2b_" + noise(40, HEX)],
    "slack": [
        f"xoxb-{noise(12, string.digits)}-{noise(13, string.digits)}-{noise(24)}",
        f"https://hooks.slack.com/services/T{noise(8, UPPER)}/B{noise(8, UPPER)}/{noise(24)}",
    ],
    "stripe": ["sk_live_" + noise(24), "rk_live_" + noise(99)],
    "sendgrid": [f"SG.{noise(22)}.{noise(43)}"],
    "azure": [f"AccountKey={noise(86)}=="],
    "digitalocean": ["dop_v1_" + noise(64, HEX)],
    "docker": ["dckr_pat_" + noise(27)],
    "npm": ["npm_" + noise(36)],
    "pypi": ["pypi-AgEIcHlwaS5vcmc" + noise(60)],
    "private-key": [
        KEY.format("PRIVATE KEY", noise(64), noise(64)),
        KEY.format("RSA PRIVATE KEY", noise(64), noise(64)),
        json.dumps(KEY.format("OPENSSH PRIVATE KEY", noise(70), noise(70))),
        KEY.format("PGP PRIVATE KEY BLOCK", "\n" + noise(64), noise(64)),
    ],
    "jwt": [jwt(iss="https://login.cloud.io/v2", sub="ann")],
    "url": [f"postgresql://ann:{noise(12)}@db.cloud.io:5432/all", f"https://x:{noise(20)}@hub.io"],
}
MADE_UP = (
    "hf_" + "x" * 34,
    "hf_" + "abcd1234" * 5,
    "hf_${HF_TOKEN}",
    "$HF_TOKEN hf_... hf_token hf_",
    "ghp_1234567890" + noise(26),
    "ghp_a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8",
    "AKIAIOSFODNN7" + "EXAMPLE",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY",
    "AKIA" + "A" * 16,
    "sk-" + "your-key-here",
    "sk-proj-" + "YOUR_API_KEY" * 4,
    "sk_test_" + noise(24),
    "xoxb-" + "123456789012-123456789012-" + "abcdefghijklmnopqrstuvwx",
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "grep -e '-----BEGIN RSA PRIVATE KEY-----' *.pem",
    KEY.format("PUBLIC KEY", noise(64), noise(64)),
    jwt(sub="1234567890", name="John Doe"),
    jwt(iss="http://localhost:8080/realms/all"),
    jwt(iss="tests"),
    f"eyJhbGciOiJub25lIn0.eyJ{noise(20)}.{noise(20)}",
    f"postgresql://ann:{noise(12)}@db:5432/all",
    f"postgresql://ann:{noise(12)}@localhost:5432/all",
    f"postgresql://ann:{noise(12)}@10.0.0.5/all",
    f"https://ann:{noise(12)}@example.com/",
    "postgresql://user:password@db.cloud.io/all",
    "https://ann:${PASSWORD}@db.cloud.io/all",
    "https://docs.cloud.io:8080/a@b",
    "task-" + noise(48),
    noise(40, HEX),
    "sha512-" + noise(86) + "==",
)


def repo(folder: Path, files: dict[str, str]) -> FolderSource:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return FolderSource(str(folder))


def test_every_rule_has_an_example() -> None:
    assert REAL.keys() == SHAPES.keys()


@pytest.mark.parametrize("rule", REAL)
def test_real(rule: str, tmp_path: Path) -> None:
    files = {f"{n}.txt": f'one\ntwo "{value}"\n' for n, value in enumerate(REAL[rule])}
    found = list(find_secrets(repo(tmp_path, files)))
    assert found == [Secret(rule, path, 2) for path in sorted(files)]


@pytest.mark.parametrize("value", MADE_UP)
def test_made_up(value: str, tmp_path: Path) -> None:
    files = {"a.txt": value, "b.txt": f"key = '{value}'\n"}
    assert list(find_secrets(repo(tmp_path, files))) == []


def test_what_is_published_is_searched(tmp_path: Path) -> None:
    token = REAL["npm"][0]
    paths = ("README.md", "tasks/a/.env", ".rlconvert/native-0001.pack", ".git/config", ".cache/a")
    source = repo(tmp_path, dict.fromkeys(paths, token))
    (tmp_path / "tasks" / "link").symlink_to("a/.env")
    found = {secret.path for secret in find_secrets(source)}
    assert found == {"README.md", "tasks/a/.env", ".rlconvert/native-0001.pack"}


def test_a_secret_in_one_that_is_none(tmp_path: Path) -> None:
    """The address is of no place of the network, the token in it is a token all the same."""
    source = repo(tmp_path, {"a": f"https://ann:{REAL['npm'][0]}@git.internal/all.git"})
    assert [secret.rule for secret in find_secrets(source)] == ["npm"]


def test_lines_and_order(tmp_path: Path) -> None:
    npm, groq = REAL["npm"][0], REAL["groq"][0]
    source = repo(tmp_path, {"b": f"{npm} {groq}\n\n{npm}\n", "a": f"\r\n\r\n{groq}"})
    assert list(find_secrets(source)) == [
        Secret("groq", "a", 3),
        Secret("npm", "b", 1),
        Secret("groq", "b", 1),
        Secret("npm", "b", 3),
    ]


@given(st.lists(st.integers(0, 900), max_size=8), st.integers(600, 700))
def test_where_a_file_is_cut_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, gaps: list[int], window: int
) -> None:
    values = [values[0] for values in REAL.values()]
    text = "".join(f"{'.' * gap}\n{values[gap % len(values)]}\n" for gap in gaps)
    source = repo(tmp_path_factory.mktemp("cut"), {"a": text, "b": "none"})
    whole = list(find_secrets(source))
    assert len(whole) == len(gaps)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searched, "_PIECE", 100)
        patch.setattr(secrets, "_WINDOW", window)
        patch.setattr(secrets, "_OVERLAP", 500)
        patch.setattr(secrets, "_BATCH", 2000)
        assert list(find_secrets(source)) == whole


shapes = st.sampled_from(sorted(SHAPES)).flatmap(
    lambda rule: st.from_regex(re.compile(SHAPES[rule], re.ASCII), fullmatch=True)
)


@given(shapes)
def test_the_quick_search_misses_nothing(text: str) -> None:
    data = text.encode("latin-1", "ignore")
    column = pa.array([data], type=pa.large_binary())
    (place,) = pc.find_substring_regex(column, pattern=secrets._QUICK).to_pylist()
    assert place == 0 or secrets._EXACT.match(data) is None


def test_refused_by_place_never_by_value(tmp_path: Path) -> None:
    npm = REAL["npm"][0]
    source = repo(tmp_path, {f"tasks/{n}/a.txt": f"\n{npm}" for n in range(7)})
    with pytest.raises(SecretFound) as caught:
        refuse_secrets(source)
    error = caught.value
    assert (error.code, error.reason) == (ExitCode.SECRET, "secret")
    assert (error.file, error.where) == ("tasks/0/a.txt", "line 2")
    assert "tasks/4/a.txt:2 (npm), and 2 more" in str(error)
    assert "--allow-secret npm:tasks/0/a.txt" in str(error)
    assert npm[5:] not in str(error) + repr(error.facts())


def test_allowed(tmp_path: Path) -> None:
    source = repo(tmp_path, {"tasks/a/k": REAL["npm"][0], "tasks/b/k": REAL["groq"][0]})
    refuse_secrets(source, ["npm:tasks/a/k", "groq:tasks/*"])
    for allow in (["npm:tasks/*"], ["npm:*", "groq:tasks/b"], ["groq:tasks/B/k", "npm:*"]):
        with pytest.raises(SecretFound):
            refuse_secrets(source, allow)


@pytest.mark.parametrize("allow", ["npm", "npm:", ":tasks/a", "nothing:tasks/a", "*:*"])
def test_an_allowance_names_a_rule_and_a_path(allow: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--allow-secret takes RULE:PATH"):
        refuse_secrets(repo(tmp_path, {}), [allow])


def test_this_repo_has_none() -> None:
    for name in ("convert", "formats", "fixtures", "tests"):
        assert list(find_secrets(FolderSource(str(ROOT / name)))) == []


def test_few_random_values_seem_made_up() -> None:
    """A token of a service is random, so hardly one may be taken for an example."""
    source = random.Random(1)  # noqa: S311
    alphabet = string.ascii_letters + string.digits
    tokens = (f"ghp_{''.join(source.choices(alphabet, k=36))}" for _ in range(20_000))
    assert sum(is_made_up("github", token.encode()) for token in tokens) < 20


# --- packed files -------------------------------------------------------------------------------


def tarred(files: dict[str, str], mode: str) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as tar:  # type: ignore[call-overload]
        for path, text in files.items():
            info = tarfile.TarInfo(path)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    return packed.getvalue()


def zipped(files: dict[str, str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return packed.getvalue()


def table(folder: Path, cells: dict[str, bytes]) -> None:
    columns = {"path": pa.array(list(cells)), "task_binary": pa.array(list(cells.values()))}
    pq.write_table(pa.table(columns), folder / "tasks.parquet", compression="zstd")


def test_packed_files_are_unpacked(tmp_path: Path) -> None:
    files = {"a/task.toml": "a", "a/key.txt": f"\n{REAL['npm'][0]}"}
    table(tmp_path, {"one": tarred(files, "w:gz"), "two": tarred(files, "w"), "three": b""})
    (tmp_path / "b.tar.gz").write_bytes(tarred(files, "w:gz"))
    (tmp_path / "c.gz").write_bytes(gzip.compress(REAL["groq"][0].encode()))
    (tmp_path / "d.zip").write_bytes(zipped(files | {"e.txt": REAL["e2b"][0]}))
    found = {(each.path, each.rule) for each in find_secrets(FolderSource(str(tmp_path)))}
    found.discard(("tasks.parquet", "npm"))  # a plain tar is also seen through the packing
    assert found == {
        ("tasks.parquet/one", "npm"),
        ("tasks.parquet/two", "npm"),
        ("b.tar.gz", "npm"),
        ("c.gz", "groq"),
        ("d.zip/a/key.txt", "npm"),
        ("d.zip/e.txt", "e2b"),
    }


def test_what_is_damaged_or_a_bomb_stops_nothing(tmp_path: Path) -> None:
    files = {"a.txt": "one two " * 9000, "b.txt": REAL["npm"][0]}
    (tmp_path / "a.tar.gz").write_bytes(tarred(files, "w:gz")[:200])
    (tmp_path / "b.zip").write_bytes(zipped(files)[:-30])
    damaged = bytearray(zipped(files))
    damaged[60:80] = bytes(20)
    (tmp_path / "c.zip").write_bytes(damaged)
    (tmp_path / "d.parquet").write_bytes(b"PAR1 none PAR1")
    (tmp_path / "e.gz").write_bytes(gzip.compress(bytes(100 << 20), 9))
    table(tmp_path, {"x": b"\x1f\x8b none"})
    (tmp_path / "z.txt").write_text(REAL["npm"][0])
    found = {each.path for each in find_secrets(FolderSource(str(tmp_path)))}
    assert found == {"c.zip/b.txt", "z.txt"}
