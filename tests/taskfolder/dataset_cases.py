"""`registry.json` and `dataset.toml` documents that are accepted or refused."""

from __future__ import annotations

from rlconvert.formats.taskfolder.problems import Reason

_HEX = "0123456789abcdef" * 4
_SHA = f"sha256:{_HEX}"

REGISTRY_ACCEPTED: dict[str, str] = {
    "nothing": "[]",
    "smallest": '[{"name": "", "version": "", "description": "", "tasks": []}]',
    "usual": """[{"name": "demo", "version": "1.0", "description": "caf\u00e9 \\ud83d\\ude00",
        "tasks": [{"name": "org/a", "path": "tasks/a"}]}]""",
    "pinned": """[{"name": "demo", "version": "1.0", "description": "", "tasks": [
        {"name": "a", "path": "../a", "git_url": "https://x/y.git", "git_commit_id": "head"}]}]""",
    "nulls": """[{"name": "d", "version": "1", "description": "", "tasks": [
        {"name": "a", "path": "", "git_url": null, "git_commit_id": null}], "metrics": []}]""",
    "metrics": """[{"name": "d", "version": "1", "description": "", "tasks": [], "metrics": [{},
        {"type": "uv-script", "kwargs": {"script_path": "m.py", "x": [null, 1e5, -0.0, {}]}}]}]""",
    "unknown keys": """[{"name": "d", "version": "1", "description": "", "a/b": null,
        "tasks": [{"name": "a", "path": "t", "split": ["x"]}], "metrics": [{"k": "\\ud800"}]},
        {"name": "e", "version": "1", "description": "", "tasks": [], "": {"a": 1}}]""",
    "lone surrogate": '[{"name": "\\ud800", "version": "1", "description": "", "tasks": []}]',
}
REGISTRY_REFUSED: dict[str, tuple[str, list[tuple[str, Reason]]]] = {
    "object": ('{"datasets": []}', [("", Reason.WRONG_TYPE)]),
    "recipes": ('{"recipes": [{"name": "x"}]}', [("", Reason.WRONG_TYPE)]),
    "null": ("null", [("", Reason.WRONG_TYPE)]),
    "no description": (
        '[{"name": "d", "version": 1.0, "tasks": [{"name": 5}]}]',
        [
            ("[0].version", Reason.WRONG_TYPE),
            ("[0].description", Reason.MISSING_KEY),
            ("[0].tasks[0].name", Reason.WRONG_TYPE),
            ("[0].tasks[0].path", Reason.MISSING_KEY),
        ],
    ),
    "null description": (
        '[{"name": "d", "version": "1", "description": null, "tasks": null}]',
        [("[0].description", Reason.WRONG_TYPE), ("[0].tasks", Reason.WRONG_TYPE)],
    ),
    "metric": (
        """[{"name": "d", "version": "1", "description": "", "tasks": [],
            "metrics": [{"type": "median"}, {"type": null}, {"kwargs": []}]}]""",
        [
            ("[0].metrics[0].type", Reason.BAD_VALUE),
            ("[0].metrics[1].type", Reason.BAD_VALUE),
            ("[0].metrics[2].kwargs", Reason.WRONG_TYPE),
        ],
    ),
    "entry": ('["demo", null]', [("[0]", Reason.WRONG_TYPE), ("[1]", Reason.WRONG_TYPE)]),
    "not JSON": ("[{'name': 1}]", [("", Reason.BAD_JSON)]),
    "final comma": ("[{},]", [("", Reason.BAD_JSON)]),
    "comment": ("[] // none", [("", Reason.BAD_JSON)]),
    "empty": ("", [("", Reason.BAD_JSON)]),
    "byte order mark": ("\ufeff[]", [("", Reason.BYTE_ORDER_MARK)]),
    "NUL": ('["\0"]', [("", Reason.NUL_CHARACTER)]),
    "long number": (f"[{'9' * 4301}]", [("", Reason.BAD_JSON)]),
}
_ONE = '[{{"name": "d", "version": "1", "description": "", "tasks": [], "x": {}}}]'
_TASK = (
    '[{{"name": "d", "version": "1", "description": "", '
    '"tasks": [{{"name": "t", "path": "t", {}}}]}}]'
)
REGISTRY_STRICTER: dict[str, tuple[str, Reason]] = {
    "empty object": ("{}", Reason.EMPTY_NOT_ARRAY),
    "empty string": ('""', Reason.EMPTY_NOT_ARRAY),
    "key given twice": (_ONE.format('1, "x": 2'), Reason.DUPLICATE_KEY),
    "not a number": (_ONE.format("[NaN]"), Reason.NOT_FINITE),
    "infinity": (_ONE.format("-Infinity"), Reason.NOT_FINITE),
    "too large": (_ONE.format("1e999"), Reason.NOT_FINITE),
    "deep": (_ONE.format("[" * 200 + "]" * 200), Reason.TOO_DEEP),
    "an address that is an option of git": (
        _TASK.format('"git_url": "--upload-pack=touch x"'),
        Reason.GIT_OPTION,
    ),
    "a commit that is an option of git": (
        _TASK.format('"git_commit_id": "--upload-pack=touch x"'),
        Reason.GIT_OPTION,
    ),
}

_DATASET = "[dataset]\nname = 'org/demo'\n"
DATASET_ACCEPTED: dict[str, str] = {
    "smallest": _DATASET,
    "fullest": f"# header\n\nschema_version = '2'\n{_DATASET}version = '1'\ndescription = 'd'\n"
    f"keywords = ['a']\nauthors = [{{ name = 'A', email = 'x' }}]\n[metadata]\nharbor.lint = true\n"
    f"[[tasks]]\nname = 'org/a'\ndigest = '{_SHA}'\n[[files]]\npath = 'metric.py'\n"
    f"[[files]]\npath = 'b'\ndigest = '{_SHA}'",
    "unknown keys": f"version = 1\n{_DATASET}x = 1\n[[files]]\npath = 'a'\ny = [[]]",
    "no arrays": f"tasks = []\nfiles = []\n{_DATASET}",
}
DATASET_REFUSED: dict[str, tuple[str, list[tuple[str, Reason]]]] = {
    "nothing": ("", [("dataset", Reason.MISSING_KEY)]),
    "names": (
        """schema_version = 1
            [dataset]
            name = 'demo'
            version = ''
            authors = ['A']
            [[tasks]]
            name = 'a'
            digest = 'SHA256:'
            [[files]]
            path = 'a/b'
            digest = 'x'""",
        [
            ("schema_version", Reason.WRONG_TYPE),
            ("dataset.name", Reason.PACKAGE_NAME),
            ("dataset.version", Reason.BAD_VALUE),
            ("dataset.authors[0]", Reason.WRONG_TYPE),
            ("tasks[0].name", Reason.PACKAGE_NAME),
            ("tasks[0].digest", Reason.DIGEST),
            ("files[0].path", Reason.FILE_NAME),
            ("files[0].digest", Reason.DIGEST),
        ],
    ),
    "no digest": (f"{_DATASET}[[tasks]]\nname = 'a/b'", [("tasks[0].digest", Reason.MISSING_KEY)]),
    "backslash": (f"{_DATASET}[[files]]\npath = 'a\\b'", [("files[0].path", Reason.FILE_NAME)]),
}
DATASET_STRICTER: dict[str, tuple[str, Reason]] = {
    "newline in the name": ('[dataset]\nname = "org/demo\\n"', Reason.CONTROL_CHARACTER),
    "newline in a digest": (
        f'{_DATASET}[[tasks]]\nname = "a/b"\ndigest = "{_SHA}\\n"',
        Reason.CONTROL_CHARACTER,
    ),
    "no file name": (f"{_DATASET}[[files]]\npath = ''", Reason.RESERVED_FILE_NAME),
    "the folder above": (f"{_DATASET}[[files]]\npath = '..'", Reason.RESERVED_FILE_NAME),
    "control character": (f'{_DATASET}[[files]]\npath = "a\\n"', Reason.RESERVED_FILE_NAME),
}
