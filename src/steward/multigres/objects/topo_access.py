"""Flags, volumes and mounts with which a component of the data plane reaches the global topology server."""

from typing import NamedTuple

from msgspec import UNSET, UnsetType

from steward.multigres.api.topo import TopoReference
from steward.multigres.objects.metadata import Manifest

CA_DIRECTORY = "/etc/topo/ca"
CLIENT_DIRECTORY = "/etc/topo/client"


class IncompleteSpecError(ValueError):
    """A spec lacks a field that has no default; the message names it.

    The operator always sets it; a child that a user created may lack it.
    """


class TopoAccess(NamedTuple):
    """Command-line flags, and the files that they refer to."""

    flags: list[str]
    volumes: list[Manifest]
    mounts: list[Manifest]


def topo_access(reference: TopoReference | UnsetType) -> TopoAccess:
    if isinstance(reference, UnsetType):
        raise IncompleteSpecError(
            "spec.globalTopoServer is missing: delete the object, its MultigresCluster creates it again"
        )
    flags = [
        f"--topo-global-server-addresses={reference.address}",
        f"--topo-global-root={reference.root_path}",
    ]
    volumes: list[Manifest] = []
    mounts: list[Manifest] = []
    if reference.ca_secret is not UNSET:
        flags.append(f"--topo-etcd-tls-ca={CA_DIRECTORY}/ca.crt")
        volumes.append(_secret("topo-ca", reference.ca_secret))
        mounts.append({"name": "topo-ca", "mountPath": CA_DIRECTORY, "readOnly": True})
    if reference.client_cert_secret is not UNSET:
        flags += [
            f"--topo-etcd-tls-cert={CLIENT_DIRECTORY}/tls.crt",
            f"--topo-etcd-tls-key={CLIENT_DIRECTORY}/tls.key",
        ]
        volumes.append(_secret("topo-client", reference.client_cert_secret))
        mounts.append({"name": "topo-client", "mountPath": CLIENT_DIRECTORY, "readOnly": True})
    return TopoAccess(flags, volumes, mounts)


def _secret(name: str, secret: str) -> Manifest:
    # 0440: readable by the pod's group, which fsGroup sets; the binaries reject keys that others can read.
    return {"name": name, "secret": {"secretName": secret, "defaultMode": 0o440}}
