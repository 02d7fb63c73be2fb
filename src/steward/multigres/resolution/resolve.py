"""The four-level override chain: a cluster and the contents of templates in, the resolved tree out. Pure.

For every component: its own definition (inline, or a template that it names), then `templateDefaults`, then the
template named `default`, then constants. An inline definition is complete: what it leaves out comes from constants,
never from a template. Overrides merge over the template. Volume policy and backup stand outside that rule: they inherit
from level to level, field by field. Template contents come in by value; nothing here reads a cache.
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
    CellSpec,
    DatabaseEntry,
    MultigresClusterSpec,
    ShardEntry,
    ShardSpec,
    TableGroupEntry,
)
from steward.multigres.api.compute import MultiOrch, Pool, PvcDeletionPolicy, Stateless
from steward.multigres.api.images import Images
from steward.multigres.api.scalars import Part
from steward.multigres.api.tablegroup import ResolvedShard
from steward.multigres.api.topo import (
    Etcd,
    ExternalTopoServer,
    LocalTopoServer,
    TemplatedTopoServer,
    TopoReference,
)
from steward.multigres.resolution import defaults as constants
from steward.multigres.resolution.deprecated_fields import modern, modern_pool
from steward.multigres.resolution.inheritance import inherited_backup, inherited_policy
from steward.multigres.resolution.layers import Layer, Path, given, lay
from steward.multigres.resolution.resolved import (
    Identity,
    Problem,
    ResolvedCell,
    ResolvedCluster,
    ResolvedDatabase,
    ResolvedGroup,
    ResolvedTopo,
    Skipped,
    Templates,
)

P = TypeVar("P", bound=Part)

BUILT_IN = "built-in"
CORE, CELL, SHARD = "CoreTemplate", "CellTemplate", "ShardTemplate"


def resolve(identity: Identity, spec: MultigresClusterSpec, templates: Templates) -> ResolvedCluster:
    return _Resolution(identity, spec, templates).cluster()


def cell_name(entry: CellEntry) -> str:
    """A cell without a name takes that of its zone, or of its region."""
    return given(entry.name, "") or given(entry.zone, "") or given(entry.region, "")


class _Resolution:
    """One resolution in the making: what was used, where values came from and what is wrong gather here."""

    def __init__(self, identity: Identity, spec: MultigresClusterSpec, templates: Templates) -> None:
        self.identity = identity
        self.spec = spec
        self.templates = templates
        self.used: dict[str, set[str]] = {CORE: set(), CELL: set(), SHARD: set()}
        self.origins: dict[Path, str] = {}
        self.problems: list[Problem] = []
        self.skipped: list[Skipped] = []
        self.cell_names = [cell_name(entry) for entry in given(spec.cells, [])]

    def cluster(self) -> ResolvedCluster:
        topo = self.topo()
        multiadmin = self.admin("multiadmin", constants.MULTIADMIN)
        web = self.admin("multiadmin_web", constants.MULTIADMIN_WEB)
        cells = tuple(self.cell(index, entry) for index, entry in enumerate(given(self.spec.cells, [])))
        databases = tuple(self.database(entry) for entry in self.database_entries())
        return ResolvedCluster(
            self.identity,
            self.laid(("images",), Images(), [Layer(BUILT_IN, constants.IMAGES), *self.own("images")]),
            topo,
            multiadmin,
            web,
            cells,
            databases,
            {kind: tuple(sorted(used)) for kind, used in self.used.items()},
            self.origins,
            tuple(self.problems),
            tuple(self.skipped),
        )

    def own(self, field: str) -> list[Layer]:
        value = getattr(self.spec, field)
        return [] if value is UNSET else [Layer("spec", value)]

    def laid(self, path: Path, empty: P, layers: Iterable[Layer]) -> P:
        part, origins = lay(empty, layers)
        self.origins.update({(*path, *below): source for below, source in origins.items()})
        return part

    def template(self, kind: str, explicit: str | msgspec.UnsetType, field: str) -> tuple[str, Any]:
        """The template that levels 1 to 3 choose, with its name; ("", None) when constants alone hold."""
        known: Mapping[str, Any] = getattr(self.templates, kind.removesuffix("Template").lower())
        fallback = f"{kind[0].lower()}{kind[1:]}"
        named = given(explicit, "") or self.template_default(fallback)
        name = named or (constants.DEFAULT_TEMPLATE if constants.DEFAULT_TEMPLATE in known else "")
        if not name:
            return "", None
        self.used[kind].add(name)
        if name not in known:
            where = field if given(explicit, "") else f"spec.templateDefaults.{fallback}"
            absent = f"does not exist in namespace {self.identity.namespace!r}"
            told = self.templates.unusable.get((kind, name), absent)
            self.problems.append(Problem(where, f"{kind} {name!r} {told}"))
            return name, None
        return name, known[name]

    def template_default(self, field: str) -> str:
        defaults = self.spec.template_defaults
        if defaults is UNSET:
            return ""
        return {
            "coreTemplate": given(defaults.core_template, ""),
            "cellTemplate": given(defaults.cell_template, ""),
            "shardTemplate": given(defaults.shard_template, ""),
        }[field]

    # Core components

    def topo(self) -> ResolvedTopo:
        own = self.spec.global_topo_server
        inline = None if own is UNSET else own
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
        etcd = self.laid(("globalTopoServer", "etcd"), Etcd(), [Layer(BUILT_IN, constants.ETCD), *layers])
        policy = inherited_policy(etcd.pvc_deletion_policy, *policies, self.spec.pvc_deletion_policy)
        etcd = replace(etcd, pvc_deletion_policy=policy)
        host = f"{names.global_topo(self.identity.name)}.{self.identity.namespace}.svc"
        reference = TopoReference(
            address=f"{host}:{constants.ETCD_CLIENT_PORT}",
            root_path=given(etcd.root_path, constants.GLOBAL_ROOT),
            implementation="etcd",
        )
        return ResolvedTopo(reference, etcd, None)

    def external_topo(self, external: ExternalTopoServer) -> ResolvedTopo:
        # Clusters may share a server that is not theirs: by default each keeps below a root of its own.
        own_root = f"/multigres/{self.identity.namespace}/{self.identity.name}/global"
        reference = TopoReference(
            address=",".join(external.endpoints),
            root_path=given(external.root_path, own_root),
            implementation="etcd",
            ca_secret=external.ca_secret,
            client_cert_secret=external.client_cert_secret,
        )
        return ResolvedTopo(reference, None, external)

    def admin(self, field: str, built_in: Stateless) -> Stateless:
        own: Admin | msgspec.UnsetType = getattr(self.spec, field)
        wire = {"multiadmin": "multiadmin", "multiadmin_web": "multiadminWeb"}[field]
        layers = [Layer(BUILT_IN, built_in)]
        if own is not UNSET and own.spec is not UNSET:
            layers.append(Layer(f"spec.{wire}", own.spec))
        else:
            explicit = UNSET if own is UNSET else own.template_ref
            name, template = self.template(CORE, explicit, f"spec.{wire}.templateRef")
            section = UNSET if template is None else getattr(template, field)
            if section is not UNSET and section.spec is not UNSET:
                layers.append(Layer(f"{CORE} {name}", section.spec))
        return self.laid((wire,), Stateless(), layers)

    # Cells

    def cell(self, index: int, entry: CellEntry) -> ResolvedCell:
        field = f"spec.cells[{index}]"
        name = cell_name(entry)
        layers = [Layer(BUILT_IN, CellSpec(multi_gateway=constants.GATEWAY))]
        if entry.spec is not UNSET:
            layers.append(Layer(f"{field}.spec", entry.spec))
        else:
            layers += self.cell_template_layers(entry, field)
        shape = self.laid(("cells", name), CellSpec(), layers)
        gateway = given(shape.multi_gateway, constants.GATEWAY)
        local = self.local_topo(shape)
        return ResolvedCell(name, given(entry.zone, ""), given(entry.region, ""), gateway, local)

    def local_topo(self, shape: CellSpec) -> LocalTopoServer | None:
        server = shape.local_topo_server
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
            section = CellSpec(
                multi_gateway=template.multi_gateway, local_topo_server=template.local_topo_server
            )
            layers.append(Layer(f"{CELL} {name}", section))
        if entry.overrides is not UNSET:
            layers.append(Layer(f"{field}.overrides", CellSpec(multi_gateway=entry.overrides.multi_gateway)))
        return layers

    # Databases

    def database_entries(self) -> list[DatabaseEntry]:
        entries = list(given(self.spec.databases, []))
        if any(given(entry.default, False) for entry in entries):
            return entries
        known = [entry for entry in entries if entry.name == constants.SYSTEM_DATABASE]
        if known:
            return [replace(entry, default=True) if entry is known[0] else entry for entry in entries]
        return [DatabaseEntry(name=constants.SYSTEM_DATABASE, default=True), *entries]

    def database(self, entry: DatabaseEntry) -> ResolvedDatabase:
        return ResolvedDatabase(
            entry.name,
            given(entry.default, False),
            given(entry.durability_policy, given(self.spec.durability_policy, constants.DURABILITY)),
            inherited_backup(entry.backup, self.spec.backup),
            tuple(self.group(entry, group) for group in self.group_entries(entry)),
        )

    def group_entries(self, database: DatabaseEntry) -> list[TableGroupEntry]:
        entries = list(given(database.tablegroups, []))
        if any(given(entry.default, False) for entry in entries):
            return entries
        known = [entry for entry in entries if entry.name == constants.DEFAULT_TABLE_GROUP]
        if known:
            return [replace(entry, default=True) if entry is known[0] else entry for entry in entries]
        return [TableGroupEntry(name=constants.DEFAULT_TABLE_GROUP, default=True), *entries]

    def group(self, database: DatabaseEntry, entry: TableGroupEntry) -> ResolvedGroup:
        shards = given(entry.shards, []) or [ShardEntry(name=constants.DEFAULT_SHARD)]
        return ResolvedGroup(
            database.name,
            entry.name,
            given(entry.default, False),
            tuple(self.shard(database, entry, shard) for shard in shards),
            inherited_policy(entry.pvc_deletion_policy, self.spec.pvc_deletion_policy),
            inherited_backup(entry.backup, database.backup, self.spec.backup),
        )

    # Shards

    def shard(self, database: DatabaseEntry, group: TableGroupEntry, entry: ShardEntry) -> ResolvedShard:
        field = f"spec.databases[{database.name}].tablegroups[{group.name}].shards[{entry.name}]"
        path = ("databases", database.name, group.name, entry.name)
        shape = self.laid(path, ShardSpec(), self.shard_layers(entry, field))
        policy = inherited_policy(
            shape.pvc_deletion_policy, group.pvc_deletion_policy, self.spec.pvc_deletion_policy
        )
        pools = self.pools(shape, entry, field, policy)
        return ResolvedShard(
            name=entry.name,
            multiorch=self.orchestrator(shape, pools, entry, field),
            pools=pools,
            pvc_deletion_policy=policy,
            backup=inherited_backup(entry.backup, group.backup, database.backup, self.spec.backup),
            postgres_config_ref=shape.postgres_config_ref,
            initdb_args=shape.initdb_args,
        )

    def shard_layers(self, entry: ShardEntry, field: str) -> list[Layer]:
        layers = [Layer(BUILT_IN, ShardSpec(multiorch=constants.ORCHESTRATOR))]
        if entry.spec is not UNSET:
            return [*layers, Layer(f"{field}.spec", modern(entry.spec))]
        name, template = self.template(SHARD, entry.shard_template, f"{field}.shardTemplate")
        if template is not None:
            layers.append(Layer(f"{SHARD} {name}", _as_shard_spec(modern(template))))
        if entry.overrides is not UNSET:
            layers.append(Layer(f"{field}.overrides", _as_shard_spec(modern(entry.overrides))))
        return layers

    def pools(
        self, shape: ShardSpec, entry: ShardEntry, field: str, policy: PvcDeletionPolicy
    ) -> dict[str, Pool]:
        asked = given(shape.pools, {}) or {constants.DEFAULT_POOL: Pool()}
        resolved: dict[str, Pool] = {}
        for name in sorted(asked):
            pool = lay(constants.POOL, [Layer("", asked[name])])[0]
            cells = self.placement(
                given(pool.cells, []), _own_cells(entry, name), f"{field}.pools[{name}].cells"
            )
            merged = inherited_policy(pool.pvc_deletion_policy, policy)
            resolved[name] = replace(pool, cells=cells, pvc_deletion_policy=merged)
        return resolved

    def orchestrator(
        self, shape: ShardSpec, pools: Mapping[str, Pool], entry: ShardEntry, field: str
    ) -> MultiOrch:
        orchestrator = given(shape.multiorch, constants.ORCHESTRATOR)
        asked = given(orchestrator.cells, [])
        if not asked:
            cells = sorted({cell for pool in pools.values() for cell in given(pool.cells, [])})
        else:
            cells = self.placement(asked, _own_orchestrator_cells(entry), f"{field}.multiorch.cells")
        return replace(orchestrator, cells=cells)

    def placement(self, asked: list[str], own: list[str], field: str) -> list[str]:
        """All cells when none is asked for. One that only a template names and the cluster lacks is skipped."""
        if not asked:
            return sorted(self.cell_names)
        for cell in asked:
            if cell in self.cell_names:
                continue
            if cell in own:
                self.problems.append(Problem(field, f"cell {cell!r} is not in spec.cells"))
            else:
                self.skipped.append(Skipped(field, cell))
        return [cell for cell in asked if cell in self.cell_names]


def _as_shard_spec(shape: Part) -> ShardSpec:
    own = {name for name in ShardSpec.__struct_fields__ if hasattr(shape, name)}
    return ShardSpec(**{name: getattr(shape, name) for name in own})


def _own_cells(entry: ShardEntry, pool: str) -> list[str]:
    """The cells that the cluster itself names for a pool."""
    own = entry.spec if entry.spec is not UNSET else entry.overrides
    pools = {} if own is UNSET else given(own.pools, {})
    return given(modern_pool(pools[pool]).cells, []) if pool in pools else []


def _own_orchestrator_cells(entry: ShardEntry) -> list[str]:
    own = entry.spec if entry.spec is not UNSET else entry.overrides
    if own is UNSET or own.multiorch is UNSET:
        return []
    return given(own.multiorch.cells, [])
