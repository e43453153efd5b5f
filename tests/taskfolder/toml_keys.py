"""Every key of `task.toml` with values that Harbor 0.26.0 takes and values that it refuses.

Read it as a manual. Each value is tried alone (`test_toml_schema.py`), in random company
(`toml_texts.py`), and against the real Harbor (`frameworks/test_harbor_schema.py`).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Key:
    """TOML literals for one key. `of`: the table (or array of tables, `many`) it may also hold."""

    good: tuple[str, ...] = ()
    bad: tuple[str, ...] = ()
    of: str = ""
    many: bool = False
    required: bool = False


TEXT = Key(
    good=('""', '"x"', "'C:\\x'", '"""two\nlines"""', '"caf\\u00e9 \U0001f600"', '"\\u0000\\t"'),
    bad=("1", "1.5", "true", "[]", "{}", "1979-05-27"),
)
SECONDS = Key(
    good=("0", "-1", "900.0", "1e3", "inf", "nan", '"30"', '" 30 "', '"1_0"', '"inf"', "true"),
    bad=('"30s"', '""', "[]", "{}", "1979-05-27", "07:32:00"),
)
COUNT = Key(
    good=(
        "0",
        "-1",
        "2048",
        "2048.0",
        '"7"',
        '"7.0"',
        "true",
        "0xff",
        "1_000",
        "36893488147419103232",
    ),
    bad=("2048.5", '"2G"', '"1.5"', '""', "nan", "inf", "[]", "{}", "07:32:00"),
)
TEXTS = Key(good=("[]", '["a"]', '["a", "a", ""]'), bad=('"a"', "[1]", '["a", true]', "{}", "[[]]"))
ENV = Key(
    good=("{}", '{ A = "1" }', '{ "a b" = "", "" = "${HOME:-x}" }'),
    bad=("{ A = 1 }", "{ A = true }", '["A=1"]', '"A=1"', "{ A = {} }", "{ a.b = 'x' }"),
)
USER = Key(good=('"root"', '""', "1000", "1000.0", "true", '"7"'), bad=("1.5", "[]", "{}", "nan"))
PHASE_MODE = Key(
    good=('"no-network"', '"public"', '"allowlist"'),
    bad=('"Public"', '"none"', '""', "true", "[]", "{}"),
)
FREE = Key(
    good=(
        "{}",
        "{ a = 1, b = [1, 'x', { c = nan }], d = 1979-05-27T07:32:00.5+01:30 }",
        "{ '' = 1979-05-27, t = 07:32:00.000001, big = 0xffffffffffffffffffff, z = -0.0 }",
    ),
    bad=("1", "[]", '"x"'),
)
ARTIFACTS = Key(
    good=("[]", '["/app/out", "rel", "", "a..b"]', '["/a", { source = "/b" }]'),
    bad=('"/app"', "[1]", '["../x"]', '["a/../b"]', "[[]]", "{}", '["/a", { }]'),
    of="artifact",
    many=True,
)
HEALTHCHECK = Key(bad=("[]", '"curl"', "true", "{}"), of="healthcheck")

TABLES: dict[str, dict[str, Key]] = {
    "root": {
        "schema_version": Key(good=('"1.4"', '"1.0"', '"9.9"', '""'), bad=("1.4", "1", "[]")),
        "version": Key(good=('"1.0"',)),  # bad only where schema_version is absent
        "source": TEXT,
        "multi_step_reward_strategy": Key(
            good=('"mean"', '"final"'), bad=('"Mean"', '"sum"', '""', "1", "[]")
        ),
        "artifacts": ARTIFACTS,
        "task": Key(bad=("[]", '"org/x"', "{}"), of="task"),
        "metadata": FREE,
        "agent": Key(bad=("[]", "1", '"x"'), of="agent"),
        "verifier": Key(bad=("[]", "1"), of="verifier"),
        "environment": Key(bad=("[]", "1"), of="environment"),
        "solution": Key(bad=("[]", "1"), of="solution"),
        "steps": Key(good=("[]",), bad=("{}", '"x"', "[1]", "[{}]"), of="step", many=True),
    },
    "task": {
        "name": Key(
            good=('"org/x"', '"o/x"', '"Org_1.a-b/x.y"', '"0/0"', '"a/b."', '"a-/b_"'),
            bad=(
                '"x"',
                '"a/b/c"',
                '".a/b"',
                '"a/-b"',
                '"a/b c"',
                '"\\u00e9/b"',
                '""',
                '"a/"',
                '"/b"',
                '"a/b..c"',
                '"a/b\\n\\n"',
                '"a/b\\r"',
                '" a/b"',
                "1",
            ),
            required=True,
        ),
        "version": Key(good=('"1.0"', '" "'), bad=('""', "1", "1.0")),
        "description": TEXT,
        "authors": Key(
            good=("[]", "[{ name = 'A' }]"),
            bad=("['A']", "[{}]", "[{ email = 'a' }]", "{}"),
            of="author",
            many=True,
        ),
        "keywords": TEXTS,
    },
    "author": {"name": Key(TEXT.good, TEXT.bad, required=True), "email": TEXT},
    "agent": {
        "timeout_sec": SECONDS,
        "user": USER,
        "network_mode": PHASE_MODE,
        "allowed_hosts": Key(bad=('"x.org"', "[1]", '[""]')),  # never alone: see DOCUMENTS
    },
    "verifier": {
        "timeout_sec": SECONDS,
        "env": ENV,
        "user": USER,
        "network_mode": PHASE_MODE,
        "environment_mode": Key(good=('"shared"', '"separate"'), bad=('"Shared"', '""', "[]")),
        "environment": Key(bad=("[]", "1"), of="environment"),
        "collect": Key(good=("[]",), bad=("['x']", "{}", "[{}]"), of="collect", many=True),
    },
    "collect": {
        "command": Key(TEXT.good, TEXT.bad, required=True),
        "service": Key(
            good=('"main"', '" db "', '"a.b_c-d"', '"0"'),
            bad=('""', '"-a"', '"a b"', '"\\u00e9"', "1"),
        ),
        "timeout_sec": SECONDS,
        "user": USER,
    },
    "solution": {"env": ENV},
    "environment": {
        "build_timeout_sec": SECONDS,
        "docker_image": TEXT,
        "os": Key(
            good=('"linux"', '"WINDOWS"', '"Linux"'), bad=('"darwin"', '""', '" linux"', "1")
        ),
        "cpus": Key(
            good=("1", "2.0", "0.5", "-1", "0", '"2"', '"2.0"', '"2.5"', "true", "1e3"),
            bad=("nan", "inf", '"inf"', '"2 cores"', "[]", "{}", "07:32:00"),
        ),
        "memory_mb": COUNT,
        "storage_mb": COUNT,
        "memory": Key(  # any value that is not a string is discarded
            good=(
                '"2G"',
                '"512m"',
                '" 1.5 g "',
                '"100K"',
                '"1e3M"',
                '"-1G"',
                '"1_0G"',
                "2048",
                "[]",
            ),
            bad=('"2GB"', '"2Gi"', '"2048"', '""', '"G"', '"nanG"', '"infG"', '"1e400M"', '"2T"'),
        ),
        "storage": Key(good=('"10G"', "true", "1979-05-27"), bad=('"10"', '"x"')),
        "gpus": COUNT,
        "gpu_types": TEXTS,
        "tpu": Key(bad=("{}", "[]", '"v4"', '{ type = "v4" }'), of="tpu"),
        "mcp_servers": Key(good=("[]",), bad=("{}", "['x']", "[{}]"), of="mcp", many=True),
        "env": ENV,
        "skills_dir": TEXT,
        "healthcheck": HEALTHCHECK,
        "workdir": TEXT,
        "network_mode": PHASE_MODE,
        "allowed_hosts": Key(good=("[]",), bad=('["x.org"]', '"x.org"', "[1]", '[""]', "{}")),
        "allow_internet": Key(
            good=("true", "false", "0", "1", "1.0", '"no"', '"YES"', '"t"', '"off"'),
            bad=("2", '"maybe"', '""', "[]", "{}", "0.5", "1979-05-27"),
        ),
    },
    "healthcheck": {
        "command": Key(TEXT.good, TEXT.bad, required=True),
        "interval_sec": SECONDS,
        "timeout_sec": SECONDS,
        "start_period_sec": SECONDS,
        "start_interval_sec": SECONDS,
        "retries": COUNT,
    },
    "tpu": {
        "type": Key(good=('"v4"', '" "'), bad=('""', "4"), required=True),
        "topology": Key(
            good=('"2x4"', '"2x2x1"', '" 10x1\\n"', '"1x1x1x1"'),
            bad=('"8"', '"0x4"', '"2x"', '"2X4"', '"2 x 4"', '"02x4"', '""', "2"),
            required=True,
        ),
    },
    "mcp": {
        "name": Key(TEXT.good, TEXT.bad, required=True),
        "transport": Key(
            good=('"sse"', '"http"', '"streamable-http"'), bad=('"SSE"', '""', '"ws"', "1", "[]")
        ),
        "url": Key(good=('"http://db:1/mcp"', '"x"'), bad=('""', "1", "[]"), required=True),
        "command": TEXT,
        "args": TEXTS,
        "headers": Key(
            good=(
                "{}",
                "{ X-A = 'b' }",
                "{ Authorization = 'Bearer ${TOKEN}' }",
                "{ cookie = '' }",
                "{ api-key = '${A}:${B:-}' }",
                "{ X-A = '${B:-c}' }",
                "{ max-tokens = '5' }",
            ),
            bad=(
                "{ X-A = 1 }",
                "{ 'X A' = 'b' }",
                '{ X-A = "b\\n" }',
                "{ X-A = '${' }",
                "{ X-A = '${B:-${C}' }",
                "{ Authorization = 'Bearer abc' }",
                "{ Cookie = 'a=b' }",
                "{ api-key = '${A:-b}' }",
                "{ X-A = '${TOKEN:-b}' }",
                "{ X-A = '${1}' }",
                "[]",
            ),
        ),
    },
    "artifact": {
        "source": Key(
            good=('"/app"', '""', '"/a..b"', '"/a/./b"'),
            bad=('".."', '"/a/../b"', '"/a/.."', "1"),
            required=True,
        ),
        "destination": Key(
            good=('""', '"out/x"', '"./manifest.json"', '"manifest.json/a"', '"a//b"', '"..a"'),
            bad=(
                '"/out"',
                '"a\\\\b"',
                '"."',
                '"./"',
                '"a/../b"',
                '"manifest.json"',
                '"manifest.json//"',
                "1",
            ),
        ),
        "exclude": TEXTS,
        "service": Key(good=('"main"', '" main "'), bad=('""', '" "', '"a b"', '"-x"', "1")),
    },
    "step": {
        "name": Key(
            good=(
                '"one"',
                '" a"',
                '".a"',
                '"\\u00e9"',
                '"CONSOLE"',
                '"COM10"',
                '"a CON"',
                '"LPT\\u00b9x"',
                f'"{"a" * 255}"',
            ),
            bad=(
                '""',
                '" "',
                '"."',
                '".."',
                '"a."',
                '"a "',
                '"a/b"',
                "'a\\b'",
                '"a:b"',
                '"a\\t"',
                '"\\u007f"',
                '"a?"',
                '"con"',
                '"NUL.txt"',
                '"aux .x"',
                '"COM1"',
                '"lpt\\u00b2"',
                '"conin$"',
                "'" + "\u00e9" * 128 + "'",
                "1",
            ),
            required=True,
        ),
        "agent": Key(bad=("[]",), of="agent"),
        "verifier": Key(bad=("[]",), of="verifier"),
        "min_reward": Key(
            good=("0.5", "1", '"0.5"', "nan", "{}", "{ a = 1, b = 'inf' }", "true"),
            bad=('"x"', "[]", "{ a = 'x' }", "{ a = {} }", "1979-05-27"),
        ),
        "healthcheck": HEALTHCHECK,
        "artifacts": ARTIFACTS,
    },
}
"""By table name, then by key."""

WRAP: dict[str, str] = {
    "root": "{}",
    "task": "[task]\n{}",
    "author": "[task]\nname = 'o/x'\n[[task.authors]]\n{}",
    "agent": "[agent]\n{}",
    "verifier": "[verifier]\n{}",
    "collect": "[[verifier.collect]]\n{}",
    "solution": "[solution]\n{}",
    "environment": "[environment]\n{}",
    "healthcheck": "[environment.healthcheck]\n{}",
    "tpu": "[environment.tpu]\n{}",
    "mcp": "[[environment.mcp_servers]]\n{}",
    "artifact": "[[artifacts]]\n{}",
    "step": "[[steps]]\n{}",
}
"""How a table is reached in a document of its own."""


def alone(table: str, name: str, literal: str) -> str:
    """A document that gives one key, and whatever else its table cannot be without."""
    others = [
        f"{other} = {key.good[-1] if other != 'name' else key.good[0]}\n"
        for other, key in TABLES[table].items()
        if key.required and other != name
    ]
    return WRAP[table].format("".join(others) + f"{name} = {literal}\n")


def values(*, good: bool) -> list[tuple[str, str, str]]:
    """(table, key, literal) for every value that is accepted, or refused."""
    return [
        (table, name, literal)
        for table, keys in TABLES.items()
        for name, key in keys.items()
        for literal in (key.good if good else key.bad)
    ]
