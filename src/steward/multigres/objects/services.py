"""Services: ports by name, and the two shapes that Steward uses."""

from collections.abc import Mapping, Sequence

from steward.multigres.objects.metadata import Manifest, Owner, metadata, selector
from steward.multigres.objects.pods import Port


def service(owner: Owner, name: str, of: Mapping[str, str], ports: Sequence[Port]) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(owner, name, of),
        "spec": {
            "type": "ClusterIP",
            "ipFamilyPolicy": "PreferDualStack",
            "selector": selector(of),
            "ports": [port.of_service() for port in ports],
        },
    }


def headless_service(owner: Owner, name: str, of: Mapping[str, str], ports: Sequence[Port]) -> Manifest:
    """Gives pods stable names. Members must find each other before they are ready, hence publishNotReadyAddresses."""
    built = service(owner, name, of, ports)
    built["spec"] |= {"clusterIP": "None", "publishNotReadyAddresses": True}
    return built
