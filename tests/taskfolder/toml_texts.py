"""Random `task.toml` texts: every key in random company, mostly good, with faults of all kinds."""

from __future__ import annotations

import json
import random

from taskfolder.toml_keys import TABLES, Key

HOSTS = ("'a.org'", "'*.b.org'", "'::1'", "'10.0.0.0/8'", "'A.'", "'a:1'", "'10.0.0.1/8'", "''")
UNKNOWN = (
    "1",
    "'x'",
    "[]",
    "{}",
    "nan",
    "1979-05-27",
    "[{ a = 1 }, 'b']",
    "{ 'a.b/c~' = { d = 0 } }",
)
NAMES = ("foo", "'a/b~c'", '""', "'0'", "definition", "'é'", "allowed_host", "Env")
SYNTAX = "\n\r\t\0\x1b\ufeff\"'\\[]{}=,.#_-+:eExT0189zZ\u0085\u2028 é"

_SERVER = "environment.mcp_servers = [{ name = 'a', url = 'b', headers = { "
STRINGS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("task.name = ?", (*"aZ0._-/ /\n", "org/", "..", "é")),
    ("steps = [{ name = ? }]", (*"aé. /:*$\x7f\n", "CON", "nul", "LPT", "1", "¹", "IN$", "COM")),
    ("steps = [{ name = 'Straße' }, { name = ? }]", ("S", "s", "TRA", "tra", "ß", "SE", "ẞ", "e")),
    ("artifacts = [?]", (*"/.a\\ ", "..", "../", "/..")),
    ("artifacts = [{ source = '/a', destination = ? }]", (*"/.a\\", "..", "manifest.json")),
    ("artifacts = [{ source = ?, service = 'db' }]", (*"/.aC:\\", "..")),
    ("artifacts = [{ source = '/a', service = ? }]", (*"aZ0._- \n", "main")),
    (
        "agent = { network_mode = 'allowlist', allowed_hosts = [?] }",
        (
            *"aZ0.-:/*_[]% \n",
            "*.",
            "1.2.3.4",
            "::",
            "fe80",
            "/24",
            "ffff:",
            ".org",
            "\u212a",
            "255",
        ),
    ),
    ("environment.memory = ?", (*"0159.-+_eGgMmKk \n", "inf", "nan", "٣", "\u212a", "1e300")),
    ("environment.tpu = { type = 'v4', topology = ? }", (*"0129xX \n", "2x", "٣")),
    ("environment.cpus = ?", (*"0129.-+_e ", "inf", "nan", "٣", "1e300")),
    ("environment.gpus = ?", (*"0129.-+_e ", ".0", "٣", "99999999999999999999")),
    ("agent.timeout_sec = ?", (*"0129.-+_e \n", "inf", "nan", "Infinity", "٣", "1e999")),
    (
        "environment.allow_internet = ?",
        ("t", "rue", "f", "T", "on", "off", "yes", "n", "o", "1", " "),
    ),
    ("environment.os = ?", ("linux", "LIN", "ux", "UX", "windows", "Win", "DOWS", " ")),
    (_SERVER + "? = 'x' } }]", (*"aZ0-_ :é\n", "Token", "tokens", "KEY", "cookie", "auth")),
    (
        _SERVER + "X-A = ? } }]",
        ("${", "}", "A", ":-", "$", " ", "a", "TOKEN", "\n", "${B:-c}", "1"),
    ),
    (_SERVER + "X-Key = ? } }]", ("${A}", "${B:-}", "Bearer ", " ", ":", "-", "a", "${A:-b}", "é")),
)
"""Keys with a rule for strings, and the pieces that strings for them are made of."""


def text(seed: int) -> str:
    """The text of a seed: a document, in one of four cases with some characters changed."""
    rng = random.Random(seed)  # noqa: S311 - chosen, not secret
    document = _document(rng, faults=rng.choice((0.0, 0.0, 0.01, 0.05)))
    if rng.random() < 0.25:
        for _ in range(rng.randint(1, 3)):
            document = _damaged(rng, document)
    return document


def names(seed: int) -> str:
    """The text of a seed: a document with one string, made to be nearly right for its key."""
    rng = random.Random(seed)  # noqa: S311 - chosen, not secret
    template, pieces = rng.choice(STRINGS)
    string = "".join(rng.choice(pieces) for _ in range(rng.randint(1, 6)))
    return template.replace("?", json.dumps(string).replace("\x7f", "\\u007f"))


def _document(rng: random.Random, faults: float) -> str:
    roots: list[str] = []
    tables: list[str] = []
    for key, literal in _pairs(rng, "root", faults):
        kind = TABLES["root"].get(key, Key())
        if not kind.of or kind.many or rng.random() < 0.2:
            roots.append(f"{key} = {literal}")
        else:
            tables.append(f"\n[{key}]\n" + _lines(rng, kind.of, faults))
    if rng.random() < 0.3 and not any(line.startswith("steps ") for line in roots):
        tables += [f"\n[[steps]]\n{_lines(rng, 'step', faults)}" for _ in range(rng.randint(1, 3))]
    rng.shuffle(tables)
    return "\n".join(roots) + "\n" + "".join(tables)


def _lines(rng: random.Random, table: str, faults: float) -> str:
    return "".join(f"{key} = {literal}\n" for key, literal in _pairs(rng, table, faults))


def _pairs(rng: random.Random, table: str, faults: float) -> list[tuple[str, str]]:
    """Keys of a table with a literal each; no more than one step, so that names do not clash."""
    pairs = [
        (name, _literal(rng, name, key, faults))
        for name, key in TABLES[table].items()
        if rng.random() < (1 - faults / 3 if key.required else 0.35)
    ]
    if rng.random() < 0.15:
        pairs.append((rng.choice(NAMES), rng.choice(UNKNOWN)))
    if "network_mode" in TABLES[table] and rng.random() < 0.1:
        pairs = [pair for pair in pairs if pair[0] not in ("network_mode", "allowed_hosts")]
        pairs.append(("network_mode", "'allowlist'"))
        pairs.append(("allowed_hosts", f"[{', '.join(rng.sample(HOSTS[:5], 2))}]"))
        if rng.random() < faults * 10:
            pairs.append(("allowed_hosts", f"[{rng.choice(HOSTS)}]"))
    if table == "mcp" and rng.random() < 0.2:
        pairs = [pair for pair in pairs if pair[0] not in ("transport", "headers")]
        pairs.append(("transport", "'stdio'"))
    if table == "verifier" and rng.random() > faults:
        pairs = [pair for pair in pairs if pair[0] != "environment_mode"]
    if table == "environment" and rng.random() > faults:
        pairs = [pair for pair in pairs if pair[0] not in ("memory_mb", "storage_mb")]
    return list(dict(pairs).items())


def _literal(rng: random.Random, name: str, key: Key, faults: float) -> str:
    if key.bad and rng.random() < faults:
        return rng.choice(key.bad)
    if not key.of or (key.good and rng.random() < 0.5):
        return rng.choice([one for one in key.good if len(one) < 200] or ["[]"])
    inner = [
        "{ " + ", ".join(f"{k} = {v}" for k, v in _pairs(rng, key.of, faults)) + " }"
        for _ in range(rng.randint(1, 2) if key.many and name != "steps" else 1)
    ]
    return f"[{', '.join(inner)}]" if key.many else inner[0]


def _damaged(rng: random.Random, document: str) -> str:
    at = rng.randrange(len(document) + 1)
    if rng.random() < 0.3:
        return document[:at] + document[at + rng.randint(1, 4) :]
    return document[:at] + rng.choice(SYNTAX) + document[at + rng.randint(0, 1) :]
