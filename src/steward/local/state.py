"""The state file of a cluster directory: ports, nodes, and a digest of the last start.

The digest covers every command line and configuration file, so that a control plane that runs with other settings,
certificates or binaries is recognised and restarted.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from steward.local.settings import LOOPBACK, Topology


@dataclass(frozen=True)
class State:
    ports: dict[str, int] = field(default_factory=dict)
    digest: str = ""
    topology: Topology = field(default_factory=Topology)
    address: str = LOOPBACK  # of the API server
    pod_subnet: str = ""  # empty if kwok simulates the pods

    @property
    def is_new(self) -> bool:
        return not self.ports


def read(path: Path) -> State:
    """The stored state; an empty one if the file is missing or damaged."""
    try:
        content = json.loads(path.read_text())
        ports = {str(name): int(port) for name, port in content["ports"].items()}
        return State(
            ports,
            str(content["digest"]),
            _topology(content.get("topology", {})),
            str(content.get("address", LOOPBACK)),
            str(content.get("pod_subnet", "")),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return State()


def _topology(content: Mapping[str, Any]) -> Topology:
    nodes, zones = content.get("nodes", Topology.nodes), content.get("zones", Topology.zones)
    return Topology(int(nodes), tuple(map(str, zones)))


def write(path: Path, state: State) -> None:
    replace_file(path, json.dumps(asdict(state), indent=2))


def digest(commands: Mapping[str, list[str]], files: Mapping[Path, str]) -> str:
    text = json.dumps([commands, {str(path): content for path, content in files.items()}], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def replace_file(path: Path, content: str) -> None:
    """Replace the file atomically, readable by the owner only."""
    path.parent.mkdir(parents=True, exist_ok=True)
    incomplete = path.with_name(f".{path.name}.new")
    incomplete.unlink(missing_ok=True)
    incomplete.touch(mode=0o600)
    incomplete.write_text(content)
    incomplete.replace(path)
