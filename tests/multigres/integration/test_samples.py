"""Every sample and every cluster of the design, through webhooks: accepted in every way, Ready, then at rest.

Those that name an external topology server use a real etcd, which answers for all the host names that they give it.
The templates that the design prints are as printed. Those that it only names are small, and so are the namespace's
templates `default`, which samples without sizes use: `test_operator.py` has the sizes that are built in.
"""

import secrets
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steward.kube.objects.kinds import Manifest
from steward.local.control_plane import ControlPlane
from steward.multigres.api.group import API_VERSION
from steward.multigres.resolution.defaults import DEFAULT_TEMPLATE
from tests.multigres.support.design_manifests import EXAMPLE, TEMPLATES, design_manifest, templates
from tests.multigres.support.external_etcd import ExternalEtcd, running_external_etcd
from tests.multigres.support.nodes_and_classes import as_the_design_prints
from tests.multigres.support.operator import operator_with_webhooks
from tests.multigres.support.topology_cluster import running_fake_data_plane
from tests.multigres.support.waiting import eventually
from tests.support import namespaces
from tests.support.kubectl import Kubectl
from tests.support.paths import ROOT
from tests.support.yaml_text import load_yaml_documents

SAMPLES = sorted((ROOT / "config" / "samples" / "multigres").glob("*.yaml"))
WAYS = (["create"], ["apply"], ["apply", "--server-side"])
READY_SECONDS = 240
LONGEST_NAME = 30
CLUSTER = "MultigresCluster"
CERTIFICATES = ("etcd-ca", "etcd-client", "etcd-client-cert")
S3_CREDENTIALS = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "key"}
SMALL: dict[str, dict[str, Any]] = {
    "CoreTemplate": {
        "globalTopoServer": {"etcd": {"replicas": 1}},
        "multiadminWeb": {"spec": {"replicas": 0}},
    },
    "CellTemplate": {"multiGateway": {"replicas": 1}},
    "ShardTemplate": {"pools": {"default": {"type": "readWrite", "replicasPerCell": 2}}},
}
PRINTED = {kind: found[0] for kind, found in TEMPLATES.items()}
OF_THE_DESIGN = ("minimal-cluster", "minimal-cluster-with-defaults", "power-cluster")


@pytest.fixture(scope="module")
def home(kubectl: Kubectl) -> Iterator[str]:
    """One namespace for all: the clusters have names of their own."""
    name = f"samples-{secrets.token_hex(4)}"
    kubectl("create", "namespace", name)
    yield name
    namespaces.release_namespace(kubectl.server, name)


@pytest.fixture(scope="module")
def etcd(home: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExternalEtcd]:
    endpoints = [
        endpoint
        for each in all_clusters(home)
        for endpoint in each["spec"].get("globalTopoServer", {}).get("external", {}).get("endpoints", ())
    ]
    with running_external_etcd(tmp_path_factory.mktemp("etcd"), endpoints) as found:
        yield found


@pytest.fixture(scope="module")
def webhooks(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    home: str,
    etcd: ExternalEtcd,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[subprocess.Popen[bytes]]:
    directory = tmp_path_factory.mktemp("operator")
    flags = ["--etcd=memory", f"--etcd-certificates={etcd.certificates}"]
    flags += [f"--forward={forward}" for forward in etcd.forwards]
    with running_fake_data_plane(control_plane, home, directory, *flags) as forwards:
        log, reached = directory / "operator.log", f"@{forwards}"
        with operator_with_webhooks(control_plane, kubectl, home, log, connect_to=reached) as process:
            yield process


def all_clusters(namespace: str) -> list[Manifest]:
    """Those of the samples, and those of the design but for the example."""
    mine = [each for sample in SAMPLES for each in documents(sample, namespace) if each["kind"] == CLUSTER]
    return [*mine, *(of_the_design(name, namespace) for name in OF_THE_DESIGN)]


def documents(sample: Path, namespace: str) -> list[Manifest]:
    found: list[Manifest] = [each for each in load_yaml_documents(sample.read_text()) if each]
    for document in found:
        document["metadata"]["namespace"] = namespace
    return found


def of_the_design(name: str, namespace: str) -> Manifest:
    """As printed: it is the nodes and classes that are made to fit."""
    found = design_manifest(CLUSTER, name)
    found["metadata"]["namespace"] = namespace
    return found


@pytest.fixture(scope="module")
def grown(
    webhooks: object, etcd: ExternalEtcd, kubectl: Kubectl, home: str
) -> list[tuple[list[str], Manifest]]:
    """Everything applied, some client-side and some server-side: how, and what."""
    as_the_design_prints(kubectl)
    certificates = [etcd.secret(name, home) for name in CERTIFICATES]
    referenced = [*certificates, etcd.secret("s3-credentials", home, **S3_CREDENTIALS)]
    referenced += map(small_unless_printed, templates(home))
    referenced += [default_template(kind, home) for kind in SMALL]
    referenced += [each for sample in SAMPLES for each in documents(sample, home) if each["kind"] != CLUSTER]
    kubectl("apply", "--server-side", "-f", "-", document=listed(referenced))
    mine = all_clusters(home)
    # Only the example: kubectl reads a list more strictly, and the documented status lacks required fields.
    parts = [
        (WAYS[1], of_the_design(EXAMPLE, home)),
        (WAYS[1], listed(mine[::2])),
        (WAYS[2], listed(mine[1::2])),
    ]
    for way, part in parts:
        kubectl(*way, "-f", "-", document=part)
    return parts


def default_template(kind: str, namespace: str) -> Manifest:
    metadata = {"name": DEFAULT_TEMPLATE, "namespace": namespace}
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": SMALL[kind]}


def small_unless_printed(template: Manifest) -> Manifest:
    """A pool in another cell is left out: clusters override the cells of the one that takes writes."""
    kind, name = template["kind"], template["metadata"]["name"]
    if name == PRINTED[kind]:
        return template
    spec = {**template["spec"], **SMALL[kind]}
    if kind == "ShardTemplate":
        spec["pools"] = {"primary": template["spec"]["pools"]["primary"]}
    return {**template, "spec": spec}


def items(part: Manifest) -> list[Manifest]:
    return part.get("items", [part])


def listed(items: list[Manifest]) -> Manifest:
    return {"apiVersion": "v1", "kind": "List", "items": items}


@pytest.mark.parametrize("way", WAYS, ids=" ".join)
def test_every_sample_and_documented_cluster_is_accepted(
    grown: list[tuple[list[str], Manifest]], kubectl: Kubectl, way: list[str]
) -> None:
    for _, part in grown:
        renamed = [{**each, "metadata": _another(each)} for each in items(part)]
        document = listed(renamed) if part["kind"] == "List" else renamed[0]
        kubectl(*way, "--dry-run=server", "-f", "-", document=document)


def _another(document: Manifest) -> dict[str, Any]:
    return {**document["metadata"], "name": f"dry-{document['metadata']['name']}"[:LONGEST_NAME]}


def test_all_samples_and_documented_clusters_become_ready(grown: object, kubectl: Kubectl, home: str) -> None:
    wait_ready(kubectl, home)
    found = {each["metadata"]["name"]: each for each in kubectl.json("get", "mgc", "-n", home)["items"]}
    assert found.keys() == {EXAMPLE, *(each["metadata"]["name"] for each in all_clusters(home))}
    for cluster in found.values():
        assert ("TopologyRegistered", "True") in [
            (each["type"], each["status"]) for each in cluster["status"]["conditions"]
        ]


def test_the_address_for_clients_outside_is_in_the_status(grown: object, kubectl: Kubectl, home: str) -> None:
    wait_ready(kubectl, home)
    status = kubectl.json("get", "mgc", "external-gateway", "-n", home)["status"]
    assert status["externalEndpoint"] == "203.0.113.10:5432"
    [condition] = [each for each in status["conditions"] if each["type"] == "GatewayExternalReady"]
    assert (condition["status"], condition["reason"]) == ("True", "EndpointReady")
    others = kubectl.json("get", "mgc", "minimal", "-n", home)["status"]
    assert "externalEndpoint" not in others
    assert "GatewayExternalReady" not in {each["type"] for each in others["conditions"]}


def test_a_second_apply_changes_nothing(
    grown: list[tuple[list[str], Manifest]], kubectl: Kubectl, home: str
) -> None:
    wait_ready(kubectl, home)
    touched = {each["metadata"]["name"] for _, part in grown for each in items(part)}
    before = generations(kubectl, home)

    def are_untouched() -> bool:
        """A status may just be on its way while one is applied: each must be left alone once."""
        first = versions(kubectl, home)
        for way, part in grown:
            kubectl(*way, "-f", "-", document=part)
        second = versions(kubectl, home)
        touched.difference_update({name for name in first if first[name] == second[name]})
        return not touched

    eventually(are_untouched, "an apply that changes nothing")
    assert generations(kubectl, home) == before


def wait_ready(kubectl: Kubectl, namespace: str) -> None:
    kubectl("wait", "mgc", "--all", "-n", namespace, "--for=condition=Ready", f"--timeout={READY_SECONDS}s")


def versions(kubectl: Kubectl, namespace: str) -> dict[str, str]:
    found = kubectl.json("get", "mgc", "-n", namespace)["items"]
    return {each["metadata"]["name"]: each["metadata"]["resourceVersion"] for each in found}


def generations(kubectl: Kubectl, namespace: str) -> dict[str, int]:
    found = kubectl.json("get", "mgc", "-n", namespace)["items"]
    return {each["metadata"]["name"]: each["metadata"]["generation"] for each in found}
