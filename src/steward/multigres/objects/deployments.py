"""Deployments: one container with probes and a read-only root filesystem; only /tmp is writable."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import UNSET

from steward.multigres.api.compute import MultiOrch, Stateless
from steward.multigres.api.images import Images
from steward.multigres.api.unset import or_default
from steward.multigres.objects.metadata import Manifest, Owner, metadata, selector
from steward.multigres.objects.pod_spec import (
    Port,
    container_security_context,
    pod_metadata,
    pod_security_fields,
    pull_policy,
    pull_secret_fields,
    resource_requirements,
    scheduling_fields,
)

# Endpoints are updated a moment after a pod starts to terminate; until then it must still serve.
ENDPOINT_REMOVAL_SECONDS = 5
GRACE_SECONDS = 30


class ContainerProgram(NamedTuple):
    """The container of a Deployment."""

    name: str
    image: str
    command: Sequence[str]
    args: Sequence[str]
    env: Sequence[Manifest]
    ports: Sequence[Port]
    probes: Manifest
    volumes: Sequence[Manifest] = ()
    mounts: Sequence[Manifest] = ()


class Placement(NamedTuple):
    """Owner, name and labels of a Deployment, and the nodes that its pods run on."""

    owner: Owner
    name: str
    labels: Mapping[str, str]
    node_selector: Mapping[str, str]


def deployment(
    placement: Placement, compute: Stateless | MultiOrch, program: ContainerProgram, images: Images
) -> Manifest:
    labels = placement.labels
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(placement.owner, placement.name, labels),
        "spec": {
            "replicas": or_default(compute.replicas, 1),
            "selector": {"matchLabels": selector(labels)},
            "template": {
                "metadata": pod_metadata(labels, compute),
                "spec": _pod(placement, compute, program, images),
            },
        },
    }


def _pod(
    placement: Placement, compute: Stateless | MultiOrch, program: ContainerProgram, images: Images
) -> Manifest:
    pod: Manifest = {
        **pod_security_fields(),
        "terminationGracePeriodSeconds": GRACE_SECONDS + ENDPOINT_REMOVAL_SECONDS,
        "containers": [_container(compute, program, images)],
        "volumes": [{"name": "tmp", "emptyDir": {}}, *program.volumes],
        **scheduling_fields(placement.labels, compute),
        **pull_secret_fields(images),
    }
    if placement.node_selector:
        pod["nodeSelector"] = dict(placement.node_selector)
    return pod


def _container(compute: Stateless | MultiOrch, program: ContainerProgram, images: Images) -> Manifest:
    container: Manifest = {
        "name": program.name,
        "image": program.image,
        "imagePullPolicy": pull_policy(images),
        "args": list(program.args),
        "env": list(program.env),
        "ports": [port.container_port() for port in program.ports],
        "securityContext": container_security_context(),
        "lifecycle": {"preStop": {"sleep": {"seconds": ENDPOINT_REMOVAL_SECONDS}}},
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}, *program.mounts],
        **program.probes,
    }
    if program.command:
        container["command"] = list(program.command)
    if compute.resources is not UNSET:
        container["resources"] = resource_requirements(compute.resources)
    return container
