"""Fields of a cluster's status that name its templates, Services and Secrets."""

from typing import Any

from steward.kube.objects.meta import ObjectMeta
from steward.multigres import names
from steward.multigres.objects import gateway
from steward.multigres.objects.accounts import RoleAccounts, role_secret_names
from steward.multigres.resolution.resolved import ResolvedCluster


def name_fields(meta: ObjectMeta, resolved: ResolvedCluster, accounts: RoleAccounts) -> dict[str, Any]:
    service = names.cluster_gateway(meta.name)
    return {
        "resolvedTemplates": _templates(resolved),
        "gatewayServiceName": service,
        "endpoint": f"{service}.{meta.namespace}.svc:{gateway.POSTGRES.number}",
        "connectionSecret": names.connection_secret(meta.name),
        "roleSecrets": role_secret_names(meta.name, accounts.databases),
        **_topo_services(meta.name, resolved),
    }


def _templates(resolved: ResolvedCluster) -> dict[str, list[str]]:
    used = resolved.templates
    return {
        "coreTemplates": list(used["CoreTemplate"]),
        "cellTemplates": list(used["CellTemplate"]),
        "shardTemplates": list(used["ShardTemplate"]),
    }


def _topo_services(cluster: str, resolved: ResolvedCluster) -> dict[str, str]:
    if resolved.topo.etcd is None:
        return {}
    name = names.global_topo(cluster)
    return {"clientService": name, "peerService": names.headless(name)}
