"""Finds Deployments by their labels: an operator finds its own so, and what it makes for itself goes when that goes."""

from collections.abc import Mapping

from steward.kube.client.client import Client
from steward.kube.objects.kinds import DEPLOYMENT
from steward.kube.objects.meta import Metadata, ObjectMeta
from steward.kube.objects.options import ListQuery

NAME_LABEL = "app.kubernetes.io/name"


async def deployments_with(client: Client, namespace: str, labels: Mapping[str, str]) -> list[ObjectMeta]:
    query = ListQuery(namespace=namespace, label_selector=selector_of(labels))
    return [found.metadata for found in (await client.list(DEPLOYMENT, query, Metadata)).items]


def selector_of(labels: Mapping[str, str]) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
