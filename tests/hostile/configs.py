"""Faults in the text of ``task.toml``."""

from __future__ import annotations

from pathlib import Path

from .making import EITHER, MALFORMED, TOO_BIG, UNSAFE_INPUT, task_fault


def config_fault(name: str, config: str | bytes, expected: str = MALFORMED) -> None:
    """Register a task whose only fault is the text of its ``task.toml``."""

    def spoil(task: Path) -> None:
        (task / "task.toml").write_bytes(config if isinstance(config, bytes) else config.encode())

    spoil.__name__ = name
    task_fault(expected)(spoil)


config_fault("toml_broken", "[environment\ncpus = 1\n")
config_fault("toml_unescaped_backslash", '[task]\nname = "a/b"\ndescription = "\\s+"\n')
config_fault("toml_bom", b'\xef\xbb\xbfschema_version = "1.4"\n')
config_fault("toml_not_utf8", b'[task]\nname = "a/b"\ndescription = "caf\xe9"\n')
config_fault("toml_utf16", '[task]\nname = "a/b"\n'.encode("utf-16"))
config_fault("toml_nul", b'[task]\nname = "a\x00/b"\n')
config_fault("toml_duplicate_key", '[task]\nname = "a/b"\nname = "a/c"\n')
config_fault("toml_huge_integer", "[metadata]\nn = " + "9" * 10_000 + "\n", EITHER)
config_fault("toml_impossible_date", "[metadata]\nd = 2026-02-30\n")
config_fault("toml_1_1_only", "[task]\nauthors = [{ name = 'x',\n }]\nname = 'a/b'\n")
config_fault("toml_nested_arrays", "x = " + "[" * 10_000 + "]" * 10_000 + "\n", UNSAFE_INPUT)
config_fault("toml_nested_tables", "x = " + "{a=" * 10_000 + "1" + "}" * 10_000, UNSAFE_INPUT)
config_fault("toml_deep_dotted_key", "a" + ".a" * 10_000 + " = 1\n", EITHER)
config_fault("toml_huge", "[metadata]\nx = '" + "x" * (32 << 20) + "'\n", TOO_BIG)

config_fault("schema_version_number", "schema_version = 1.4\n")
config_fault("task_without_name", "[task]\ndescription = 'no name'\n")
config_fault("task_name_without_slash", "[task]\nname = 'plain'\n")
config_fault("task_name_with_newline", '[task]\nname = "org/name\\n"\n')
config_fault("task_name_with_dots", "[task]\nname = 'org/a..b'\n")
config_fault("task_name_not_ascii", "[task]\nname = 'org/é'\n")
config_fault("task_version_number", "[task]\nname = 'a/b'\nversion = 1\n")
config_fault("authors_are_strings", "[task]\nname = 'a/b'\nauthors = ['Ada']\n")
config_fault("timeout_with_unit", "[agent]\ntimeout_sec = '30s'\n")
config_fault("cpus_nan", "[environment]\ncpus = nan\n")
config_fault("memory_unit_unknown", "[environment]\nmemory = '2GB'\n")
config_fault("memory_twice_unequal", "[environment]\nmemory = '2G'\nmemory_mb = 1024\n")
config_fault("env_value_number", "[environment.env]\nA = 1\n")
config_fault("env_is_list", "[environment]\nenv = ['A=1']\n")
config_fault("environment_is_list", "[[environment]]\ncpus = 1\n")
config_fault("network_mode_unknown", "[environment]\nnetwork_mode = 'Public'\n")
config_fault("hosts_without_allowlist", "[environment]\nallowed_hosts = ['example.com']\n")
config_fault(
    "host_is_url", "[agent]\nnetwork_mode = 'allowlist'\nallowed_hosts = ['https://example.com']\n"
)
config_fault("tpu_topology", "[environment]\ntpu = { type = 'v6e', topology = '8' }\n")
config_fault("mcp_without_url", "[[environment.mcp_servers]]\nname = 'm'\n")
config_fault(
    "mcp_literal_credential",
    "[[environment.mcp_servers]]\nname = 'm'\nurl = 'http://m'\n"
    "headers = { Authorization = 'Bearer abcdef' }\n",
)
config_fault(
    "shared_verifier_with_environment",
    "[verifier]\nenvironment_mode = 'shared'\n[verifier.environment]\ncpus = 1\n",
)
config_fault("artifact_destination_escapes", "artifacts = [{source='/a', destination='../b'}]\n")
config_fault("step_without_folder", "[[steps]]\nname = 'missing'\n")
config_fault("step_name_escapes", "[[steps]]\nname = '../../outside'\n")
config_fault("step_name_is_device", "[[steps]]\nname = 'nul'\n")
config_fault("step_names_clash", "[[steps]]\nname = 'One'\n[[steps]]\nname = 'one'\n")
config_fault("strategy_unknown", "multi_step_reward_strategy = 'max'\n")
