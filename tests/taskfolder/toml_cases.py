"""Documents that are accepted or refused as a whole: keys that depend on each other, and syntax."""

from __future__ import annotations

from rlconvert.formats.taskfolder.problems import Reason

HOSTS = {
    # as written: as kept, or None where refused
    "example.org": "example.org",
    " Example.ORG. ": "example.org",
    "*.example.org": "*.example.org",
    "*.com": "*.com",
    "localhost": "localhost",
    "\u212aelvin.org": "kelvin.org",  # the Kelvin sign
    "192.0.2.1": "192.0.2.1",
    "999.1.1.1": "999.1.1.1",  # a host name
    "192.0.2.0/24": "192.0.2.0/24",
    "192.0.2.0/255.255.255.0": "192.0.2.0/24",
    "10.0.0.1/32": "10.0.0.1/32",
    "2001:DB8:0:0::1": "2001:db8::1",
    "2001:db8::/32": "2001:db8::/32",
    "::ffff:192.0.2.1": "::ffff:c000:201",
    "::ffff:0.0.0.0/96": "::ffff:0:0/96",
    "": None,
    ".": None,
    "*": None,
    "*.": None,
    "a.*.org": None,
    "*a.org": None,
    "*.*.org": None,
    "*.192.0.2.1": None,
    "https://example.org": None,
    "example.org:443": None,
    "example.org/path": None,
    "10.0.0.1/8": None,
    "2001:db8::1/32": None,
    "fe80::1%eth0": None,
    "[2001:db8::1]": None,
    "a_b.org": None,
    "-a.org": None,
    "a..org": None,
    "b\u00fccher.de": None,
    "a" * 64: None,
}

ACCEPTED: dict[str, str] = {
    "nothing": "",
    "comment": "# only a comment",
    "both versions": "schema_version = '1.1'\nversion = 1.0",
    "mixed artifacts": "artifacts = ['/a', { source = '/b', exclude = ['*.pyc'] }]",
    "sidecar artifact": "artifacts = [{ source = '/db', service = 'db' }]",
    "sidecar on Windows": "artifacts = [{ source = 'C:/db', service = 'db' }]",
    "overlapping artifacts": "artifacts = ['/a', '/a/b', '/logs/artifacts']",
    "allowlist, no hosts": "agent.network_mode = 'allowlist'",
    "empty hosts, a mode": "agent = { network_mode = 'public', allowed_hosts = [] }",
    "hosts": "[environment]\nnetwork_mode = 'allowlist'\nallowed_hosts = ['A.org.', '::1']",
    "legacy, offline": "[environment]\nallow_internet = false",
    "legacy and mode": "[environment]\nallow_internet = false\nnetwork_mode = 'public'",
    "legacy and hosts": "[environment]\nallow_internet = false\nallowed_hosts = []",
    "legacy, elsewhere": "[verifier.environment]\nallow_internet = false\nmemory = '1G'\n"
    "[[steps]]\nname = 'a'\nverifier.environment = { allow_internet = false, storage = 5 }",
    "equal sizes": "[environment]\nmemory = '2G'\nmemory_mb = 2048.0",
    "separate": "[verifier]\nenvironment_mode = 'separate'\n[verifier.environment]\ncpus = 1",
    "stdio": "environment.mcp_servers = [{ name = 'a', transport = 'stdio', command = 'x' }]",
    "steps": "[[steps]]\nname = 'a'\n[[steps]]\nname = 'b'\nmin_reward = { reward = 0.5 }",
    "unknown keys": "difficulty = 'easy'\n[environment]\ndefinition = { a = [1, { b = 'c' }] }\n"
    "[[steps]]\nname = 'a'\nfoo.bar = 1979-05-27\n[[artifacts]]\nsource = '/a'\n'x/y~z' = nan\n"
    "[unknown]\na = []\n[[unknown.b]]\n[[unknown.b]]\nc = 1",
    "nothing is unknown here": "[metadata]\nversion = 1\nenvironment.memory = 5\n'' = {}",
    "Windows line ends": "source = '''a\r\nb'''\r\n[agent]\r\ntimeout_sec = 5\r\n",
    "old Mac line ends": "source = 'a'\r[agent]\rtimeout_sec = 5\r",
    "dotted tables": "agent.timeout_sec = 5\nverifier.environment.env.'A.B' = 'x'",
}
"""By what it shows."""

REFUSED: dict[str, tuple[str, list[tuple[str, Reason]]]] = {
    "version": ("version = 1.0", [("version", Reason.WRONG_TYPE)]),
    "number of seconds": (
        "[agent]\ntimeout_sec = '30s'",
        [("agent.timeout_sec", Reason.WRONG_TYPE)],
    ),
    "choice": ("[environment]\nos = 'mac'", [("environment.os", Reason.BAD_VALUE)]),
    "no name": (
        "[task]\nversion = ''",
        [("task.name", Reason.MISSING_KEY), ("task.version", Reason.BAD_VALUE)],
    ),
    "package name": ("[task]\nname = 'x'", [("task.name", Reason.PACKAGE_NAME)]),
    "env": ("[solution.env]\n'A B' = 1", [('solution.env."A B"', Reason.WRONG_TYPE)]),
    "empty hosts, no mode": ("agent.allowed_hosts = []", [("agent", Reason.NETWORK_POLICY)]),
    "hosts, wrong mode": (
        "verifier = { network_mode = 'public', allowed_hosts = ['a'] }",
        [("verifier", Reason.NETWORK_POLICY)],
    ),
    "hosts, default mode": (
        "environment.allowed_hosts = ['a']",
        [("environment", Reason.NETWORK_POLICY)],
    ),
    "hosts, legacy": (
        "[environment]\nallow_internet = true\nallowed_hosts = ['a']",
        [("environment", Reason.NETWORK_POLICY)],
    ),
    "host": (
        "agent = { network_mode = 'allowlist', allowed_hosts = ['a.org', 'a/b'] }",
        [("agent.allowed_hosts[1]", Reason.NETWORK_HOST)],
    ),
    "legacy size": ("[environment]\nmemory = '2GB'", [("environment.memory", Reason.LEGACY_SIZE)]),
    "sizes differ": (
        "[environment]\nstorage = '2G'\nstorage_mb = '2048'",
        [("environment.storage", Reason.LEGACY_CONFLICT)],
    ),
    "legacy internet": (
        "[verifier.environment]\nallow_internet = 'maybe'\nnetwork_mode = 'public'",
        [("verifier.environment.allow_internet", Reason.WRONG_TYPE)],
    ),
    "shared, with environment": (
        "[verifier]\nenvironment_mode = 'shared'\n[verifier.environment]",
        [("verifier", Reason.VERIFIER_ENVIRONMENT)],
    ),
    "stdio without command": (
        "environment.mcp_servers = [{ name = 'a', transport = 'stdio', url = 'x' }]",
        [("environment.mcp_servers[0]", Reason.MCP_TRANSPORT)],
    ),
    "stdio with headers": (
        "environment.mcp_servers = [{ name='a', transport='stdio', command='x', headers={a=''} }]",
        [("environment.mcp_servers[0]", Reason.MCP_TRANSPORT)],
    ),
    "http without url": (
        "environment.mcp_servers = [{ name = 'a', transport = 'http' }, { name = 'b' }]",
        [
            ("environment.mcp_servers[0]", Reason.MCP_TRANSPORT),
            ("environment.mcp_servers[1]", Reason.MCP_TRANSPORT),
        ],
    ),
    "header name": (
        "environment.mcp_servers = [{ name = 'a', url = 'x', headers = { 'a b' = 'c' } }]",
        [("environment.mcp_servers[0].headers", Reason.MCP_HEADER)],
    ),
    "credential": (
        "environment.mcp_servers = [{ name = 'a', url = 'x', headers = { X-Key = 'c' } }]",
        [("environment.mcp_servers[0].headers", Reason.MCP_CREDENTIAL)],
    ),
    "topology": (
        "environment.tpu = { type = 'v4', topology = '8' }",
        [("environment.tpu.topology", Reason.TPU_TOPOLOGY)],
    ),
    "service": (
        "[[verifier.collect]]\ncommand = 'x'\nservice = 'a b'",
        [("verifier.collect[0].service", Reason.SERVICE_NAME)],
    ),
    "artifacts": (
        "artifacts = [1, '../x', { source = 'a', service = 'db' }, { destination = '/a' }]",
        [
            ("artifacts[0]", Reason.WRONG_TYPE),
            ("artifacts[1]", Reason.ARTIFACT_PATH),
            ("artifacts[2]", Reason.ARTIFACT_PATH),
            ("artifacts[3].source", Reason.MISSING_KEY),
            ("artifacts[3].destination", Reason.ARTIFACT_PATH),
        ],
    ),
    "step name": ("[[steps]]\nname = 'a/b'", [("steps[0].name", Reason.STEP_NAME)]),
    "same step, by case": (
        "steps = [{ name = 'Stra\u00dfe' }, { name = 'STRASSE' }]",
        [("steps", Reason.STEP_NAME_TAKEN)],
    ),
    "same step, by composition": (
        "steps = [{ name = '\u00e9' }, { name = 'e\u0301' }]",
        [("steps", Reason.STEP_NAME_TAKEN)],
    ),
    "least reward": (
        "[[steps]]\nname = 'a'\nmin_reward.x = 'y'",
        [("steps[0].min_reward.x", Reason.WRONG_TYPE)],
    ),
    "twice": ("a = 1\na = 2", [("", Reason.BAD_TOML)]),
    "not TOML": ("source = easy", [("", Reason.BAD_TOML)]),
    "bare backslash": (r'source = "\s"', [("", Reason.BAD_TOML)]),
    "TOML 1.1: escape": (r'source = "\e"', [("", Reason.BAD_TOML)]),
    "TOML 1.1: hex": (r'source = "\x41"', [("", Reason.BAD_TOML)]),
    "TOML 1.1: final comma": ("agent = { user = 1, }", [("", Reason.BAD_TOML)]),
    "TOML 1.1: line end": ("agent = {\n user = 1 }", [("", Reason.BAD_TOML)]),
    "TOML 1.1: no seconds": ("metadata.a = 07:32", [("", Reason.BAD_TOML)]),
    "day": ("metadata.a = 2023-02-29", [("", Reason.BAD_TOML)]),
    "long decimal": ("metadata.a = " + "9" * 4301, [("", Reason.BAD_TOML)]),
    "byte order mark": ("\ufeffsource = 'a'", [("", Reason.BYTE_ORDER_MARK)]),
    "NUL": ("source = 'a\0'", [("", Reason.NUL_CHARACTER)]),
    "control character": ("source = 'a\x1b'", [("", Reason.BAD_TOML)]),
}
"""By what is wrong: the text, and each problem's place and reason."""

_DEEP = "metadata.a = " + "[" * 99 + "]" * 99
STRICTER: dict[str, tuple[str, str, Reason]] = {
    "final newline in the name": ('[task]\nname = "a/b\\n"', "task.name", Reason.CONTROL_CHARACTER),
    "newline in a host": (
        'agent = { network_mode = "allowlist", allowed_hosts = ["a\\n.org"] }',
        "agent.allowed_hosts[0]",
        Reason.CONTROL_CHARACTER,
    ),
    "newline before the final dot": (
        'environment = { network_mode = "allowlist", allowed_hosts = ["a.org\\n."] }',
        "environment.allowed_hosts[0]",
        Reason.CONTROL_CHARACTER,
    ),
    "deep arrays": (_DEEP, "metadata.a[0][0][0][0][0][0]...", Reason.TOO_DEEP),
    "deep tables": (
        "metadata." + "a." * 99 + "b = 1",
        "metadata.a.a.a.a.a.a.a...",
        Reason.TOO_DEEP,
    ),
    "very deep tables": ("metadata." + "a." * 2000 + "b = 1", "", Reason.TOO_DEEP),
    "long number": ("metadata.a = 0x1" + "0" * 4000, "metadata.a", Reason.NUMBER_TOO_LONG),
    "long number in vain": (
        "[environment]\nmemory = 0x1" + "0" * 4000,
        "environment.memory",
        Reason.NUMBER_TOO_LONG,
    ),
    "size": ("#" + "x" * (1 << 20), "", Reason.TOO_BIG),
}
"""What Harbor loads and we do not."""
