"""The rules that keep the traffic of pods on this machine, and their removal, as input of iptables-restore. Pure.

Our chain exists in two tables. In `mangle`, which comes before every rule of kube-proxy and of other firewalls, it
drops what would leave the bridge for another network, and what comes from elsewhere to the pods. In `filter` it accepts
the traffic of the bridge, which a firewall with the policy DROP would reject, and rejects connections to Services
without endpoints.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from steward.local.containers.names import BRIDGE, CHAIN, KUBE_CHAINS, SERVICE_RANGE


def install_script(subnet: str) -> str:
    """For `iptables-restore --noflush`: our chain, and the jumps to it."""
    dropping = _table("mangle", _drop_rules(subnet), ("INPUT", "FORWARD", "OUTPUT"))
    return dropping + _table("filter", _accept_rules(subnet), ("INPUT", "FORWARD"))


def _drop_rules(subnet: str) -> list[str]:
    return [
        f"-i {BRIDGE} -d {subnet} -j RETURN",
        f"-i {BRIDGE} -d {SERVICE_RANGE} -j RETURN",
        f"-i {BRIDGE} -j DROP",
        # Traffic to a Service comes from the bridge and returns to it, so the kernel sends pods a redirect past the
        # address translation. The setting that prevents this exists for the whole machine only.
        f"-o {BRIDGE} -p icmp -m icmp --icmp-type redirect -j DROP",
        f"-d {subnet} -m addrtype ! --src-type LOCAL -j DROP",
    ]


def _accept_rules(subnet: str) -> list[str]:
    # kube-proxy has replaced the address of every Service that has endpoints.
    rejected = f"-i {BRIDGE} -d {SERVICE_RANGE}"
    return [
        f"-i {BRIDGE} -d {subnet} -j ACCEPT",
        f"{rejected} -p tcp -j REJECT --reject-with tcp-reset",  # the kernel limits the rate of the other answer
        f"{rejected} -j REJECT",
    ]


def _table(name: str, rules: Iterable[str], hooks: Iterable[str]) -> str:
    lines = [
        f"*{name}",
        f":{CHAIN} - [0:0]",
        *(f"-A {CHAIN} {rule}" for rule in rules),
        *(f"-I {hook} 1 -j {CHAIN}" for hook in hooks),
        "COMMIT",
    ]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class SavedTable:
    """One table as iptables-save prints it."""

    name: str
    chains: tuple[str, ...]
    rules: tuple[str, ...]


def read_tables(saved: str) -> list[SavedTable]:
    """The tables in the output of iptables-save, in which `*` begins a table, `:` a chain and `-A` a rule."""
    sections = f"\n{saved}".split("\n*")[1:]
    return [_read_table(section.splitlines()) for section in sections]


def _read_table(lines: list[str]) -> SavedTable:
    chains = tuple(line[1:].split()[0] for line in lines if line.startswith(":"))
    return SavedTable(lines[0].strip(), chains, tuple(line for line in lines if line.startswith("-A ")))


def kube_chains(saved: str) -> list[str]:
    return sorted({chain for table in read_tables(saved) for chain in table.chains if _is_kube(chain)})


def removal_script(saved: str) -> str:
    """For `iptables-restore --noflush`: deletes our chain, kube-proxy's and the jumps to them, and nothing else."""
    return "".join(filter(None, map(_removal, read_tables(saved))))


def _removal(table: SavedTable) -> str:
    chains = [chain for chain in table.chains if _is_kube(chain) or chain == CHAIN]
    if not chains:
        return ""
    jumps = [rule for rule in table.rules if _chain(rule) not in chains and _target(rule) in chains]
    lines = [
        f"*{table.name}",
        *(f"-D {rule.removeprefix('-A ')}" for rule in jumps),
        *(f"-F {chain}" for chain in chains),  # first all, because chains refer to each other
        *(f"-X {chain}" for chain in chains),
        "COMMIT",
    ]
    return "\n".join(lines) + "\n"


def _is_kube(chain: str) -> bool:
    return chain.startswith(KUBE_CHAINS)


def _chain(rule: str) -> str:
    return rule.split()[1]


def _target(rule: str) -> str:
    words = rule.split()
    return words[words.index("-j") + 1] if "-j" in words else ""
