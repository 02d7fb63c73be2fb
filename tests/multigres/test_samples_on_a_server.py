"""Every sample and the large example of the design, through webhooks: accepted in every way, Ready, then at rest."""

import secrets
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from steward.kube.kinds import Manifest
from steward.local.control_plane import ControlPlane
from tests.kubectl import Kubectl
from tests.multigres.conftest import operator_with_webhooks
from tests.multigres.test_operator import SEEDS, eventually, template

SAMPLES = sorted((Path(__file__).parents[2] / "config" / "samples" / "multigres").glob("*.yaml"))
WAYS = (["create"], ["apply"], ["apply", "--server-side"])
READY_SECONDS = 240
CLUSTER = "MultigresCluster"
WRITTEN_ELSEWHERE = ("etcd-ca", "etcd-client", "s3-credentials")
ZONES = {"us-east-1a": "z1", "us-east-1b": "z2", "us-east-1c": "z3"}
OF_THE_EXAMPLE = (
    ("CoreTemplate", "cluster-wide-core"),
    ("CellTemplate", "cluster-wide-cell"),
    ("CellTemplate", "standard-cell-ha"),
    ("ShardTemplate", "cluster-wide-shard"),
    ("ShardTemplate", "standard-shard-ha"),
)


@pytest.fixture(scope="module")
def home(kubectl: Kubectl) -> Iterator[str]:
    """One namespace for all: the clusters have names of their own."""
    name = f"samples-{secrets.token_hex(4)}"
    kubectl("create", "namespace", name)
    yield name
    kubectl("delete", "namespace", name, "--wait=false")


@pytest.fixture(scope="module")
def webhooks(
    control_plane: ControlPlane, kubectl: Kubectl, home: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[subprocess.Popen[bytes]]:
    log = tmp_path_factory.mktemp("operator") / "operator.log"
    with operator_with_webhooks(control_plane, kubectl, home, log) as process:
        yield process


def documents(sample: Path, namespace: str) -> list[Manifest]:
    found: list[Manifest] = [each for each in yaml.safe_load_all(sample.read_text()) if each]
    for document in found:
        document["metadata"]["namespace"] = namespace
    return found


def example(namespace: str) -> Manifest:
    """As printed, but for what the local control plane lacks: its zones, storage classes and large nodes."""
    text = (SEEDS / "multigrescluster-example-cluster.yaml").read_text().replace("standard-gp3", "standard")
    manifest: Manifest = yaml.safe_load(text)
    manifest["metadata"]["namespace"] = namespace
    _fit(manifest["spec"])
    for cell in manifest["spec"]["cells"]:
        cell["zone"] = ZONES[cell["zone"]]
    return manifest


def _fit(part: Any) -> None:
    values = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    for field in ("requests", "limits"):
        if isinstance(part, dict) and field in part:
            part[field] = {"cpu": "10m"}
    for value in values:
        _fit(value)


def secret(name: str, namespace: str) -> Manifest:
    keys = ("ca.crt", "tls.crt", "tls.key", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    metadata = {"name": name, "namespace": namespace}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": metadata,
        "stringData": dict.fromkeys(keys, "x"),
    }


@pytest.fixture(scope="module")
def grown(webhooks: object, kubectl: Kubectl, home: str) -> list[tuple[list[str], Manifest]]:
    """Everything applied, some client-side and some server-side: how, and what."""
    beside = [secret(name, home) for name in WRITTEN_ELSEWHERE]
    beside += [template(kind, name, home) for kind, name in OF_THE_EXAMPLE]
    beside += [each for sample in SAMPLES for each in documents(sample, home) if each["kind"] != CLUSTER]
    kubectl("apply", "--server-side", "-f", "-", document=listed(beside))
    mine = [each for sample in SAMPLES for each in documents(sample, home) if each["kind"] == CLUSTER]
    # The example alone: kubectl reads a list more strictly, and its printed status lacks what a condition needs.
    parts = [(WAYS[1], example(home)), (WAYS[1], listed(mine[::2])), (WAYS[2], listed(mine[1::2]))]
    for way, part in parts:
        kubectl(*way, "-f", "-", document=part)
    return parts


def items(part: Manifest) -> list[Manifest]:
    return part.get("items", [part])


def listed(items: list[Manifest]) -> Manifest:
    return {"apiVersion": "v1", "kind": "List", "items": items}


@pytest.mark.parametrize("way", WAYS, ids=" ".join)
def test_every_sample_and_the_example_are_accepted_in_every_way(
    grown: list[tuple[list[str], Manifest]], kubectl: Kubectl, way: list[str]
) -> None:
    for _, part in grown:
        renamed = [{**each, "metadata": _another(each)} for each in items(part)]
        document = listed(renamed) if part["kind"] == "List" else renamed[0]
        kubectl(*way, "--dry-run=server", "-f", "-", document=document)


def _another(document: Manifest) -> dict[str, Any]:
    return {**document["metadata"], "name": f"dry-{document['metadata']['name']}"}


def test_all_samples_and_the_example_become_ready(grown: object, kubectl: Kubectl, home: str) -> None:
    kubectl("wait", "mgc", "--all", "-n", home, "--for=condition=Ready", f"--timeout={READY_SECONDS}s")


def test_a_second_apply_changes_nothing(
    grown: list[tuple[list[str], Manifest]], kubectl: Kubectl, home: str
) -> None:
    kubectl("wait", "mgc", "--all", "-n", home, "--for=condition=Ready", f"--timeout={READY_SECONDS}s")
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


def versions(kubectl: Kubectl, namespace: str) -> dict[str, str]:
    found = kubectl.json("get", "mgc", "-n", namespace)["items"]
    return {each["metadata"]["name"]: each["metadata"]["resourceVersion"] for each in found}


def generations(kubectl: Kubectl, namespace: str) -> dict[str, int]:
    found = kubectl.json("get", "mgc", "-n", namespace)["items"]
    return {each["metadata"]["name"]: each["metadata"]["generation"] for each in found}
