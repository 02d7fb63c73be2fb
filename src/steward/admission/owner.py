"""Finds the operator's own Deployment, so that what the operator makes for itself goes when it is uninstalled."""

from collections.abc import Mapping

import msgspec

from steward.admission.errors import OwnerNotFoundError
from steward.admission.keeper_options import Owner
from steward.kube.client import Client
from steward.kube.kinds import DEPLOYMENT
from steward.kube.meta import Metadata
from steward.kube.options import ListQuery


class OwnerQuery(msgspec.Struct, frozen=True):
    """Where to look, by which labels; a name decides when several Deployments have them."""

    namespace: str
    labels: Mapping[str, str]
    name: str = ""


async def find_deployment(client: Client, query: OwnerQuery) -> Owner:
    """The one Deployment with the labels; none, or several without a name to choose by, is an error."""
    selector = ",".join(f"{key}={value}" for key, value in sorted(query.labels.items()))
    listing = await client.list(
        DEPLOYMENT, ListQuery(namespace=query.namespace, label_selector=selector), Metadata
    )
    found = [item.metadata for item in listing.items if query.name in ("", item.metadata.name)]
    if len(found) != 1:
        names = ", ".join(sorted(item.metadata.name for item in listing.items)) or "none"
        raise OwnerNotFoundError(
            f"expected one Deployment {query.name} with the labels {selector} in namespace {query.namespace}, "
            f"found: {names}"
        )
    return Owner(DEPLOYMENT.api_version, DEPLOYMENT.kind, found[0].name, found[0].uid)
