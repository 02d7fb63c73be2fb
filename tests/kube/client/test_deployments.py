"""The operator's Deployment is found by its labels; none or several are an error."""

import msgspec
import pytest

from steward.kube.client.client import Client
from steward.kube.client.deployments import find_deployment
from steward.kube.errors import DeploymentNotFound
from steward.kube.objects.kinds import Manifest

LABELS = {"app": "operator"}


def deployment(namespace: str, name: str) -> Manifest:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace, "labels": LABELS},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": LABELS},
            "template": {
                "metadata": {"labels": LABELS},
                "spec": {"containers": [{"name": "c", "image": "i"}]},
            },
        },
    }


async def test_the_one_deployment_with_the_labels_is_found(client: Client, namespace: str) -> None:
    created = msgspec.json.decode(await client.create(deployment(namespace, "a")))

    reference = await find_deployment(client, namespace, LABELS)

    assert (reference.api_version, reference.kind, reference.name) == ("apps/v1", "Deployment", "a")
    assert reference.uid == created["metadata"]["uid"]
    assert reference.controller


@pytest.mark.parametrize(("names", "listed"), [((), "none"), (("b", "a"), "a, b")])
async def test_none_or_several_deployments_are_an_error(
    client: Client, namespace: str, names: tuple[str, ...], listed: str
) -> None:
    for name in names:
        await client.create(deployment(namespace, name))

    message = (
        f"expected one Deployment with the labels app=operator in namespace {namespace}, found: {listed}"
    )
    with pytest.raises(DeploymentNotFound, match=message):
        await find_deployment(client, namespace, LABELS)
