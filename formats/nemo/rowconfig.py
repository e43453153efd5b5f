"""`config.yaml` and `manifest.yaml` for rows that a resources server or an agent grades.

Facts: NeMo Gym 0.7.0, as in `layout.py`. One agent with its datasets, the server it refers to, and
the environment server that 0.7.0 wants in front of every agent. Settings are written as the source
has them, interpolations and all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from rlconvert.data import Data

from .layout import AdoptedFrom, DatasetEntry
from .licences import manifest_licensing
from .servers import AGENTS, SERVERS
from .yamltext import Node, dump

SIMPLE_AGENT = "simple_agent"
POLICY = "policy_model"
_DOMAINS = frozenset(
    {
        "agent",
        "coding",
        "e2e",
        "games",
        "instruction_following",
        "knowledge",
        "long_context",
        "math",
        "other",
        "rlhf",
        "safety",
        "translation",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowEnvironment:
    """One environment: who grades the rows, which agent runs them, where they stand."""

    name: str
    component: str
    rule: Mapping[str, Data]
    datasets: tuple[DatasetEntry, ...]
    agent: str = SIMPLE_AGENT
    agent_settings: Mapping[str, Data] = field(default_factory=dict)
    catalogue: Mapping[str, Data] = field(default_factory=dict)
    domain: str | None = None

    @property
    def is_agents_own(self) -> bool:
        """Whether the agent grades, without a server."""
        return self.component.startswith(f"{AGENTS}/")

    @property
    def shown_domain(self) -> str:
        """One of NeMo Gym's words."""
        said = self.catalogue.get("domain") or self.domain
        return said if isinstance(said, str) and said in _DOMAINS else "other"

    @property
    def agent_name(self) -> str:
        """The implementation of the agent."""
        return self.component.partition("/")[2] if self.is_agents_own else self.agent


def row_config(spec: RowEnvironment, entries: Sequence[Mapping[str, Node]]) -> bytes:
    """`environments/<name>/config.yaml` with the datasets in `entries`."""
    server = instance_name(spec.name)
    agent = f"{server}_{instance_name(spec.agent_name)}"
    document: dict[str, Node] = {}
    settings: dict[str, Node] = {"entrypoint": "app.py"}
    if spec.is_agents_own:
        settings |= cast("Mapping[str, Node]", spec.rule)
        settings["domain"] = spec.shown_domain
    else:
        said = {"entrypoint": "app.py", **spec.catalogue, "domain": spec.shown_domain, **spec.rule}
        document[server] = {SERVERS: {spec.component: cast("Node", said)}}
        settings |= cast("Mapping[str, Node]", spec.agent_settings)
        settings["resources_server"] = {"type": SERVERS, "name": server}
        settings.setdefault("model_server", {"type": "responses_api_models", "name": POLICY})
    settings["datasets"] = list(entries)
    document[agent] = {AGENTS: {spec.agent_name: settings}}
    document[f"{server}_environment_server"] = {
        "environment_servers": {
            "legacy_agent": {
                "entrypoint": "app.py",
                "agent_server": {"type": AGENTS, "name": agent},
            }
        }
    }
    return dump(document)


def row_manifest(
    spec: RowEnvironment,
    *,
    version: str,
    description: str,
    author: str,
    licence: str | None,
    adopted_from: AdoptedFrom | None,
) -> bytes:
    """`environments/<name>/manifest.yaml`. The range of rewards is NeMo Gym's usual one."""
    profile = "custom-gym-verifier" if spec.agent == SIMPLE_AGENT else "custom-gym-agent-loop"
    document: dict[str, Node] = {
        "name": spec.name,
        "version": version,
        "experimental": True,
        "kind": "environment",
        "integration_profile": "external-agent-loop" if spec.is_agents_own else profile,
        "domain": spec.shown_domain,
        "description": description,
        "modality": "text",
        "licensing": manifest_licensing(licence),
        "authors": [author],
        "reward": {"range": [0.0, 1.0], "higher_is_better": True},
        "determinism": "unknown",
        "resources_server": None if spec.is_agents_own else spec.component,
        "agent_server": spec.agent_name,
        "datasets": [
            {
                "name": entry.name,
                "type": entry.type,
                "jsonl_fpath": entry.jsonl_fpath,
                "num_repeats": entry.num_repeats,
            }
            for entry in spec.datasets
        ],
    }
    if not spec.is_agents_own:
        document["model_server"] = POLICY
    if adopted_from is not None:
        document["adopted_from"] = {
            "source": adopted_from.source,
            "ref": adopted_from.ref,
            "reconciled": adopted_from.reconciled,
        }
    document["lifecycle"] = "active"
    return dump(document)


def instance_name(text: str) -> str:
    """A name that a config key can be: letters, digits, `_` and `-`, no digit in front."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", text)
    return f"_{plain}" if plain[:1].isdigit() or plain[:1] in ("-", "") else plain


def foreign_references(rule: Data, known: frozenset[str]) -> set[str]:
    """The names of other servers that settings refer to, beside those in `known`."""
    found: set[str] = set()
    if isinstance(rule, Mapping):
        name = rule.get("name")
        if isinstance(rule.get("type"), str) and isinstance(name, str):
            found |= {name} - known
        for value in rule.values():
            found |= foreign_references(value, known)
    elif isinstance(rule, list | tuple):
        for value in rule:
            found |= foreign_references(value, known)
    return found
