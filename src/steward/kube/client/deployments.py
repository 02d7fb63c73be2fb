"""Finds the operator's own Deployment, the owner of the objects that the operator creates for itself."""

from collections.abc import Mapping

from steward.kube.client.client import Client
from steward.kube.errors import DeploymentNotFound
from steward.kube.objects.kinds import DEPLOYMENT
from steward.kube.objects.meta import Metadata, OwnerReference
from steward.kube.objects.options import ListQuery

NAME_LABEL = "app.kubernetes.io/name"


async def find_deployment(client: Client, namespace: str, labels: Mapping[str, str]) -> OwnerReference:
    """A reference to the one Deployment with the labels; DeploymentNotFound when there are none or several."""
    selector = ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
    query = ListQuery(namespace=namespace, label_selector=selector)
    deployments = [item.metadata for item in (await client.list(DEPLOYMENT, query, Metadata)).items]
    if len(deployments) != 1:
        names = ", ".join(sorted(deployment.name for deployment in deployments)) or "none"
        raise DeploymentNotFound(
            f"expected one Deployment with the labels {selector} in namespace {namespace}, found: {names}"
        )
    [deployment] = deployments
    return OwnerReference(
        DEPLOYMENT.api_version, DEPLOYMENT.kind, deployment.name, deployment.uid, controller=True
    )
