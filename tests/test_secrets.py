"""Secrets are found by shape, told by place and never by value; what is made up is let through.

Every value here is made by the test, so that no file of this repo looks like it holds one.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import re
import string
import tarfile
import zipfile
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlconvert.errors import ExitCode, SecretFound, UsageError
from rlconvert.publishing import packed, searched, secrets
from rlconvert.publishing.packed import Unseen
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


def secrets_in(source: FolderSource) -> list[Secret]:
    """The findings alone; nothing may be left unseen."""
    found = list(find_secrets(source))
    assert not [each for each in found if isinstance(each, Unseen)]
    return [each for each in found if isinstance(each, Secret)]


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
    assert [secret.rule for secret in secrets_in(source)] == ["npm"]


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
        found = list(find_secrets(FolderSource(str(ROOT / name))))
        # In compiled tests the halves of made-up tokens are put together.
        assert [each for each in found if "__pycache__" not in each.path] == []


def test_few_random_values_seem_made_up() -> None:
    """A token of a service is random, so hardly one may be taken for an example."""
    source = random.Random(1)  # noqa: S311
    alphabet = string.ascii_letters + string.digits
    tokens = (f"ghp_{''.join(source.choices(alphabet, k=36))}" for _ in range(20_000))
    assert sum(is_made_up("github", token.encode()) for token in tokens) < 20


# --- packed files -------------------------------------------------------------------------------


def tarred(files: Mapping[str, bytes], mode: str = "w") -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as tar:  # type: ignore[call-overload]
        for path, data in files.items():
            info = tarfile.TarInfo(path)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return packed.getvalue()


def zipped(files: Mapping[str, bytes], how: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", how) as archive:
        for path, data in files.items():
            archive.writestr(path, data)
    return packed.getvalue()


def zstded(data: bytes) -> bytes:
    packed = pa.BufferOutputStream()
    with pa.CompressedOutputStream(packed, "zstd") as stream:
        stream.write(data)
    return bytes(packed.getvalue())


def tabled(columns: Mapping[str, pa.Array]) -> bytes:
    packed = io.BytesIO()
    pq.write_table(pa.table(dict(columns)), packed, compression="zstd")
    return packed.getvalue()


def cells(**files: bytes) -> bytes:
    return tabled({"path": pa.array(list(files)), "task_binary": pa.array(list(files.values()))})


def as_folder(folder: Path, files: Mapping[str, bytes]) -> FolderSource:
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return FolderSource(str(folder))


NPM = REAL["npm"][0].encode()
LINES = b"one\ntwo " + NPM + b"\n"
WRAPS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstded,
    "tar": lambda data: tarred({"i": data}),
    "zip": lambda data: zipped({"i": data}),
    "stored": lambda data: zipped({"i": data}, zipfile.ZIP_STORED),
    "parquet": lambda data: cells(i=data),
}


@pytest.mark.parametrize("inner", WRAPS)
@pytest.mark.parametrize("outer", WRAPS)
def test_what_is_packed_in_what_is_packed(outer: str, inner: str, tmp_path: Path) -> None:
    """Each in each; with the line it stands on, where it is not seen as a part of a tar file."""
    data = WRAPS[outer](WRAPS[inner](b"#" * 999 + b"\n" + LINES))
    found = secrets_in(as_folder(tmp_path, {"t/f": data}))
    assert {each.rule for each in found} == {"npm"}
    if inner != "tar":
        folders = sum(each not in ("gz", "bz2", "xz", "zst") for each in (outer, inner))
        deepest = max(found, key=lambda each: len(each.path))
        assert deepest == Secret("npm", "t/f" + "/i" * folders, 3)


@pytest.mark.parametrize("wrap", WRAPS)
def test_what_is_packed_very_often(wrap: str, tmp_path: Path) -> None:
    """Up to a limit, which is told."""
    data = NPM
    for _ in range(4):
        data = WRAPS[wrap](gzip.compress(data))
    assert {each.rule for each in secrets_in(as_folder(tmp_path / "a", {"f": data}))} == {"npm"}
    for _ in range(6):
        data = gzip.compress(data)
    found = list(find_secrets(as_folder(tmp_path / "b", {"f": data})))
    assert [type(each) for each in found] == [Unseen]
    assert "more than 8 packed files inside each other" in str(found[0])


def test_a_task_in_a_cell(tmp_path: Path) -> None:
    inner = {"a/task.toml": b"a", "a/key.txt": b"\n" + NPM, "a/more.zip": zipped({"k": NPM})}
    rows = cells(one=tarred(inner, "w:gz"), two=tarred(inner), three=b"")
    found = secrets_in(as_folder(tmp_path, {"tasks.parquet": rows}))
    assert {each.path for each in found} == {
        f"tasks.parquet/{name}" for name in ("one", "one/a/more.zip/k", "two", "two/a/more.zip/k")
    }


def test_rows_of_text(tmp_path: Path) -> None:
    """In any column of any parquet file, wherever in its values, and each value by itself."""
    texts = ["no", None, NPM.decode() + "\nand", NPM.decode(), "x"]
    columns = {
        "plain": pa.array(texts),
        "large": pa.array(texts, pa.large_string()),
        "coded": pa.array(texts).dictionary_encode(),
        "list": pa.array([["a"], None, [], ["b", NPM.decode()], []]),
        "struct": pa.array([{"b": {"c": NPM.decode()}}] * 5),
        "map": pa.array([[("k", NPM.decode())]] * 5, pa.map_(pa.string(), pa.string())),
        "files": pa.array([{"bytes": gzip.compress(NPM), "path": "p"}] * 5),
        "fixed": pa.array([NPM] * 5, pa.binary(len(NPM))),
        "number": pa.array(range(5)),
    }
    found = secrets_in(as_folder(tmp_path, {"x.parquet": tabled(columns)}))
    lines: dict[str, list[int]] = {}
    for each in found:
        lines.setdefault(each.path.removeprefix("x.parquet/"), []).append(each.line)
    assert lines["plain"] == lines["large"] == [3, 5]
    assert lines["coded"] == [3, 5]
    assert lines["list"] == [3]
    assert lines["struct"] == [1, 2, 3, 4, 5]
    assert lines["map"] == [6, 7, 8, 9, 10], "its keys come first"
    assert [name for name in lines if name.startswith("files")] == [f"files/{n}" for n in range(5)]
    assert [name for name in lines if name.startswith("fixed")] == [f"fixed/{n}" for n in range(5)]
    assert "number" not in lines


def test_columns_of_one_name(tmp_path: Path) -> None:
    arrays = [pa.array(["a"]), pa.array([NPM.decode()]), pa.array([b"x"]), pa.array([NPM])]
    names = ["path", "path", "task_binary", "task_binary"]
    packed = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(arrays, names=names), packed, compression="zstd")
    found = secrets_in(as_folder(tmp_path, {"x.parquet": packed.getvalue()}))
    assert {each.path for each in found} >= {"x.parquet/path", "x.parquet/task_binary/0"}


# Made once: some of them hold the time.
TWICE = [outer(inner(LINES)) for outer in WRAPS.values() for inner in WRAPS.values()]


@given(st.sampled_from(TWICE), st.data())
def test_any_damage_is_told_or_harmless(
    tmp_path_factory: pytest.TempPathFactory, sound: bytes, data: st.DataObject
) -> None:
    """Bytes changed, put in, or gone: nothing else is raised, and the next file is searched."""
    whole = bytearray(sound)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(whole)))
        whole[at : at + data.draw(st.integers(0, 40))] = data.draw(st.binary(max_size=8))
    files = {"a": bytes(whole), "z.txt": NPM}
    found = list(find_secrets(as_folder(tmp_path_factory.mktemp("damage"), files)))
    assert Secret("npm", "z.txt", 1) in found


def test_what_a_source_had_is_looked_into_in_the_records(tmp_path: Path) -> None:
    """Files that stand nowhere else in an output are kept there, one after the other."""
    at = {"shard": 0, "start": 3, "size": len(gzip.compress(NPM))}
    file = {"sha256": "0", "packed": at}
    task = {"task": "a", "place": "tasks/a", "targets": {}, "files": {"k.gz": file}}
    shared = {"path": "more.gz", "file": file}
    files = {
        ".rlconvert/native-0000.pack": b"abc" + gzip.compress(NPM) + b"abc",
        ".rlconvert/manifest.jsonl": json.dumps(task).encode() + b"\n",
        ".rlconvert/shared.jsonl": json.dumps(shared).encode() + b"\n",
    }
    found = secrets_in(as_folder(tmp_path, files))
    assert [each.path for each in found] == [
        f".rlconvert/native-0000.pack/{name}" for name in ("tasks/a/k.gz", "more.gz")
    ]


# --- text in two bytes --------------------------------------------------------------------------

ENCODINGS = ("utf-16", "utf-16-le", "utf-16-be")
WIDE_WRAPS = dict(WRAPS) | {"": bytes}


@pytest.mark.parametrize("rule", REAL)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_text_in_utf_16(encoding: str, rule: str, tmp_path: Path) -> None:
    files = {
        f"{n}.txt": f"é 名 \none\ntwo '{value}'{end}".encode(encoding)
        for n, value in enumerate(REAL[rule])
        for end in ("", "é", "\n名")
    } | {f"{n}.end": f"\n\n {value}".encode(encoding) for n, value in enumerate(REAL[rule])}
    found = secrets_in(as_folder(tmp_path, files))
    assert found == [Secret(rule, path, 3) for path in sorted(files)]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("wrap", WIDE_WRAPS)
def test_packed_text_in_utf_16(wrap: str, encoding: str, tmp_path: Path) -> None:
    data = WIDE_WRAPS[wrap](LINES.decode().encode(encoding))
    assert {each.rule for each in secrets_in(as_folder(tmp_path, {"f": data}))} == {"npm"}


@pytest.mark.parametrize("value", MADE_UP)
def test_made_up_in_utf_16(value: str, tmp_path: Path) -> None:
    assert secrets_in(as_folder(tmp_path, {"a": f"k = '{value}'\n".encode("utf-16")})) == []


@given(st.lists(st.integers(0, 300), max_size=4), st.integers(1300, 1400))
def test_where_text_in_utf_16_is_cut_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, gaps: list[int], window: int
) -> None:
    values = [values[0] for values in REAL.values()]
    text = "".join(f"{'.' * gap}\n{values[gap % len(values)]}\n" for gap in gaps)
    source = as_folder(tmp_path_factory.mktemp("cut"), {"a": text.encode("utf-16")})
    whole = secrets_in(source)
    assert len(whole) == len(gaps)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searched, "_PIECE", 99)
        patch.setattr(secrets, "_WINDOW", window)
        patch.setattr(secrets, "_OVERLAP", 1100)
        assert secrets_in(source) == whole


# --- what cannot be looked into ------------------------------------------------------------------


def locked() -> bytes:
    data = bytearray(zipped({"a": NPM}))
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + flags] |= 1
    return bytes(data)


FILES = {"a.txt": b"one two " * 9000, "b.txt": NPM}
ZEROS = bytes(2 << 20)
UNSEEN: dict[str, tuple[Callable[[], bytes], str]] = {
    "cut.tar.gz": (lambda: tarred(FILES, "w:gz")[:200], "cut short"),
    "cut.gz": (lambda: gzip.compress(noise(900).encode())[:-9], "cut short"),
    "cut.bz2": (lambda: bz2.compress(noise(900).encode())[:-9], "bzip2 data are cut short"),
    "cut.xz": (lambda: lzma.compress(noise(900).encode())[:-9], "xz data are cut short"),
    "cut.zst": (lambda: zstded(noise(900).encode())[:-9], "zstd data are damaged, or cut short"),
    "bad.bz2": (lambda: bz2.compress(NPM)[:10] + bytes(99), "bzip2 data are damaged"),
    "bad.xz": (lambda: lzma.compress(NPM)[:12] + bytes(99), "xz data are damaged"),
    "bad.zst": (lambda: zstded(NPM)[:4] + b"\xff" * 99, "zstd data are damaged"),
    "cut.zip": (lambda: zipped(FILES)[:-30], "zip file is damaged"),
    "bad.parquet": (lambda: b"PAR1 none PAR1", "parquet file cannot be read"),
    "cut.tar": (lambda: tarred({"a": gzip.compress(b""), "b": NPM})[:1600], "neither a tar file"),
    "locked.zip": (locked, "locked.zip/a (it is encrypted)"),
    "bomb.gz": (lambda: gzip.compress(ZEROS, 9), "more than 200 times its size"),
    "bomb.bz2": (lambda: bz2.compress(ZEROS), "more than 200 times its size"),
    "bomb.xz": (lambda: lzma.compress(ZEROS), "more than 200 times its size"),
    "bomb.zst": (lambda: zstded(ZEROS), "more than 200 times its size"),
    "bomb.zip": (lambda: zipped({"a": ZEROS}), "bomb.zip/a (it unpacks to more"),
    "row": (lambda: cells(a=gzip.compress(ZEROS, 9)), "row/a (it unpacks to more"),
    "x.7z": (lambda: b"7z\xbc\xaf\x27\x1c" + bytes(99), "x.7z (a 7z file)"),
    "x.rar": (lambda: b"Rar!\x1a\x07\x01\0" + bytes(99), "x.rar (a RAR file)"),
    "x.lz4": (lambda: b"\x04\x22\x4d\x18" + bytes(99), "x.lz4 (an LZ4 file)"),
    "in.zip": (lambda: zipped({"x": b"Rar!\x1a\x07\x01\0"}), "in.zip/x (a RAR file)"),
    "abs.tar": (lambda: tarred({"/x": gzip.compress(NPM)}), "is absolute"),
}


@pytest.mark.parametrize("name", UNSEEN)
def test_what_is_not_looked_into_is_told_and_stops_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rlconvert.archives.members.RATIO_FLOOR", 1 << 20)
    make, why = UNSEEN[name]
    found = list(find_secrets(as_folder(tmp_path, {name: make(), "z.txt": NPM})))
    unseen = [str(each) for each in found if isinstance(each, Unseen)]
    assert len(unseen) == 1
    assert name in unseen[0]
    assert why in unseen[0]
    assert Secret("npm", "z.txt", 1) in found


def test_up_to_the_damage_it_is_searched(tmp_path: Path) -> None:
    """And what stands before and after in the same archive."""
    damaged = bytearray(zipped(FILES | {"c.gz": gzip.compress(NPM)}))
    damaged[60:80] = bytes(20)
    gz = gzip.compress(NPM + b"\n" + noise(99_999).encode())[:-99]
    found = list(find_secrets(as_folder(tmp_path, {"c.zip": bytes(damaged), "d.gz": gz})))
    assert [each.path for each in found if isinstance(each, Secret)] == [
        "c.zip/b.txt",
        "c.zip/c.gz",
        "d.gz",
    ]
    assert [each.path for each in found if isinstance(each, Unseen)] == ["c.zip/a.txt", "d.gz"]


def test_what_archives_in_archives_come_to_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each alone is small, all together they are not; and so are very many."""
    many = tarred({f"{n}.gz": gzip.compress(bytes(9_000)) for n in range(20)})
    source = as_folder(tmp_path, {"a.zip": zipped({"many.tar": many, "b": NPM}), "c": NPM})
    assert len(secrets_in(source)) == 2
    with monkeypatch.context() as patch:
        patch.setattr("rlconvert.archives.members.MAX_UNPACKED", 100_000)
        patch.setattr("rlconvert.archives.members.check_unpacked.__defaults__", (100_000,))
        found = list(find_secrets(source))
    unseen = [str(each) for each in found if isinstance(each, Unseen)]
    assert [each.partition(" ")[0] for each in unseen] == [
        "a.zip/many.tar/7.gz",  # and what comes after it in there
        "a.zip/many.tar",
    ]
    assert all("100,000 bytes" in each for each in unseen)
    assert len(found) == 4
    monkeypatch.setattr(packed, "MAX_ENTRIES", 10)
    found = list(find_secrets(source))
    assert [str(each) for each in found if isinstance(each, Unseen)] == [
        "a.zip/many.tar (it has more than 100,000 members)"
    ]
