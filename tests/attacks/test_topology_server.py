"""An external topology server that lies, or an address of one that leads to another service.

The author of a cluster chooses the address, and the operator can reach more of the network than the author. What
answers there must not reach any status, event or log, and must not harm the operator.
"""

import base64
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from steward.local.control_plane import ControlPlane
from steward.multigres.api.kinds import CUSTOM_KINDS
from steward.multigres.topology.protobuf import encode, message_field, number_field, text_field
from tests.attacks.support.process_memory import MIB, peak_bytes, reset_peak, resident_bytes
from tests.etcd.support.hostile_server import (
    CHUNK,
    CHUNKED,
    FOREIGN,
    Behaviour,
    answer_of,
    dripping_answer,
    endless_answer,
    gzip_bomb,
    hostile_server,
    raw_answer,
)
from tests.multigres.support.clusters import conditions, small_cluster
from tests.multigres.support.operator import REAL, remove_finalizers, running_operator
from tests.multigres.support.waiting import eventually
from tests.support import definitions, namespaces
from tests.support.api_server import ApiServer
from tests.support.kubectl import Kubectl

GROWTH_LIMIT = 96 * MIB
"""How much the operator may grow, whatever answers."""
HEADER = {"cluster_id": "1", "member_id": "1", "revision": "9", "raft_term": "2"}


class AttackedOperator(NamedTuple):
    process: subprocess.Popen[bytes]
    kubectl: Kubectl
    namespace: str
    log: Path

    def create_cluster(self, name: str, url: str) -> None:
        external = {"endpoints": [url]}
        manifest = small_cluster(self.namespace, name, globalTopoServer={"external": external})
        self.kubectl("create", "-f", "-", document=manifest)

    def wait_unregistered(self, name: str) -> Any:
        def condition() -> Any:
            found = conditions(self.kubectl, self.namespace, name).get("TopologyRegistered")
            return found if found and found["status"] == "False" else None

        return eventually(condition, "the cluster to report that it is not registered")

    def reported_texts(self) -> str:
        kinds = ",".join(f"{custom.plural}.{custom.group}" for custom in CUSTOM_KINDS)
        objects = self.kubectl("get", f"{kinds},events", "-n", self.namespace, "-o", "json")
        return objects + self.log.read_text()


@pytest.fixture(scope="module")
def operator(
    control_plane: ControlPlane, api_server: ApiServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[AttackedOperator]:
    kubectl = Kubectl(control_plane.kubeconfig)
    definitions.install_crds(control_plane, kubectl, CUSTOM_KINDS)
    namespace = namespaces.create_namespace(api_server)
    log = tmp_path_factory.mktemp("operator") / "operator.log"
    with running_operator(control_plane, namespace, log, periods=REAL) as process:
        yield AttackedOperator(process, kubectl, namespace, log)
    remove_finalizers(kubectl, namespace)
    namespaces.release_namespace(api_server, namespace)


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.mark.parametrize(
    ("name", "behaviour", "message"),
    [
        ("words", answer_of(FOREIGN.encode()), "its answer is not the JSON that etcd's gateway sends"),
        ("error", answer_of(FOREIGN.encode(), "403 Forbidden"), "it answers with status 403"),
        ("banner", raw_answer(f"SSH-2.0-{FOREIGN}\r\n".encode()), "its answer is not valid HTTP"),
        (
            "keyless",
            answer_of(json.dumps({"header": HEADER, "kvs": [{}]}).encode()),
            "its answer is not the JSON that etcd's gateway sends",
        ),
        (
            "deep",
            answer_of(b'{"kvs":' + b"[" * 100_000),
            "its answer is not the JSON that etcd's gateway sends",
        ),
        ("endless", endless_answer(CHUNKED, CHUNK), "its answer (200) is longer than 2097152 bytes"),
        ("drip", dripping_answer(CHUNKED, b"1\r\n \r\n", 0.1), "no answer within 5 s"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isalpha() else "",
)
def test_what_answers_is_reported_in_our_own_words(
    operator: AttackedOperator, name: str, behaviour: Behaviour, message: str
) -> None:
    with hostile_server(behaviour) as server:
        operator.create_cluster(name, server.url)
        found = operator.wait_unregistered(name)
    assert f"{server.url}: {message}" in found["message"]
    assert FOREIGN not in operator.reported_texts()
    assert "Traceback" not in operator.log.read_text()


def test_a_compressed_answer_does_not_grow_the_operator(operator: AttackedOperator) -> None:
    reset_peak(operator.process.pid)
    before = resident_bytes(operator.process.pid)
    bomb = answer_of(gzip_bomb(1 << 30), "200 OK", "Content-Encoding: gzip")
    with hostile_server(bomb) as server:
        operator.create_cluster("bomb", server.url)
        assert operator.wait_unregistered("bomb")["reason"] == "TopologyAnswerInvalid"
    assert peak_bytes(operator.process.pid) - before < GROWTH_LIMIT


def test_a_redirect_does_not_lead_the_operator_to_another_address(operator: AttackedOperator) -> None:
    with hostile_server(answer_of(FOREIGN.encode())) as inner:
        redirect = answer_of(b"", "307 Temporary Redirect", f"Location: {inner.url}/latest/meta-data")
        with hostile_server(redirect) as server:
            operator.create_cluster("redirect", server.url)
            found = operator.wait_unregistered("redirect")
    assert "it answers with a redirect (307), which is not followed" in found["message"]
    assert inner.requests == []


def test_the_request_carries_no_credentials_and_no_name_but_the_keys(operator: AttackedOperator) -> None:
    with hostile_server(answer_of(b"{}")) as server:
        operator.create_cluster("plain", server.url)
        operator.wait_unregistered("plain")
    for request in server.requests:
        head, _, body = request.partition(b"\r\n\r\n")
        names = {line.partition(b":")[0].lower() for line in head.split(b"\r\n")[1:]}
        assert names <= {
            b"host",
            b"content-type",
            b"accept",
            b"accept-encoding",
            b"user-agent",
            b"content-length",
        }
        asked = json.loads(body)
        prefix = f"/multigres/{operator.namespace}/plain/global/"
        assert base64.b64decode(asked["key"]).decode().startswith(prefix)


def test_the_text_of_a_record_does_not_reach_a_status(operator: AttackedOperator) -> None:
    """The server accepts every write, and its only pooler reports a primary in a cell of an unknown name."""

    async def lie(writer: Any) -> None:
        root = f"/multigres/{operator.namespace}/liar/global/"
        folder = base64.b64decode(json.loads(server.requests[-1].partition(b"\r\n\r\n")[2]).get("key", ""))
        pooler = {"key": encoded(f"{root}poolers/x".encode()), "value": encoded(POOLER), "mod_revision": "3"}
        kvs = [pooler] if folder.endswith(b"/poolers/") else []
        await answer_of(json.dumps({"header": HEADER, "kvs": kvs, "succeeded": True}).encode())(writer)

    with hostile_server(lie) as server:
        operator.create_cluster("liar", server.url)
        eventually(
            lambda: (
                conditions(operator.kubectl, operator.namespace, "liar")
                .get("TopologyRegistered", {})
                .get("status")
                == "True"
            ),
            "the cluster to be registered",
        )
    assert FOREIGN not in operator.reported_texts()


POOLER = encode(
    [
        message_field(1, [*text_field(2, FOREIGN), *text_field(3, "liar-main-0")]),
        message_field(2, [*text_field(1, "postgres"), *text_field(2, "default"), *text_field(3, "0-inf")]),
        *text_field(8, FOREIGN),
        message_field(13, number_field(1, 1)),
    ]
)
