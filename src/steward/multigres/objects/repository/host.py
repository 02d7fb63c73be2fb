"""The pod that serves a repository on a volume to the servers of a shard.

A volume that one node can mount (ReadWriteOnce) cannot be shared by servers on several nodes. pgBackRest reaches a
repository on another host through its own TLS server, so one pod mounts the volume and runs that server. It has the
image, the user and the certificate of the Postgres servers. Since pgBackRest 2.55 all commands of poolers work that
way, but one: a standby cannot make a backup, because it would need the primary and the repository from two other hosts.
The primary makes the backups of such a shard (`backups_from_primary`).

A Deployment, not a StatefulSet: those of a shard are its pools. `Recreate` ends the old pod before the new one starts,
which could not mount the volume on another node.
"""

from steward.multigres import names
from steward.multigres.api.compute import Pool, Resources, Stateless
from steward.multigres.api.images import Images
from steward.multigres.api.scalars import UNSET
from steward.multigres.api.unset import or_default
from steward.multigres.objects.deployments import ContainerProgram, Placement, deployment
from steward.multigres.objects.metadata import Manifest
from steward.multigres.objects.pod_spec import POSTGRES_UID, Port, pod_security_fields
from steward.multigres.objects.repository.access import (
    CERTIFICATE_DIRECTORY,
    CERTIFICATE_MOUNT,
    PORT,
    VOLUME,
    certificate_volume,
    renewal_annotations,
)
from steward.multigres.objects.repository.claims import has_repository_host, repository_claim
from steward.multigres.objects.services import service
from steward.multigres.objects.shard_inputs import ShardInputs
from steward.multigres.resolution import defaults
from steward.multigres.resolution.checks.repositories import mount_path, shard_cells

COMPONENT = "backup-repository"
SERVER = Port("pgbackrest", PORT)
RESOURCES = Resources(requests={"cpu": "50m", "memory": "64Mi"}, limits={"memory": "512Mi"})


def backups_from_primary(shard: ShardInputs) -> bool:
    return has_repository_host(shard)


def repository_host_objects(shard: ShardInputs) -> list[Manifest]:
    """None for a repository that the servers reach by themselves."""
    if not has_repository_host(shard):
        return []
    labels, name = shard.component_labels(COMPONENT), names.repository_host(shard.path)
    return [_deployment(shard, name, labels), service(shard.owner, name, labels, (SERVER,))]


def _deployment(shard: ShardInputs, name: str, labels: dict[str, str]) -> Manifest:
    images = or_default(shard.spec.images, Images())
    # No nodes are chosen: the volume is where the pod was first, and cells can be removed.
    placement = Placement(shard.owner, name, labels, {})
    manifest = deployment(placement, _compute(shard), _program(shard, images), images)
    manifest["spec"]["strategy"] = {"type": "Recreate"}
    template = manifest["spec"]["template"]
    # The files of a repository belong to the user of the Postgres servers.
    template["spec"] |= pod_security_fields(POSTGRES_UID)
    if renewals := renewal_annotations(shard):
        template["metadata"]["annotations"] = renewals
    return manifest


def _compute(shard: ShardInputs) -> Stateless:
    """It runs while servers do, and tolerates what they tolerate."""
    pools = list(or_default(shard.spec.pools, {}).values())
    is_needed = any(_replicas(pool) for pool in pools)
    tolerations = next((pool.tolerations for pool in pools if pool.tolerations is not UNSET), UNSET)
    return Stateless(replicas=int(is_needed), resources=RESOURCES, tolerations=tolerations)


def _replicas(pool: Pool) -> int:
    return or_default(pool.replicas_per_cell, or_default(defaults.POOL.replicas_per_cell, 3))


def _program(shard: ShardInputs, images: Images) -> ContainerProgram:
    backup = or_default(shard.spec.backup, defaults.BACKUP)
    claim = repository_claim(shard, shard_cells(or_default(shard.spec.pools, {}))[0])
    return ContainerProgram(
        COMPONENT,
        or_default(images.postgres, or_default(defaults.IMAGES.postgres, "")),
        ("pgbackrest",),
        ["server"],
        [{"name": f"PGBACKREST_{name}", "value": value} for name, value in _SETTINGS.items()],
        (SERVER,),
        _PROBES,
        [
            {"name": VOLUME, "persistentVolumeClaim": {"claimName": claim}},
            certificate_volume(shard.certificates),
        ],
        [{"name": VOLUME, "mountPath": mount_path(backup)}, CERTIFICATE_MOUNT],
    )


_SETTINGS = {
    "TLS_SERVER_ADDRESS": "::",
    "TLS_SERVER_PORT": str(PORT),
    "TLS_SERVER_AUTH": "pgbackrest=*",
    "TLS_SERVER_CA_FILE": f"{CERTIFICATE_DIRECTORY}/ca.crt",
    "TLS_SERVER_CERT_FILE": f"{CERTIFICATE_DIRECTORY}/pgbackrest.crt",
    "TLS_SERVER_KEY_FILE": f"{CERTIFICATE_DIRECTORY}/pgbackrest.key",
    "LOCK_PATH": "/tmp/pgbackrest",
    "LOG_LEVEL_CONSOLE": "info",
    "LOG_LEVEL_FILE": "off",
}
"""`pgbackrest` is the common name of the certificate, and `*` is any stanza: the authority is that of this shard."""
_PING = {
    "exec": {"command": ["pgbackrest", "server-ping"]},
    "periodSeconds": 10,
    "timeoutSeconds": 10,
    "failureThreshold": 6,
}
_PROBES: Manifest = {"readinessProbe": {**_PING, "failureThreshold": 2}, "livenessProbe": _PING}
