"""Which volume claims outlive what they were made for. Read from the server: Secrets go, or stay, by it."""

from collections.abc import Mapping

from steward.kube.client.client import Client
from steward.kube.objects.kinds import PERSISTENT_VOLUME_CLAIM
from steward.kube.objects.meta import Metadata, ObjectMeta
from steward.kube.objects.options import ListQuery


async def kept_claims(client: Client, namespace: str, labels: Mapping[str, str]) -> list[str]:
    """Names of the claims with these labels that nobody takes away."""
    chosen = ",".join(f"{label}={value}" for label, value in labels.items())
    query = ListQuery(namespace=namespace, label_selector=chosen)
    found = (await client.list(PERSISTENT_VOLUME_CLAIM, query, Metadata)).items
    return sorted(claim.metadata.name for claim in found if not _goes_too(claim.metadata))


def _goes_too(claim: ObjectMeta) -> bool:
    """An owner of a claim is a set or pod that was deleted: the garbage collector takes it away."""
    return claim.deletion_timestamp is not None or bool(claim.owner_references)
