"""Resolves a cluster and the contents of its templates through four levels of precedence. Pure.

For every component: its own definition (inline, or a template that it references), then `templateDefaults`, then the
template named `default`, then built-in constants. An inline definition is complete: fields that it omits come from
constants, never from a template. Overrides merge over the template. Volume policy and backup are exceptions: they
inherit from level to level, field by field. Template contents are passed in; nothing here reads a cache.
"""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from steward.multigres import names
from steward.multigres.api.cluster import (
    Admin,
    CellEntry,
    DatabaseEntry,
    InlineCell,
    MultigresClusterSpec,
    ShardEntry,
    TableGroupEntry,
)
from steward.multigres.api.compute import PvcDeletionPolicy, Stateless
from steward.multigres.api.images import Images
from steward.multigres.api.scalars import ApiStruct
from steward.multigres.api.tablegroup import ResolvedShard
from steward.multigres.api.topo import (
    Etcd,
    ExternalTopoServer,
    LocalTopoServer,
    TemplatedTopoServer,
    TopoReference,
)
from steward.multigres.api.unset import or_default
from steward.multigres.resolution import defaults as constants
from steward.multigres.resolution.checks.repositories import with_restored_repository
from steward.multigres.resolution.inheritance import cluster_backup, inherited_backup, inherited_policy
from steward.multigres.resolution.layers import BUILT_IN, FlatOrigins, Layer, Origins, Path, merge_layers
from steward.multigres.resolution.resolved import (
    AddedPool,
    ClusterIdentity,
    GroupPath,
    GroupResolution,
    KnownTemplates,
    ResolvedCell,
    ResolvedCluster,
    ResolvedDatabase,
    ResolvedGroup,
    ResolvedTopo,
    ShardContext,
    ShardResolution,
    SkippedPlacement,
    SpecProblem,
    Templates,
)
from steward.multigres.resolution.shard_resolution import resolve_shards
from steward.multigres.resolution.template_selection import select_template

P = TypeVar("P", bound=ApiStruct)

CORE, CELL, SHARD = "CoreTemplate", "CellTemplate", "ShardTemplate"


def resolve(
    identity: ClusterIdentity,
    spec: MultigresClusterSpec,
    templates: Templates,
    previous: ResolvedCluster | None = None,
) -> ResolvedCluster:
    """`previous` is an earlier result: shards that are resolved from the same inputs are taken from it."""
    known = {} if previous is None else previous.groups
    return _Resolution(identity, with_restored_repository(spec), templates, known).cluster()


def cell_name(entry: CellEntry) -> str:
    """A cell without a name has the name of its zone or region."""
    return or_default(entry.name, "") or or_default(entry.zone, "") or or_default(entry.region, "")


class _Resolution:
    """State of one resolution: collects used templates, origins of values and problems."""

    def __init__(
        self,
        identity: ClusterIdentity,
        spec: MultigresClusterSpec,
        templates: Templates,
        known: Mapping[GroupPath, GroupResolution],
    ) -> None:
        self.identity = identity
        self.spec = spec
        self.templates = templates
        self.known = known
        self.groups: dict[GroupPath, GroupResolution] = {}
        self.used: dict[str, set[str]] = {CORE: set(), CELL: set(), SHARD: set()}
        self.origins: dict[Path, Origins] = {}
        self.problems: list[SpecProblem] = []
        self.skipped: list[SkippedPlacement] = []
        self.added_pools: list[AddedPool] = []
        # One list for all placements in all cells: a list of its own would make each shard as large as the cells.
        self.all_cells = sorted(cell_name(entry) for entry in or_default(spec.cells, []))

    def cluster(self) -> ResolvedCluster:
        topo = self.topo()
        multiadmin = self.admin("multiadmin", constants.MULTIADMIN)
        web = self.admin("multiadmin_web", constants.MULTIADMIN_WEB)
        cells = tuple(self.cell(index, entry) for index, entry in enumerate(or_default(self.spec.cells, [])))
        databases = tuple(self.database(entry) for entry in self.database_entries())
        return ResolvedCluster(
            self.identity,
            self.merge(
                ("images",), Images(), [Layer(BUILT_IN, constants.IMAGES), *self.spec_layer("images")]
            ),
            topo,
            multiadmin,
            web,
            cells,
            databases,
            {kind: tuple(sorted(used)) for kind, used in self.used.items()},
            FlatOrigins(self.origins),
            tuple(self.problems),
            tuple(self.skipped),
            tuple(self.added_pools),
            merge_layers(constants.TOPOLOGY, self.spec_layer("topology_reconciliation"))[0],
            self.groups,
        )

    def spec_layer(self, field: str) -> list[Layer]:
        value = getattr(self.spec, field)
        return [] if value is UNSET else [Layer("spec", value)]

    def merge(self, path: Path, empty: P, layers: Iterable[Layer]) -> P:
        part, self.origins[path] = merge_layers(empty, layers)
        return part

    def template(self, kind: str, explicit: str | msgspec.UnsetType, field: str) -> tuple[str, Any]:
        """Name and content of the template that levels 1 to 3 select; ("", None) if only constants apply."""
        existing: Mapping[str, Any] = getattr(self.templates, kind.removesuffix("Template").lower())
        default = self.template_default(f"{kind[0].lower()}{kind[1:]}")
        known = KnownTemplates(kind, existing, self.templates.unusable, default, self.identity.namespace)
        selected = select_template(known, explicit, field)
        if selected.name:
            self.used[kind].add(selected.name)
        self.problems += selected.problems
        return selected.name, selected.content

    def template_default(self, field: str) -> str:
        defaults = self.spec.template_defaults
        if defaults is UNSET:
            return ""
        return {
            "coreTemplate": or_default(defaults.core_template, ""),
            "cellTemplate": or_default(defaults.cell_template, ""),
            "shardTemplate": or_default(defaults.shard_template, ""),
        }[field]

    # Core components

    def topo(self) -> ResolvedTopo:
        server = self.spec.global_topo_server
        inline = None if server is UNSET else server
        policy = UNSET if inline is None else inline.pvc_deletion_policy
        if inline is not None and inline.external is not UNSET:
            return self.external_topo(inline.external)
        if inline is not None and inline.etcd is not UNSET:
            return self.managed_topo([Layer("spec.globalTopoServer", inline.etcd)], policy)
        explicit = UNSET if inline is None else inline.template_ref
        name, template = self.template(CORE, explicit, "spec.globalTopoServer.templateRef")
        section: TemplatedTopoServer | msgspec.UnsetType = (
            UNSET if template is None else template.global_topo_server
        )
        if section is UNSET:
            return self.managed_topo([], policy)
        if section.external is not UNSET:
            return self.external_topo(section.external)
        layers = [] if section.etcd is UNSET else [Layer(f"{CORE} {name}", section.etcd)]
        return self.managed_topo(layers, policy, section.pvc_deletion_policy)

    def managed_topo(
        self, layers: list[Layer], *policies: PvcDeletionPolicy | msgspec.UnsetType
    ) -> ResolvedTopo:
        etcd = self.merge(("globalTopoServer", "etcd"), Etcd(), [Layer(BUILT_IN, constants.ETCD), *layers])
        policy = inherited_policy(etcd.pvc_deletion_policy, *policies, self.spec.pvc_deletion_policy)
        etcd = replace(etcd, pvc_deletion_policy=policy)
        host = f"{names.global_topo(self.identity.name)}.{self.identity.namespace}.svc"
        reference = TopoReference(
            address=f"{host}:{constants.ETCD_CLIENT_PORT}",
            root_path=or_default(etcd.root_path, constants.GLOBAL_ROOT),
            implementation="etcd",
        )
        return ResolvedTopo(reference, etcd, None)

    def external_topo(self, external: ExternalTopoServer) -> ResolvedTopo:
        # Clusters may share an external server: by default each has its own root path.
        default_root = f"/multigres/{self.identity.namespace}/{self.identity.name}/global"
        reference = TopoReference(
            address=",".join(external.endpoints),
            root_path=or_default(external.root_path, default_root),
            implementation="etcd",
            ca_secret=external.ca_secret,
            client_cert_secret=external.client_cert_secret,
        )
        return ResolvedTopo(reference, None, external)

    def admin(self, field: str, built_in: Stateless) -> Stateless:
        inline: Admin | msgspec.UnsetType = getattr(self.spec, field)
        wire = {"multiadmin": "multiadmin", "multiadmin_web": "multiadminWeb"}[field]
        layers = [Layer(BUILT_IN, built_in)]
        if inline is not UNSET and inline.spec is not UNSET:
            layers.append(Layer(f"spec.{wire}", inline.spec))
        else:
            explicit = UNSET if inline is UNSET else inline.template_ref
            name, template = self.template(CORE, explicit, f"spec.{wire}.templateRef")
            section = UNSET if template is None else getattr(template, field)
            if section is not UNSET and section.spec is not UNSET:
                layers.append(Layer(f"{CORE} {name}", section.spec))
        return self.merge((wire,), Stateless(), layers)

    # Cells

    def cell(self, index: int, entry: CellEntry) -> ResolvedCell:
        field = f"spec.cells[{index}]"
        name = cell_name(entry)
        layers = [Layer(BUILT_IN, InlineCell(multi_gateway=constants.GATEWAY))]
        if entry.spec is not UNSET:
            layers.append(Layer(f"{field}.spec", entry.spec))
        else:
            layers += self.cell_template_layers(entry, field)
        merged = self.merge(("cells", name), InlineCell(), layers)
        gateway = or_default(merged.multi_gateway, constants.GATEWAY)
        local = self.local_topo(merged)
        return ResolvedCell(name, or_default(entry.zone, ""), or_default(entry.region, ""), gateway, local)

    def local_topo(self, merged: InlineCell) -> LocalTopoServer | None:
        server = merged.local_topo_server
        if server is UNSET:
            return None
        if server.etcd is UNSET:
            return server
        policy = inherited_policy(server.etcd.pvc_deletion_policy, self.spec.pvc_deletion_policy)
        return replace(server, etcd=replace(server.etcd, pvc_deletion_policy=policy))

    def cell_template_layers(self, entry: CellEntry, field: str) -> list[Layer]:
        layers: list[Layer] = []
        name, template = self.template(CELL, entry.cell_template, f"{field}.cellTemplate")
        if template is not None:
            section = InlineCell(
                multi_gateway=template.multi_gateway, local_topo_server=template.local_topo_server
            )
            layers.append(Layer(f"{CELL} {name}", section))
        if entry.overrides is not UNSET:
            layers.append(
                Layer(f"{field}.overrides", InlineCell(multi_gateway=entry.overrides.multi_gateway))
            )
        return layers

    # Databases

    def database_entries(self) -> list[DatabaseEntry]:
        entries = list(or_default(self.spec.databases, []))
        if any(or_default(entry.default, False) for entry in entries):
            return entries
        matching = [entry for entry in entries if entry.name == constants.SYSTEM_DATABASE]
        if matching:
            return [replace(entry, default=True) if entry is matching[0] else entry for entry in entries]
        return [DatabaseEntry(name=constants.SYSTEM_DATABASE, default=True), *entries]

    def database(self, entry: DatabaseEntry) -> ResolvedDatabase:
        return ResolvedDatabase(
            entry.name,
            or_default(entry.default, False),
            or_default(
                entry.durability_policy, or_default(self.spec.durability_policy, constants.DURABILITY)
            ),
            inherited_backup(entry.backup, cluster_backup(self.spec, entry)),
            tuple(self.group(entry, group) for group in self.group_entries(entry)),
        )

    def group_entries(self, database: DatabaseEntry) -> list[TableGroupEntry]:
        entries = list(or_default(database.tablegroups, []))
        if any(or_default(entry.default, False) for entry in entries):
            return entries
        matching = [entry for entry in entries if entry.name == constants.DEFAULT_TABLE_GROUP]
        if matching:
            return [replace(entry, default=True) if entry is matching[0] else entry for entry in entries]
        return [TableGroupEntry(name=constants.DEFAULT_TABLE_GROUP, default=True), *entries]

    def group(self, database: DatabaseEntry, entry: TableGroupEntry) -> ResolvedGroup:
        return ResolvedGroup(
            database.name,
            entry.name,
            or_default(entry.default, False),
            tuple(
                self.shard(database, entry, resolution) for resolution in self.resolutions(database, entry)
            ),
            inherited_policy(entry.pvc_deletion_policy, self.spec.pvc_deletion_policy),
            inherited_backup(entry.backup, database.backup, cluster_backup(self.spec, database)),
        )

    def resolutions(self, database: DatabaseEntry, entry: TableGroupEntry) -> list[ShardResolution]:
        path = (database.name, entry.name)
        shards = or_default(entry.shards, []) or [ShardEntry(name=constants.DEFAULT_SHARD)]
        resolutions = resolve_shards(self.shard_context(database, entry), shards, self.known.get(path))
        self.groups[path] = resolutions
        return resolutions.shards

    def shard_context(self, database: DatabaseEntry, group: TableGroupEntry) -> ShardContext:
        existing, default = self.templates.shard, self.template_default("shardTemplate")
        return ShardContext(
            self.identity.name,
            database.name,
            group.name,
            (group.pvc_deletion_policy, self.spec.pvc_deletion_policy),
            (group.backup, database.backup, cluster_backup(self.spec, database)),
            KnownTemplates(SHARD, existing, self.templates.unusable, default, self.identity.namespace),
            self.all_cells,
        )

    def shard(
        self, database: DatabaseEntry, group: TableGroupEntry, resolution: ShardResolution
    ) -> ResolvedShard:
        self.origins["databases", database.name, group.name, resolution.entry.name] = resolution.origins
        if resolution.template:
            self.used[SHARD].add(resolution.template)
        self.problems += resolution.problems
        self.skipped += resolution.skipped
        self.added_pools += resolution.added_pools
        return resolution.shard
