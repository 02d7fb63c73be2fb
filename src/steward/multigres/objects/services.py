"""Services with a cluster IP, and headless Services."""

from collections.abc import Mapping, Sequence

from steward.multigres.objects.metadata import Manifest, Owner, metadata, selector
from steward.multigres.objects.pod_spec import Port


def service(owner: Owner, name: str, labels: Mapping[str, str], ports: Sequence[Port]) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(owner, name, labels),
        "spec": {
            "type": "ClusterIP",
            "ipFamilyPolicy": "PreferDualStack",
            "selector": selector(labels),
            "ports": [port.service_port() for port in ports],
        },
    }


def headless_service(owner: Owner, name: str, labels: Mapping[str, str], ports: Sequence[Port]) -> Manifest:
    """Gives pods stable DNS names, before they are ready too: members must find each other to become ready."""
    manifest = service(owner, name, labels, ports)
    manifest["spec"] |= {"clusterIP": "None", "publishNotReadyAddresses": True}
    return manifest
