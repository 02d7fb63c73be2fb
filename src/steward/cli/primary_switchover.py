"""Asks the operator to switch the primary of a Shard, and follows the switch. The decisions are pure.

The request is the annotation that the eviction webhook sets too; the Shard controller removes it when another server
leads. It names the primary that was observed, and is set only on the version of the Shard that was read: a primary that
another switch has elected meanwhile is never switched again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from steward.cli.hints import command_line
from steward.kube.client.client import Client
from steward.kube.errors import NotFound
from steward.kube.objects.kinds import EVENT, Key, Manifest, Ref
from steward.kube.objects.options import ListQuery
from steward.kube.objects.patches import MergePatch
from steward.multigres import reasons
from steward.multigres.cache_rules import SHARD
from steward.multigres.objects.metadata import CLUSTER_LABEL
from steward.multigres.rollout.node_drain import READY, SWITCH_FROM

FIELD_MANAGER = "steward-cli"
POLL_SECONDS = 0.5
_PATH = ("databaseName", "tableGroupName", "shardName")


class SwitchError(Exception):
    """The primary was not switched; the message says why and what to do."""


class EventMark(NamedTuple):
    """Tells a new or repeated event from one that was read before."""

    uid: str
    last: str


class SwitchProgress(NamedTuple):
    """`primary` is the new one once it takes writes; `refused` and `requested` are messages of the operator."""

    primary: str = ""
    refused: str = ""
    requested: str = ""


def shard_label(shard: Manifest) -> str:
    """DATABASE/TABLEGROUP/SHARD."""
    return "/".join(str(shard["spec"].get(field, "")) for field in _PATH)


def select_shard(shards: Sequence[Manifest], cluster: str, label: str) -> Manifest:
    """The Shard with this label; without a label, the only one."""
    found = [shard for shard in shards if not label or shard_label(shard) == label]
    if len(found) == 1:
        return found[0]
    labels = ", ".join(sorted(map(shard_label, shards)))
    if not shards:
        raise SwitchError(
            f"cluster {cluster} has no Shard here; `{command_line('tree', '-A')}` shows all clusters"
        )
    if not found:
        raise SwitchError(f"cluster {cluster} has no shard {label}; it has: {labels}")
    raise SwitchError(f"cluster {cluster} has {len(shards)} shards: pass --shard with one of {labels}")


def observed_primary(shard: Manifest) -> str:
    """The primary to switch; an error if no other server can take over."""
    status, name = shard.get("status") or {}, shard_label(shard)
    primary = str(status.get("primary") or "")
    if not primary:
        raise SwitchError(
            f"shard {name} has no known primary: {status.get('message') or 'it has no status yet'}"
        )
    others = [each for each in status.get("servers") or () if each["pod"] != primary]
    if not others:
        cure = "raise replicasPerCell of a readWrite pool first"
        raise SwitchError(f"{primary} is the only server of shard {name}; {cure}")
    if all(each.get("state") != READY for each in others):
        states = ", ".join(f"{each['pod']} is {each.get('state')}" for each in others)
        raise SwitchError(f"no other server of shard {name} can take over from {primary}: {states}")
    return primary


def switch_progress(
    shard: Manifest, events: Iterable[Manifest], previous: str, old: frozenset[EventMark]
) -> SwitchProgress:
    """How far the switch away from `previous` is, by the Shard and by its events that are not `old`."""
    status = shard.get("status") or {}
    primary = str(status.get("primary") or "")
    if primary not in ("", previous) and _is_available(status.get("conditions") or ()):
        return SwitchProgress(primary)
    new = [event for event in events if event_mark(event) not in old]
    return SwitchProgress(
        refused=_newest_note(new, reasons.SWITCH_REFUSED),
        requested=_newest_note(new, reasons.SWITCH_REQUESTED),
    )


def _is_available(conditions: Iterable[Manifest]) -> bool:
    """A Shard is Available while its primary takes writes."""
    return any(each["type"] == "Available" and each["status"] == "True" for each in conditions)


def _newest_note(events: Iterable[Manifest], reason: str) -> str:
    found = sorted(
        (event_mark(event).last, event.get("note", "")) for event in events if event["reason"] == reason
    )
    return str(found[-1][1]) if found else ""


def event_mark(event: Manifest) -> EventMark:
    last = (event.get("series") or {}).get("lastObservedTime") or event.get("eventTime") or ""
    return EventMark(event["metadata"]["uid"], str(last))


class Switchover(NamedTuple):
    """One switch that the user asked for. `is_shared` if another request, such as an eviction, asks for it too."""

    ref: Ref
    previous: str
    old_events: frozenset[EventMark]
    is_shared: bool


async def read_shards(client: Client, namespace: str, cluster: str) -> list[Manifest]:
    query = ListQuery(namespace=namespace, label_selector=f"{CLUSTER_LABEL}={cluster}")
    return list((await client.list(SHARD, query)).items)


async def request_switch(client: Client, shard: Manifest) -> Switchover:
    meta, primary = shard["metadata"], observed_primary(shard)
    ref = Ref(SHARD, Key(meta["namespace"], meta["name"]))
    old = frozenset(map(event_mark, await _events(client, ref)))
    is_shared = (meta.get("annotations") or {}).get(SWITCH_FROM) == primary
    if not is_shared:
        patch = MergePatch.metadata_at_version(meta["resourceVersion"], annotations={SWITCH_FROM: primary})
        await client.patch(ref, patch, manager=FIELD_MANAGER)
    return Switchover(ref, primary, old, is_shared)


async def wait_for_primary(
    client: Client, switch: Switchover, seconds: float, report: Callable[[str], None]
) -> str:
    """Waits until another server takes writes. After a refusal, or when time is up, the request is withdrawn: it
    must not take effect when the user no longer expects it."""
    loop, reported = asyncio.get_running_loop(), ""
    deadline = loop.time() + seconds
    while True:
        shard = await client.get(SHARD, switch.ref.key)
        progress = switch_progress(
            shard, await _events(client, switch.ref), switch.previous, switch.old_events
        )
        if progress.primary:
            return progress.primary
        if progress.refused:
            await _withdraw(client, switch)
            raise SwitchError(progress.refused)
        if progress.requested not in ("", reported):
            report(reported := progress.requested)
        if loop.time() >= deadline:
            await _withdraw(client, switch)
            raise SwitchError(late_message(shard, switch.previous, seconds))
        await asyncio.sleep(POLL_SECONDS)


def late_message(shard: Manifest, previous: str, seconds: float) -> str:
    """What the operator reports about a Shard that was not switched in time."""
    status = shard.get("status") or {}
    primary, reported = status.get("primary"), status.get("message") or "its Shard has no message"
    state = f"{previous} is still the primary" if primary == previous else "no new primary takes writes"
    return f"{state} after {seconds:g} s, and the request is withdrawn; the operator reports: {reported}"


async def _withdraw(client: Client, switch: Switchover) -> None:
    if switch.is_shared:
        return
    patch = MergePatch({"metadata": {"annotations": {SWITCH_FROM: None}}})
    try:
        await client.patch(switch.ref, patch, manager=FIELD_MANAGER)
    except NotFound:
        return


async def _events(client: Client, ref: Ref) -> list[Manifest]:
    selector = f"regarding.kind={ref.kind.kind},regarding.name={ref.key.name}"
    query = ListQuery(namespace=ref.key.namespace, field_selector=selector)
    return list((await client.list(EVENT, query)).items)
