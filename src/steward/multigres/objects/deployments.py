"""The one shape of every Deployment: one container, two probes, nothing to write to but /tmp."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import UNSET

from steward.multigres.api.compute import MultiOrch, Stateless
from steward.multigres.api.images import Images
from steward.multigres.objects.metadata import Manifest, Owner, metadata, selector
from steward.multigres.objects.pods import (
    Port,
    container_security,
    pod_metadata,
    pod_security,
    pull_policy,
    pulling,
    resources,
    spread,
)
from steward.multigres.resolution.layers import given

# Endpoints take a moment to forget a pod; until then it must still answer.
LEAVE_SERVICE_SECONDS = 5
GRACE_SECONDS = 30


class Program(NamedTuple):
    """What a container runs."""

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
    """Whose it is, what it is called, and on which nodes it runs."""

    owner: Owner
    name: str
    labels: Mapping[str, str]
    node_selector: Mapping[str, str]


def deployment(
    placement: Placement, shape: Stateless | MultiOrch, program: Program, images: Images
) -> Manifest:
    own = placement.labels
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(placement.owner, placement.name, own),
        "spec": {
            "replicas": given(shape.replicas, 1),
            "selector": {"matchLabels": selector(own)},
            "template": {
                "metadata": pod_metadata(own, shape),
                "spec": _pod(placement, shape, program, images),
            },
        },
    }


def _pod(placement: Placement, shape: Stateless | MultiOrch, program: Program, images: Images) -> Manifest:
    pod: Manifest = {
        "securityContext": pod_security(),
        "terminationGracePeriodSeconds": GRACE_SECONDS + LEAVE_SERVICE_SECONDS,
        "containers": [_container(shape, program, images)],
        "volumes": [{"name": "tmp", "emptyDir": {}}, *program.volumes],
        **spread(placement.labels, shape),
        **pulling(images),
    }
    if placement.node_selector:
        pod["nodeSelector"] = dict(placement.node_selector)
    return pod


def _container(shape: Stateless | MultiOrch, program: Program, images: Images) -> Manifest:
    container: Manifest = {
        "name": program.name,
        "image": program.image,
        "imagePullPolicy": pull_policy(images),
        "args": list(program.args),
        "env": list(program.env),
        "ports": [port.of_container() for port in program.ports],
        "securityContext": container_security(),
        "lifecycle": {"preStop": {"sleep": {"seconds": LEAVE_SERVICE_SECONDS}}},
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}, *program.mounts],
        **program.probes,
    }
    if program.command:
        container["command"] = list(program.command)
    if shape.resources is not UNSET:
        container["resources"] = resources(shape.resources)
    return container
