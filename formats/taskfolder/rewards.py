"""Which named rewards a verifier writes, as far as reading its files tells.

Facts: harbor 0.26.0 reads ``/logs/verifier/reward.json`` (an object of numbers) when it exists,
else ``reward.txt`` (one number, which it calls `reward`).

Nothing is run. A verifier whose files speak of ``reward.txt`` alone writes one number. Where they
speak of ``reward.json``, every place that does must be a pattern known here; else, and where they
speak of neither, the answer is "not known".
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from rlconvert.files import File, FileTree

UNNAMED: tuple[str, ...] = ()
"""One number without a name: what ``reward.txt`` holds."""

_JSON_FILE, _TEXT_FILE = b"reward.json", b"reward.txt"
_MAX_SCRIPT = 1 << 20
# echo '{"a": 1}' > .../reward.json, printf the same; the object has no nested braces
_SHELL_OBJECT = re.compile(
    r"""(?:echo|printf)\s+(?:-[neE]+\s+)?(['"])(?P<object>\{[^{}\n]*\})(?:\\n)?\1\s*"""
    r"""(?:\|\s*tee\s+|>\s*)["']?[\w./${}-]*reward\.json"""
)
# cat > .../reward.json <<EOF { ... } EOF
_HEREDOC = re.compile(
    r"""cat\s*>\s*["']?[\w./${}-]*reward\.json["']?\s*<<-?\s*(['"]?)(?P<end>\w+)\1\n"""
    r"""(?P<object>\s*\{[^{}]*\}\s*)\n\s*(?P=end)\b"""
)
# python3 -c "..." and python3 - <<'EOF'
_PYTHON = re.compile(
    r"""python3?\s+-c\s+(?P<quote>["'])(?P<inline>.*?)(?<!\\)(?P=quote)"""
    r"""|python3?\s+(?:-\s+)?<<-?\s*(['"]?)(?P<end>\w+)\3\n(?P<block>.*?)\n\s*(?P=end)\b""",
    re.DOTALL,
)
_KEY = re.compile(r"""\\?["']([^"'\\]+)\\?["']\s*:""")
_SHELL_VALUE = re.compile(r"\$\{?[A-Za-z_]\w*\}?|\$\([^()]*\)")


def reward_keys(tests: FileTree) -> tuple[str, ...] | None:
    """The named rewards, sorted; `UNNAMED` for a single number; None when reading does not tell."""
    found: set[str] = set()
    said = False
    for path, entry in tests:
        if not isinstance(entry, File):
            continue
        if entry.blob.size > _MAX_SCRIPT:
            if any(_JSON_FILE in chunk for chunk in entry.blob.chunks()):
                return None
            continue
        data = entry.blob.read()
        said = said or _TEXT_FILE in data
        if _JSON_FILE not in data:
            continue
        keys = _keys_in(path, data.decode("utf-8", "replace"))
        if keys is None:
            return None
        found |= keys
    if found:
        return tuple(sorted(found))
    return UNNAMED if said else None


def _keys_in(path: str, text: str) -> set[str] | None:
    if path.endswith(".py"):
        return _python_keys(text)
    found: set[str] = set()
    rest = text
    for pattern in (_SHELL_OBJECT, _HEREDOC):
        for match in pattern.finditer(rest):
            keys = set(_KEY.findall(match["object"]))
            if not keys:
                return None
            found |= keys
        rest = pattern.sub("", rest)
    for match in _PYTHON.finditer(rest):
        code = match["inline"] if match["inline"] is not None else match["block"]
        if "reward.json" not in code:
            continue
        if match["quote"] == '"':
            code = code.replace('\\"', '"')
        keys_or_none = _python_keys(_SHELL_VALUE.sub("0", code))
        if keys_or_none is None:
            return None
        found |= keys_or_none
    rest = _PYTHON.sub("", rest)
    rest = re.sub(r"(?m)^\s*#.*$", "", rest)
    return None if "reward.json" in rest else found


def _python_keys(code: str) -> set[str] | None:
    """The keys of the one literal that a program writes as JSON, or None."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    literals = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    changed = {
        node.value.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript | ast.Attribute)
        and isinstance(node.value, ast.Name)
        and (isinstance(node, ast.Attribute) or isinstance(node.ctx, ast.Store))
    }
    dumps = list(_dumped(tree))
    if len(dumps) != 1:
        return None
    value: ast.expr | None = dumps[0]
    if isinstance(value, ast.Name):
        assigned = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Name)
            and node.id == value.id
            and isinstance(node.ctx, ast.Store)
        ]
        if len(assigned) != 1 or value.id in changed:
            return None
        value = literals.get(value.id)
    if not isinstance(value, ast.Dict) or not value.keys:
        return None
    keys = {key.value for key in value.keys if isinstance(key, ast.Constant)}
    texts = {key for key in keys if isinstance(key, str)}
    return texts if len(texts) == len(value.keys) else None


def _dumped(tree: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("dump", "dumps")
            and node.args
        ):
            yield node.args[0]
