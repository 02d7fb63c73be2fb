"""The view of a TenantRegistry: its source, guard, templates and a window of its Tenants. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from steward.cli.inspect.ages import format_age
from steward.cli.inspect.object_health import Health, is_true
from steward.cli.inspect.object_tree import TreeNode
from steward.cli.inspect.why import find_cause
from steward.kube.objects.kinds import Key, Manifest
from steward.page.inventory.inventory import REGISTRY, TEMPLATE
from steward.page.inventory.snapshot import Snapshot
from steward.page.models.addresses import ViewAddress
from steward.page.models.now import (
    HealthCount,
    RolloutBar,
    Waiting,
    hold_line,
    rejected_lines,
    reported_counts,
    rollout_bar,
    rows_command,
    tree_sentence,
)
from steward.page.models.structs import Model, ObjectLink, condition_lines, health_word, object_link
from steward.page.models.timeline import timeline
from steward.tenants.api.registry import DEFAULT_MAX_PERCENT, NO_GRACE
from steward.tenants.api.source import DEFAULT_INTERVAL

WINDOW: Final = 100


class RegistryHead(Model, frozen=True):
    object: ObjectLink
    health: str
    text: str
    command: str
    paused: bool


class SourceFacts(Model, frozen=True):
    """`place` says which table, without credentials."""

    type: str
    place: str
    interval: str
    reachable: bool
    last_read: str
    last_read_age: str
    rows_command: str
    """Lists every row."""
    read_took: str
    inactive_rows: int | None
    """None if the operator does not report it."""
    active_rows: int
    rejected_rows: int
    desired: int
    ready: int
    failed: int


class Guard(Model, frozen=True):
    max_percent: int
    max_count: int | None
    allow_empty: bool
    grace_period: str
    held: Waiting | None


class TemplateLine(Model, frozen=True):
    object: ObjectLink
    health: str
    text: str
    paused: bool
    rollout: RolloutBar
    held: Waiting | None


class TenantCell(Model, frozen=True):
    """The Tenant of one row and one template."""

    health: str
    href: str
    name: str
    text: str
    ready: int
    desired: int


class TenantRow(Model, frozen=True):
    uid: str
    cells: list[TenantCell | None]


class TenantWindow(Model, frozen=True):
    """Rows `offset` to `offset + WINDOW` of those that match the filters."""

    templates: list[str]
    counts: HealthCount
    matching: int
    offset: int
    size: int
    rows: list[TenantRow]


def registry_sections(snapshot: Snapshot, address: ViewAddress) -> dict[str, Any] | None:
    node, registry = snapshot.node(REGISTRY, address.key), snapshot.manifest(REGISTRY, address.key)
    if node is None or registry is None:
        return None
    templates = _templates(snapshot, address.key)
    return {
        "head": _head(node, registry, snapshot),
        "source": _source(registry, snapshot.now),
        "guard": _guard(registry),
        "rejected": rejected_lines(registry),
        "templates": [_template_line(each, snapshot) for each in templates],
        "tenants": _tenants(node, snapshot, address, [each["metadata"]["name"] for each in templates]),
        "conditions": condition_lines(registry.get("status") or {}, snapshot.now),
        "timeline": timeline(
            node._replace(children=()),
            snapshot.events(address.key.namespace),
            [registry, *templates],
            snapshot.now,
        ),
    }


def _templates(snapshot: Snapshot, key: Key) -> list[Manifest]:
    found = snapshot.inventory.manifests(TEMPLATE, key.namespace)
    return sorted(
        (each for each in found if each["spec"].get("registryId") == key.name),
        key=lambda each: str(each["metadata"]["name"]),
    )


def _head(node: TreeNode, registry: Manifest, snapshot: Snapshot) -> RegistryHead:
    sentence = tree_sentence(node, snapshot)
    paused = bool((registry.get("spec") or {}).get("paused"))
    return RegistryHead(sentence.object, sentence.health, sentence.text, sentence.command, paused)


def _source(registry: Manifest, now: float) -> SourceFacts:
    source, status = registry["spec"].get("source") or {}, registry.get("status") or {}
    last = str(status.get("lastSyncTime", ""))
    count = {
        name: int(status.get(name) or 0)
        for name in ("activeRows", "rejectedRows", "desired", "ready", "failed")
    }
    return SourceFacts(
        str(source.get("type", "")),
        _place(source),
        str(source.get("syncInterval", DEFAULT_INTERVAL)),
        is_true(registry, "SourceReachable"),
        last,
        format_age(last, now),
        rows_command(registry),
        str(status.get("lastSyncDuration", "")),
        status.get("inactiveRows"),
        *count.values(),
    )


def _place(source: dict[str, Any]) -> str:
    """Server, database and table of a source, or its file and table."""
    block = source.get(str(source.get("type", ""))) or {}
    server = str(block.get("host", ""))
    if server and block.get("port"):
        server += f":{block['port']}"
    parts = (server, block.get("database"), block.get("file"), block.get("table"))
    return " · ".join(str(part) for part in parts if part)


def _guard(registry: Manifest) -> Guard:
    limits = registry["spec"].get("deletionGuard") or {}
    return Guard(
        int(limits.get("maxPercent", DEFAULT_MAX_PERCENT)),
        limits.get("maxCount"),
        bool(limits.get("allowEmpty")),
        str(limits.get("gracePeriod", NO_GRACE)),
        hold_line(registry),
    )


def _template_line(template: Manifest, snapshot: Snapshot) -> TemplateLine:
    meta = template["metadata"]
    node = snapshot.node(TEMPLATE, Key(meta["namespace"], meta["name"]))
    bar, paused = rollout_bar(template), bool(template["spec"].get("paused"))
    if node is None:
        return TemplateLine(bar.object, "waiting", "", paused, bar, hold_line(template))
    sentence = tree_sentence(node, snapshot)
    return TemplateLine(bar.object, sentence.health, sentence.text, paused, bar, hold_line(template))


def _tenants(node: TreeNode, snapshot: Snapshot, address: ViewAddress, templates: list[str]) -> TenantWindow:
    """Until all Tenants have been read, a window without rows: they would change places while others arrive."""
    registry = snapshot.manifest(REGISTRY, address.key)
    if registry is None or not snapshot.is_reading:
        return _window(node, snapshot, address, templates)
    counts = reported_counts(registry)
    reported = HealthCount("Tenant", *(counts[each] for each in Health))
    return TenantWindow(templates, reported, 0, 0, WINDOW, [])


def _window(node: TreeNode, snapshot: Snapshot, address: ViewAddress, templates: list[str]) -> TenantWindow:
    tenants = [child for child in node.children if child.object.ref.kind.kind == "Tenant"]
    health = snapshot.forest.tenant_health
    counts = Counter(health[child.object.ref.key] for child in tenants)
    chosen = address.filter("template")
    shown = [name for name in templates if chosen in ("", name)]
    rows = _matching_rows(tenants, snapshot, address, shown)
    offset = min(address.offset, max(0, len(rows) - 1) // WINDOW * WINDOW)
    return TenantWindow(
        shown,
        HealthCount("Tenant", *(counts[each] for each in Health)),
        len(rows),
        offset,
        WINDOW,
        [_tenant_row(uid, found, shown, snapshot) for uid, found in rows[offset : offset + WINDOW]],
    )


Row = tuple[str, dict[str, TreeNode]]
"""A uid, and its Tenants by the name of their template."""


def _matching_rows(
    tenants: Iterable[TreeNode], snapshot: Snapshot, address: ViewAddress, shown: list[str]
) -> list[Row]:
    """Rows with problems first, then by uid."""
    text, state = address.filter("q").casefold(), address.filter("state")
    health = snapshot.forest.tenant_health
    rows: dict[str, dict[str, TreeNode]] = {}
    for tenant in tenants:
        template = tenant.object.template.rpartition("/")[2]
        facts = snapshot.inventory.tenants.get(tenant.object.ref.key)
        uid = facts.uid if facts else tenant.object.ref.key.name
        if template in shown and text in uid.casefold():
            rows.setdefault(uid, {})[template] = tenant
    worst = {uid: min(health[each.object.ref.key] for each in found.values()) for uid, found in rows.items()}
    matching = [row for row in rows.items() if not state or health_word(worst[row[0]]) == state]
    return sorted(matching, key=lambda row: (worst[row[0]], row[0]))


def _tenant_row(uid: str, found: dict[str, TreeNode], templates: list[str], snapshot: Snapshot) -> TenantRow:
    return TenantRow(uid, [_tenant_cell(found.get(template), snapshot) for template in templates])


def _tenant_cell(tenant: TreeNode | None, snapshot: Snapshot) -> TenantCell | None:
    if tenant is None:
        return None
    obj = tenant.object
    facts = snapshot.inventory.tenants.get(obj.ref.key)
    ready, desired = (facts.ready, facts.desired) if facts else (0, 0)
    link = object_link(obj.ref)
    health = snapshot.forest.tenant_health[obj.ref.key]
    text = "" if health is Health.READY else find_cause(tenant).object.message
    return TenantCell(health_word(health), link.href, link.name, text, ready, desired)
