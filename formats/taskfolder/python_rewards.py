"""Which names a Python program writes to ``reward.json``, by its syntax alone.

Followed are the path (a string, names it is given to, what `os.path.join` and ``/`` make of it),
files opened at it, and the one literal that `json` writes there. Whatever else is done with any of
them makes the answer "not known".
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator

SHELL = "__rlconvert_shell__"
"""Stands in a program for what a shell would put there."""

_FILE = "reward.json"
_READS = frozenset({"get", "items", "keys", "values", "copy"})
_ABOUT_PATHS = frozenset({"exists", "is_file", "unlink", "touch", "parent", "name", "stat"})
_PATH_CALLS = frozenset({"dirname", "exists", "isfile", "remove", "unlink", "print", "str", "repr"})
_JOINING = frozenset({"join", "Path", "PurePath", "PosixPath", "joinpath", "abspath", "str"})


class _Unknown(Exception):
    """Something is done that is not followed."""


def keys_in_python(code: str) -> set[frozenset[str]] | None:
    """The sets of names that the program writes; empty when it writes none, None: not known."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the program's odd escapes
            tree = ast.parse(code)
        return _Program(tree).written()
    except (SyntaxError, ValueError, RecursionError, MemoryError, _Unknown):
        return None


class _Program:
    """A program with, for each node, the one above it."""

    def __init__(self, tree: ast.Module) -> None:
        self._nodes = list(ast.walk(tree))
        self._above = {child: node for node in self._nodes for child in ast.iter_child_nodes(node)}

    def written(self) -> set[frozenset[str]]:
        """Follow every mention of the file to what is written there."""
        found: set[frozenset[str]] = set()
        for node in self._nodes:
            said = isinstance(node, ast.Constant) and _FILE in str(node.value)
            if said and not isinstance(self._above.get(node), ast.Expr):  # a docstring says nothing
                found |= self._path(node)
        return found

    def _path(self, node: ast.AST, depth: int = 0) -> set[frozenset[str]]:
        """What is written through an expression that is the path."""
        if depth > 8:
            raise _Unknown
        above = self._above[node]
        match above:
            case ast.JoinedStr() | ast.FormattedValue() | ast.BinOp(op=ast.Div() | ast.Add()):
                return self._path(above, depth + 1)
            case ast.Call(func=func) if node is not func:
                name = _called(func)
                if name in _JOINING:
                    return self._path(above, depth + 1)
                if name == "open" and above.args and above.args[0] is node:
                    return self._handle(above, depth + 1)
                if name in _PATH_CALLS:
                    return set()
            case ast.Attribute(attr=attr) if attr in _ABOUT_PATHS:
                return set()
            case ast.Attribute(attr="open"):
                return self._handle(self._call_of(above), depth + 1)
            case ast.Attribute(attr="write_text"):
                return {self._text(self._call_of(above))}
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                return self._each_use(name, depth)
        raise _Unknown

    def _each_use(self, name: str, depth: int) -> set[frozenset[str]]:
        if len(list(self._stores(name))) != 1:
            raise _Unknown
        found: set[frozenset[str]] = set()
        for use in self._loads(name):
            found |= self._path(use, depth + 1)
        return found

    def _handle(self, opened: ast.AST, depth: int) -> set[frozenset[str]]:
        """What is written to an open file."""
        above = self._above[opened]
        match above:
            case ast.withitem(optional_vars=ast.Name(id=name)):
                pass
            case ast.Assign(targets=[ast.Name(id=name)]):
                pass
            case ast.Attribute(attr="write"):
                return {self._text(self._call_of(above))}
            case ast.Call(func=ast.Attribute(attr="dump")) if above.args[1:2] == [opened]:
                return {self._keys(above.args[0])}
            case _:
                raise _Unknown
        found: set[frozenset[str]] = set()
        for use in self._of_this_handle(name, above):
            user = self._above[use]
            match user:
                case ast.Call(func=ast.Attribute(attr="dump")) if user.args[1:2] == [use]:
                    found.add(self._keys(user.args[0]))
                case ast.Attribute(attr="write"):
                    call = self._call_of(user)
                    blank = isinstance(call.args[0], ast.Constant) if call.args else False
                    if not (blank and not str(getattr(call.args[0], "value", "x")).strip()):
                        found.add(self._text(call))
                case ast.Attribute(attr="close" | "flush" | "fileno"):
                    pass
                case ast.keyword(arg="file"):
                    found.add(self._text(self._above[user]))
                case _:
                    raise _Unknown
        return found

    def _of_this_handle(self, name: str, bound: ast.AST) -> Iterator[ast.Name]:
        """Uses of a handle. The same name may be another file's in another `with`."""
        if isinstance(bound, ast.withitem):
            block = self._above[bound]
            for node in ast.walk(block):
                if isinstance(node, ast.Name) and node.id == name:
                    if isinstance(node.ctx, ast.Load):
                        yield node
                    elif self._above[node] is not bound:
                        raise _Unknown
            return
        if len(list(self._stores(name))) != 1:
            raise _Unknown
        yield from self._loads(name)

    def _call_of(self, attribute: ast.AST) -> ast.Call:
        call = self._above[attribute]
        if not isinstance(call, ast.Call) or call.func is not attribute:
            raise _Unknown
        return call

    def _text(self, call: ast.AST) -> frozenset[str]:
        """The names in the JSON that a call is given to write."""
        text = call.args[0] if isinstance(call, ast.Call) and call.args else None
        if isinstance(text, ast.BinOp) and isinstance(text.op, ast.Add):
            text = text.left  # json.dumps(...) + "\n"
        if isinstance(text, ast.Call) and _called(text.func) == "dumps" and text.args:
            return self._keys(text.args[0])
        raise _Unknown

    def _keys(self, value: ast.AST) -> frozenset[str]:
        if isinstance(value, ast.Name):
            return self._keys_of_name(value.id)
        if isinstance(value, ast.Call) and _called(value.func) == "dict" and not value.args:
            names = [keyword.arg for keyword in value.keywords]
        elif isinstance(value, ast.Dict):
            names = [
                key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None
                for key in value.keys
            ]
        else:
            raise _Unknown
        keys = frozenset(name for name in names if name is not None and SHELL not in name)
        if not keys or len(keys) != len(names):
            raise _Unknown
        return keys

    def _keys_of_name(self, name: str) -> frozenset[str]:
        """The keys of a variable: literals of the same keys, and nothing that could add one."""
        literals: set[frozenset[str]] = set()
        for store in self._stores(name):
            above = self._above[store]
            if not isinstance(above, ast.Assign | ast.AnnAssign) or above.value is None:
                raise _Unknown
            if isinstance(above.value, ast.Name) or (
                isinstance(above, ast.Assign) and above.targets != [store]
            ):
                raise _Unknown
            literals.add(self._keys(above.value))
        if len(literals) != 1:
            raise _Unknown
        (keys,) = literals
        for use in self._loads(name):
            above = self._above[use]
            match above:
                case ast.Call(func=func) if _called(func) in ("dump", "dumps", "print", "sum"):
                    pass
                case ast.Subscript(ctx=ast.Load()):
                    pass
                case ast.Subscript(ctx=ast.Store(), slice=ast.Constant(value=key)) if key in keys:
                    pass
                case ast.Attribute(attr=attr) if attr in _READS:
                    pass
                case ast.FormattedValue():
                    pass
                case _:
                    raise _Unknown
        return keys

    def _stores(self, name: str) -> Iterator[ast.AST]:
        for node in self._nodes:
            match node:
                case ast.Name(id=own, ctx=ast.Store() | ast.Del()) if own == name:
                    yield node
                case ast.arg(arg=own) if own == name:
                    raise _Unknown
                case ast.Global(names=names) | ast.Nonlocal(names=names) if name in names:
                    raise _Unknown

    def _loads(self, name: str) -> Iterator[ast.Name]:
        for node in self._nodes:
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                yield node


def _called(func: ast.AST) -> str:
    if isinstance(func, ast.Attribute):
        return func.attr
    return func.id if isinstance(func, ast.Name) else ""
