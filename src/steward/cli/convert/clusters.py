"""Manifests of the Go multigres operator, as its main branch spells them.

Steward spells fields as the design does (`zone`, `multiGateway`, resources directly below a container). Fields that the
Go operator has gained since and Steward has not are named as lost, with what to do where something can be done.
"""

from __future__ import annotations

from typing import Final

from steward.cli.convert.notes import Notes, Part, entries_of, parts_of
from steward.cli.convert.postgres_settings import SettingsHolder, convert_settings

_ZONE_ID: Final = (
    "zoneId selected nodes by topology.k8s.aws/zone-id, zone selects them by topology.kubernetes.io/zone:"
    " check that your nodes carry this value"
)
_DELETED: Final = "left out, which meant Delete there and means Retain here: volumes are kept"
_LAZY: Final = (
    "images waited for an acknowledged revision; now changes of templates and of the operator wait as well"
)
_ADVICE: Final = {
    "internalTLS": "connections between components are not encrypted by Steward",
    "certCommonName": "gateways get no certificate from Steward; end TLS in front of them",
    "externalAdminWeb": "expose the Service of multiadmin-web yourself, for example with an Ingress",
}
RUNNING: Final = (
    "the cluster exists. One of the Go operator until 0.2.6 is taken over: each of its pods is replaced once, servers"
    " one at a time and the primary last, when Steward starts; spec.paused: true lets you choose the time. Servers of"
    " newer versions run without StatefulSets and are not taken over: apply the result under another name"
)
_SAME_MEANING: Final = ("etcd", "etcd2")


def convert_cluster(name: str, spec: Part, notes: Notes) -> list[Part]:
    """Returns further objects that the cluster needs."""
    for index, cell in enumerate(entries_of(spec.get("cells"))):
        _convert_cell(cell, f"spec.cells[{cell.get('name', index)}]", notes)
    _convert_topo_server(parts_of(spec.get("globalTopoServer")), "spec.globalTopoServer", notes)
    for admin in ("multiadmin", "multiadminWeb"):
        _convert_admin(parts_of(spec.get(admin)), f"spec.{admin}", notes)
    _convert_cluster_settings(spec, notes)
    made: list[Part] = []
    for holder in _shards(name, spec):
        _convert_shard(holder.part, holder.field, notes)
        made += convert_settings(holder, notes)
    return made


def note_running_cluster(manifest: Part, notes: Notes) -> None:
    """What will happen to the pods of a cluster that was read from an API server."""
    if "uid" in parts_of(manifest.get("metadata")):
        notes.check("spec", RUNNING)


def convert_core_template(spec: Part, notes: Notes) -> None:
    _convert_topo_server(parts_of(spec.get("globalTopoServer")), "spec.globalTopoServer", notes)
    for admin in ("multiadmin", "multiadminWeb"):
        section = spec.get(admin)
        if isinstance(section, dict) and "spec" not in section:
            placement = section.pop("placement", None)
            spec[admin] = {"spec": section, **({} if placement is None else {"placement": placement})}
        _convert_admin(parts_of(spec.get(admin)), f"spec.{admin}", notes)


def convert_cell_template(spec: Part, notes: Notes) -> None:
    notes.rename(spec, "multigateway", "multiGateway", "spec")
    _convert_gateway(parts_of(spec.get("multiGateway")), "spec.multiGateway", notes)
    _move_tolerations(spec.pop("multigatewayPlacement", None), spec, "multiGateway", "spec", notes)
    _convert_topo_server(parts_of(spec.get("localTopoServer")), "spec.localTopoServer", notes)


def convert_shard_template(name: str, spec: Part, notes: Notes) -> list[Part]:
    _convert_shard(spec, "spec", notes)
    return convert_settings(SettingsHolder(name, "spec", spec), notes)


def _convert_cell(cell: Part, field: str, notes: Notes) -> None:
    if "zoneId" in cell:
        notes.check(f"{field}.zoneId", _ZONE_ID)
    notes.rename(cell, "zoneId", "zone", field)
    for holder in ("spec", "overrides"):
        section = parts_of(cell.get(holder))
        notes.rename(section, "multigateway", "multiGateway", f"{field}.{holder}")
        _convert_gateway(parts_of(section.get("multiGateway")), f"{field}.{holder}.multiGateway", notes)
    server = parts_of(parts_of(cell.get("spec")).get("localTopoServer"))
    _convert_topo_server(server, f"{field}.spec.localTopoServer", notes)
    placement = cell.pop("multigatewayPlacement", None)
    if placement is not None:
        holder = "spec" if "spec" in cell else "overrides"
        _move_tolerations(placement, cell.setdefault(holder, {}), "multiGateway", f"{field}.{holder}", notes)


def _convert_gateway(gateway: Part, field: str, notes: Notes) -> None:
    notes.rename(gateway, "buffer", "buffering", field)


def _convert_topo_server(server: Part, field: str, notes: Notes) -> None:
    external = parts_of(server.get("external"))
    if external.get("implementation") in _SAME_MEANING:
        del external["implementation"]
    if "placement" in server:
        del server["placement"]
        notes.lost(f"{field}.placement", "pods of topology servers have no tolerations of their own")


def _convert_admin(admin: Part, field: str, notes: Notes) -> None:
    placement = admin.pop("placement", None)
    if placement is None:
        return
    if "spec" in admin:
        _move_tolerations(placement, admin, "spec", field, notes)
    else:
        notes.lost(f"{field}.placement", "write its tolerations into the CoreTemplate that defines it")


def _move_tolerations(placement: object, holder: Part, section: str, field: str, notes: Notes) -> None:
    """`placement.tolerations` of the Go operator are `tolerations` of the component."""
    if placement is None:
        return
    moved = dict(parts_of(placement))
    tolerations = moved.pop("tolerations", None)
    if tolerations is not None:
        holder.setdefault(section, {})["tolerations"] = tolerations
    for name in moved:
        notes.lost(f"{field}.placement.{name}", "only tolerations are kept")


def _convert_cluster_settings(spec: Part, notes: Notes) -> None:
    _convert_pruning(spec)
    _convert_image_updates(spec, notes)
    if spec.get("postgresSuperuser") == "postgres":
        del spec["postgresSuperuser"]
    if parts_of(spec.get("internalTLS")).get("enabled") is False:
        del spec["internalTLS"]
    for name, advice in _ADVICE.items():
        if name in spec:
            del spec[name]
            notes.lost(f"spec.{name}", advice)
    if "pvcDeletionPolicy" not in spec:
        notes.check("spec.pvcDeletionPolicy", _DELETED)


def _convert_pruning(spec: Part) -> None:
    pruning = spec.pop("topologyPruning", None)
    enabled = parts_of(pruning).get("enabled")
    if isinstance(enabled, bool):
        spec.setdefault("topologyReconciliation", {})["pruneTablets"] = enabled


def _convert_image_updates(spec: Part, notes: Notes) -> None:
    policy = parts_of(spec.pop("imageUpdatePolicy", None))
    if policy.get("strategy") == "lazy":
        spec.setdefault("updatePolicy", {}).setdefault("templateChanges", "Manual")
        notes.check("spec.imageUpdatePolicy", _LAZY)
    if "acknowledgedRevision" in policy:
        notes.lost("spec.imageUpdatePolicy.acknowledgedRevision", "revisions of Steward have other names")


def _shards(cluster: str, spec: Part) -> list[SettingsHolder]:
    """Every inline definition and every override of a shard."""
    return [
        SettingsHolder(
            f"{cluster}-{database.get('name')}-{group.get('name')}-{shard.get('name')}",
            f"spec.databases[{database.get('name')}].tablegroups[{group.get('name')}]"
            f".shards[{shard.get('name')}].{holder}",
            shard[holder],
        )
        for database in entries_of(spec.get("databases"))
        for group in entries_of(database.get("tablegroups"))
        for shard in entries_of(group.get("shards"))
        for holder in ("spec", "overrides")
        if isinstance(shard.get(holder), dict)
    ]


def _convert_shard(shard: Part, field: str, notes: Notes) -> None:
    orchestrator = parts_of(shard.get("multiorch"))
    if "placement" in orchestrator:
        _move_tolerations(orchestrator.pop("placement"), shard, "multiorch", f"{field}.multiorch", notes)
    for name, pool in parts_of(shard.get("pools")).items():
        for container in ("postgres", "multipooler"):
            where = f"{field}.pools[{name}].{container}"
            _convert_container(parts_of(pool), container, where, notes)


def _convert_container(pool: Part, container: str, field: str, notes: Notes) -> None:
    """The Go operator nests `resources`; here requests and limits are directly below the container."""
    nested = parts_of(pool.get(container))
    if "resources" not in nested:
        return
    resources = nested.pop("resources")
    for name in nested:
        notes.lost(f"{field}.{name}", "user and group of the container are those of its image")
    pool[container] = resources
