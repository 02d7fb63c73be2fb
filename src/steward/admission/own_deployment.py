"""Finds the operator's own Deployment, so that what the operator makes for itself goes when it is uninstalled."""

from collections.abc import Mapping

import msgspec

from steward.certificates.errors import OwnerNotFoundError
from steward.certificates.options import Owner
from steward.kube.client.client import Client
from steward.kube.client.deployments import deployments_with, selector_of
from steward.kube.objects.kinds import DEPLOYMENT


class OwnerQuery(msgspec.Struct, frozen=True):
    """Where to look, by which labels; a name decides when several Deployments have them."""

    namespace: str
    labels: Mapping[str, str]
    name: str = ""


async def find_deployment(client: Client, query: OwnerQuery) -> Owner:
    """The one Deployment with the labels; none, or several without a name to choose by, is an error."""
    labelled = await deployments_with(client, query.namespace, query.labels)
    found = [each for each in labelled if query.name in ("", each.name)]
    if len(found) != 1:
        names = ", ".join(sorted(each.name for each in labelled)) or "none"
        raise OwnerNotFoundError(
            f"expected one Deployment {query.name} with the labels {selector_of(query.labels)} "
            f"in namespace {query.namespace}, found: {names}"
        )
    return Owner(DEPLOYMENT.api_version, DEPLOYMENT.kind, found[0].name, found[0].uid)
