"""Which named rewards a verifier writes, as far as reading its files tells.

Facts: harbor 0.26.0 reads ``/logs/verifier/reward.json`` (an object of numbers) when it exists,
else ``reward.txt`` (one number, which it calls `reward`).

Nothing is run. A verifier whose files speak of ``reward.txt`` alone writes one number. Where they
speak of ``reward.json``, every place that does must be a pattern known here, and all must write the
same names; else, and where they speak of neither, the answer is "not known".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rlconvert.files import Blob, File, FileTree

from .python_rewards import SHELL, keys_in_python

UNNAMED: tuple[str, ...] = ()
"""One number without a name: what ``reward.txt`` holds."""

_JSON = "reward.json"
_JSON_FILE, _TEXT_FILE = _JSON.encode(), b"reward.txt"
_NAME = "reward"
_MAX_SCRIPT = 1 << 20
_MAX_VARIABLES = 8

# reward.$EXT, "reward" + ".json", with_suffix: a name that is put together may be reward.json
_BUILT = re.compile(rb"""reward\.?["']?\s*(?:\.\s*)?(?:\$|\{|%s|\*|\+)|with_suffix""")
_FILE = r"""["']?(?:[\w./${}-]*[/}])?reward\.json["']?(?![\w.-])"""

_KEY = r"""\\?["']([^"'\\$`%{}\n]+)\\?["']"""
_SUM = r"\$\(\((?:[^()\n]|\([^()\n]*\))*\)\)"
_VALUE = rf"""["'\\]*(?:\$\{{[^{{}}\n]*\}}|{_SUM}|\$\([^()\n]*\)|\$\w+|[-+.\w%]+)["'\\]*"""
_PAIR = re.compile(rf"\s*{_KEY}\s*:\s*{_VALUE}\s*(,|\Z)")

# echo '{"a": 1}' > .../reward.json, printf the same; the object has no other object in it
_ECHO = re.compile(
    r"""(?:echo|printf)[ \t]+(?:-[neE]+[ \t]+)?(['"])"""
    r"""\{(?P<object>(?:[^{}\n$]|\$(?:\{[^{}\n]*\})?)*)\}(?:\\n)?\1"""
    r"""(?:[ \t]+["']?[\w.${}]+["']?)*[ \t]*"""
    rf"""(?:\|[ \t]*tee[ \t]+|>[ \t]*){_FILE}(?:[ \t]*>[ \t]*/dev/null)?"""
)
# Where text that is not shell begins: cat > .../reward.json <<EOF (or the other way round),
# python3 -c "...", python3 - ARGUMENT <<'EOF'
_START = re.compile(
    rf"""(?P<cat>\bcat[ \t]*(?:>[ \t]*{_FILE}[ \t]*<<-?[ \t]*(['"]?)(?P<tag1>\w+)\2"""
    rf"""|<<-?[ \t]*(['"]?)(?P<tag2>\w+)\4[ \t]*>[ \t]*{_FILE})[ \t]*\n)"""
    r"""|\bpython[\d.]*[ \t]+-c[ \t]+(?P<quote>["'])"""
    r"""|\bpython[\d.]*[ \t]+(?:-(?:[ \t]+[^\n<]*)?)?<<-?[ \t]*(?P<literal>['"]?)"""
    r"""(?P<tag3>\w+)(?P=literal)[^\n]*\n"""
)
_PYTHON_SCRIPT = re.compile(r"#![^\n]*\bpython")
_SHELL_VALUE = re.compile(r"\$\{[^{}]*\}|\$[A-Za-z_]\w*|\$\([^()]*\)|\$[0-9#?@*]")
# REWARD_FILE=/logs/verifier/reward.json, for this shell alone
_VARIABLE = re.compile(
    r"""(?m)^[ \t]*(?:readonly[ \t]+|local[ \t]+)?(\w+)=("?)([\w./-]+)\2[ \t]*$"""
)
# what leaves the file as it is, or takes it away
_HARMLESS = re.compile(
    r"""(?:\b(?:cat|ls|rm|chmod)(?:[ \t]+-\w+|[ \t]+[0-7+rwxaugo=]+)?"""
    rf"""|\[\[?[ \t]+!?[ \t]*-[fesr])[ \t]+{_FILE}"""
)


def reward_keys(tests: FileTree) -> tuple[str, ...] | None:
    """The named rewards, sorted; `UNNAMED` for a single number; None when reading does not tell."""
    written: set[frozenset[str]] = set()
    text_file = False
    for path, entry in tests:
        if not isinstance(entry, File):
            continue
        if entry.blob.size > _MAX_SCRIPT:
            if _speaks(entry.blob):
                return None
            continue
        data = entry.blob.read()
        text_file = text_file or _TEXT_FILE in data
        if _BUILT.search(data):
            return None
        if _JSON_FILE not in data:
            continue
        text = data.decode("utf-8", "replace").replace("\r\n", "\n")
        in_python = path.endswith(".py") or _PYTHON_SCRIPT.match(text)
        keys = keys_in_python(text) if in_python else _keys_in_shell(text)
        if keys is None:
            return None
        written |= keys
    if not written:
        return UNNAMED if text_file else None
    if len(written) > 1:
        return None  # which of them is written depends on how the run goes
    (names,) = written
    if text_file and _NAME not in names:
        return None  # where only the text file is written, the one name is `reward`
    return tuple(sorted(names))


def _speaks(blob: Blob) -> bool:
    """Whether a large file speaks of ``reward.json``."""
    before = b""
    for chunk in blob.chunks():
        joined = before + chunk
        if _JSON_FILE in joined:
            return True
        before = joined[1 - len(_JSON_FILE) :]
    return False


def _keys_in_shell(script: str) -> set[frozenset[str]] | None:
    """The sets of names that a shell script writes to ``reward.json``; None for "not known"."""
    text = re.sub(r"(?m)^[ \t]*#.*$", "", script.replace("\\\n", " "))
    text = _with_variables(text)
    written: set[frozenset[str]] = set()
    rest = []
    for piece in _pieces(text):
        if piece is None:
            return None
        if isinstance(piece, str):
            rest.append(piece)
        else:
            written |= piece
    outside = "".join(rest)
    for match in _ECHO.finditer(outside):
        keys = _object_keys(match["object"])
        if keys is None:
            return None
        written.add(keys)
    outside = _HARMLESS.sub("", _ECHO.sub("", outside))
    return None if _JSON in outside else written


def _with_variables(text: str) -> str:
    """The script with the value of each variable that is set once, to a path of the file."""
    found = [(name, value) for name, _, value in _VARIABLE.findall(text) if _JSON in value]
    for name, value in found[:_MAX_VARIABLES]:
        sets = re.findall(rf"(?m)(?:^|[ \t;])(?:export[ \t]+)?{name}\+?=", text)
        exported = re.search(rf"\bexport[ \t]+(?:\w+[ \t]+)*{name}\b", text)
        if len(sets) != 1 or exported:
            continue
        text = re.sub(rf"(?m)^[ \t]*(?:readonly[ \t]+|local[ \t]+)?{name}=.*$", "", text)
        text = re.sub(rf"\$\{{{name}\}}|\${name}\b", lambda _, own=value: own, text)  # type: ignore[misc]
    return text


def _pieces(text: str) -> Iterator[str | set[frozenset[str]] | None]:
    """The script less its heredocs and Python, and what these write; None for "not known"."""
    at = 0
    while start := _START.search(text, at):
        yield text[at : start.start()]
        quote = start["quote"]
        tag = start["tag1"] or start["tag2"] or start["tag3"]
        end = rf"(?<!\\){quote}" if quote else rf"(?m)^[ \t]*{tag}[ \t]*$"
        stop = re.compile(end).search(text, start.end())
        if stop is None:
            yield None
            return
        body = text[start.end() : stop.start()]
        at = stop.end()
        if start["cat"]:
            keys = _object_keys(body.strip()[1:-1]) if _is_object(body) else None
            yield None if keys is None else {keys}
        elif _JSON in body:
            yield _in_shell(body, quote, literal=bool(quote == "'" or start["literal"]))
    yield text[at:]


def _in_shell(code: str, quote: str | None, *, literal: bool) -> set[frozenset[str]] | None:
    """The sets of names that Python inside a shell script writes."""
    if quote == '"':
        code = code.replace('\\"', '"')
    return keys_in_python(code if literal else _SHELL_VALUE.sub(SHELL, code))


def _is_object(text: str) -> bool:
    stripped = text.strip()
    return stripped.startswith("{") and stripped.endswith("}")


def _object_keys(inside: str) -> frozenset[str] | None:
    """The keys of an object by what is between its braces, when every one stands there."""
    keys: list[str] = []
    at = 0
    while match := _PAIR.match(inside, at):
        keys.append(match[1])
        at = match.end()
        if not match[2]:
            return frozenset(keys)
    return None
