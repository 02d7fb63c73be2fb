"""Both operators under a real limit of 256 MiB, through every attack on memory: they reject it, live, and reconcile.

The limit ends a process that exceeds it, as a kubelet would have it, so each test ends by asking the operator for work.
"""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from steward.local.control_plane import ControlPlane
from steward.multigres.api.kinds import CUSTOM_KINDS as MULTIGRES_KINDS
from steward.tenants.api.kinds import CUSTOM_KINDS as TENANT_KINDS
from tests.attacks.support import hostile_mysql, hostile_postgres
from tests.attacks.support.attacked_operator import AttackedOperator, attacked_operator
from tests.attacks.support.hostile_clients import open_tls, post_header, send_slow_body, status
from tests.attacks.support.hostile_server import hostile_server as hostile_database
from tests.attacks.support.limited_tenants import LimitedTenants, hostile_registry, limited_tenants
from tests.attacks.support.memory_limit import memory_limit
from tests.attacks.support.process_memory import MIB
from tests.etcd.support.hostile_server import (
    CHUNK,
    CHUNKED,
    Behaviour,
    answer_of,
    endless_answer,
    gzip_bomb,
    hostile_server,
)
from tests.multigres.support.clusters import cluster, conditions, small_cluster
from tests.multigres.support.large_clusters import product_spec
from tests.multigres.support.operator import REAL, remove_finalizers, running_operator
from tests.multigres.support.waiting import eventually
from tests.support import definitions, namespaces
from tests.support.api_server import ApiServer
from tests.support.kubectl import Kubectl
from tests.tenants.support.manifests import resource, template

pytestmark = pytest.mark.timeout(1200)

LIMIT = 256 * MIB
WEBHOOK = "/mutate-multigres-com-v1alpha1-multigrescluster"


@pytest.fixture(scope="module")
def kubectl(control_plane: ControlPlane) -> Kubectl:
    found = Kubectl(control_plane.kubeconfig)
    definitions.install_crds(control_plane, found, (*MULTIGRES_KINDS, *TENANT_KINDS))
    return found


@pytest.fixture(scope="module")
def multigres_namespace(api_server: ApiServer, kubectl: Kubectl) -> Iterator[str]:
    name = namespaces.create_namespace(api_server)
    yield name
    remove_finalizers(kubectl, name)
    namespaces.release_namespace(api_server, name)


@pytest.fixture(scope="module")
def multigres(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    multigres_namespace: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[AttackedOperator]:
    directory = tmp_path_factory.mktemp("multigres")
    with (
        memory_limit(LIMIT) as launcher,
        attacked_operator(control_plane, kubectl, multigres_namespace, directory, launcher) as found,
    ):
        yield found


@pytest.fixture(scope="module")
def tenants(
    control_plane: ControlPlane, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LimitedTenants]:
    directory = tmp_path_factory.mktemp("tenants")
    with limited_tenants(control_plane, kubectl, directory, LIMIT) as found:
        yield found


def test_the_limit_ends_a_process_that_exceeds_it() -> None:
    take = f"held = bytearray({2 * LIMIT}); held[::4096] = bytes(len(held[::4096])); print('lived')"
    with memory_limit(LIMIT) as launcher:
        done = subprocess.run(
            [*launcher, sys.executable, "-c", take], capture_output=True, check=False, timeout=300
        )
        small = subprocess.run(
            [*launcher, sys.executable, "-c", "print('lived')"], capture_output=True, check=False, timeout=300
        )
    assert (done.returncode != 0, done.stdout, small.stdout) == (True, b"", b"lived\n")


def assert_creates_children(
    kubectl: Kubectl, namespace: str, name: str, process: subprocess.Popen[bytes]
) -> None:
    """A new cluster gets its cell, by the same process."""
    kubectl("create", "-f", "-", document=small_cluster(namespace, name))

    def cells() -> Any:
        found = kubectl.json("get", "cells", "-n", namespace)["items"]
        return process.poll() is not None or [
            cell for cell in found if cell["metadata"]["labels"]["multigres.com/cluster"] == name
        ]

    eventually(cells, f"a cell of {name}")
    assert process.poll() is None, "the operator has died"


async def test_bodies_of_reviews_that_never_end(multigres: AttackedOperator) -> None:
    streams = [await open_tls(multigres.ports.webhooks, f"127.0.1.{number % 9}") for number in range(120)]
    await asyncio.gather(*(send_slow_body(stream, WEBHOOK, 8 * MIB, MIB // 10) for stream in streams))
    assert await asyncio.to_thread(multigres.review_problem) == ""
    await asyncio.to_thread(
        assert_creates_children, multigres.kubectl, multigres.namespace, "after-bodies", multigres.process
    )


@pytest.mark.parametrize("value", [b"[]", b'{"a":1}', b'"\\ud83d\\ude00"', b"[[[[[[]]]]]]"])
async def test_reviews_of_many_small_values(multigres: AttackedOperator, value: bytes) -> None:
    """Reviews that fit the budget just so, many at once, from several clients."""
    values = b",".join([value] * (100_000 // len(value)))
    body = b'{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u",'
    body += (
        b'"operation":"CREATE","kind":{"kind":"MultigresCluster"},"object":{"spec":{"cells":['
        + values
        + b"]}}}}"
    )
    sent = post_header(WEBHOOK, f"Content-Length: {len(body)}") + body

    streams = [await open_tls(multigres.ports.webhooks, f"127.0.1.{number % 9}") for number in range(40)]
    for stream in streams:
        await stream.send(sent)
    answers = await asyncio.gather(*(stream.first_line() for stream in streams))
    for stream in streams:
        stream.abort()
    assert {status(answer) for answer in answers} <= {b"200", b"413", b"429", b"500", b""}
    assert await asyncio.to_thread(multigres.review_problem) == ""


@pytest.mark.parametrize("numbers", [(49, 4, 8, 50), (50, 19, 7, 1), (20, 1, 32, 6)], ids=str)
def test_a_spec_whose_lists_multiply_is_reviewed(
    multigres: AttackedOperator, numbers: tuple[int, int, int, int]
) -> None:
    huge = cluster(multigres.namespace, "huge", **product_spec(*numbers))
    for _ in range(3):
        multigres.kubectl.run("create", "--dry-run=server", "-f", "-", document=huge)
    assert multigres.review_problem() == ""
    assert multigres.process.poll() is None


@pytest.fixture(scope="module")
def unchecked(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    api_server: ApiServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A multigres operator without webhooks: nothing checks a cluster before it is stored."""
    namespace = namespaces.create_namespace(api_server)
    log = tmp_path_factory.mktemp("unchecked") / "operator.log"
    with (
        memory_limit(LIMIT) as launcher,
        running_operator(control_plane, namespace, log, launcher, periods=REAL) as process,
    ):
        yield process, namespace
        remove_finalizers(kubectl, namespace)
    namespaces.release_namespace(api_server, namespace)


@pytest.mark.parametrize("numbers", [(49, 4, 8, 50), (50, 19, 7, 1)], ids=["huge-30", "huge-128"])
def test_a_stored_spec_whose_lists_multiply_is_reconciled(
    kubectl: Kubectl,
    unchecked: tuple[subprocess.Popen[bytes], str],
    numbers: tuple[int, int, int, int],
    request: pytest.FixtureRequest,
) -> None:
    process, namespace = unchecked
    name = request.node.callspec.id
    kubectl("create", "-f", "-", document=cluster(namespace, name, **product_spec(*numbers)))
    eventually(lambda: "Stalled" in conditions(kubectl, namespace, name) or process.poll(), "a Stalled")
    assert_creates_children(kubectl, namespace, f"after-{name}", process)


@pytest.mark.parametrize(
    ("name", "behaviour"),
    [
        ("gzip", answer_of(gzip_bomb(1 << 30), "200 OK", "Content-Encoding: gzip")),
        ("endless", endless_answer(CHUNKED, CHUNK)),
        ("deep", answer_of(b'{"kvs":' + b"[" * 100_000)),
        ("keys", answer_of(b'{"kvs":[' + b",".join([b'{"key":"YQ=="}'] * 120_000) + b"]}")),
    ],
    ids=["gzip", "endless", "deep", "keys"],
)
def test_an_external_topology_server_that_sends_too_much(
    kubectl: Kubectl, unchecked: tuple[subprocess.Popen[bytes], str], name: str, behaviour: Behaviour
) -> None:
    process, namespace = unchecked
    with hostile_server(behaviour) as server:
        external = {"external": {"endpoints": [server.url]}}
        kubectl("create", "-f", "-", document=small_cluster(namespace, name, globalTopoServer=external))
        eventually(
            lambda: "TopologyRegistered" in conditions(kubectl, namespace, name) or process.poll(),
            "a condition",
        )
    assert_creates_children(kubectl, namespace, f"after-{name}", process)


@pytest.mark.parametrize(
    ("kind", "attack"),
    [
        ("mysql", "endless_row"),
        ("mysql", "endless_rows"),
        ("mysql", "endless_tiny_rows"),
        ("postgres", "endless_row"),
        ("postgres", "endless_rows"),
        ("postgres", "endless_settings"),
    ],
)
def test_a_database_server_that_sends_too_much(tenants: LimitedTenants, kind: str, attack: str) -> None:
    scripts = hostile_mysql.ATTACKS if kind == "mysql" else hostile_postgres.ATTACKS
    with hostile_database(scripts[attack]) as server:
        tenants.world.apply(hostile_registry(kind, server.port))
        assert tenants.until_ready_is_false("hostile")
        tenants.assert_reconciles()
        tenants.world.kubectl("delete", "tenantregistry", "hostile")


def test_rows_with_values_of_many_megabytes(tenants: LimitedTenants) -> None:
    large = "https://" + "\U0001f4a5" * 2_000_000
    for number in range(20):
        tenants.customers.run("INSERT INTO customers VALUES (?, ?, '1', '')", f"large{number}", large)
    tenants.assert_reconciles()
    tenants.customers.run("DELETE FROM customers WHERE id LIKE 'large%'")
    tenants.assert_reconciles()


@pytest.mark.parametrize(
    ("name", "hostile"),
    [
        ("repeat", '{{ repeat 100000000 "x" }}'),
        ("nested", "{{ range until 100000 }}{{ range until 100000 }}x{{ end }}{{ end }}"),
        ("doubled", '{{ $x := "xxxxxxxxxxxxxxxx" }}' + "{{ $x = cat $x $x }}" * 40 + "{{ $x }}"),
        ("printf", '{{ printf "%1000000000d" 1 }}'),
    ],
)
def test_a_template_that_takes_memory(tenants: LimitedTenants, name: str, hostile: str) -> None:
    spec = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"value": hostile}}
    attack = resource("attack", nameTemplate=f"{{{{ .uid }}}}-{name}", spec=spec)
    tenants.world.apply(template(name, configMaps=[attack]))
    tenants.assert_reconciles()
    # Its Tenants stay: the deletion guard holds the deletion of so many at once.
    tenants.world.kubectl("delete", "tenanttemplate", name, "--wait=false")
    tenants.assert_reconciles()
