"""What the stand-in reads from a pod's command line, and the records that it makes of it."""

import msgspec
import pytest

from steward.kube.objects.meta import ObjectMeta
from steward.multigres.topology.protobuf import Record
from steward.multigres.topology.store_records import SHUTDOWN, decode_pooler
from steward.testkit.fake_data_plane import ANNOTATION, Misbehaviour
from steward.testkit.fake_data_plane.faults import read
from steward.testkit.fake_data_plane.programs import Program, ShardKey, program_of
from steward.testkit.fake_data_plane.records import (
    Role,
    pooler_record,
    record_key,
    service_record,
    shut_down,
    stale_pooler,
)
from steward.testkit.fake_data_plane.views import Container, PodCondition, PodSpec, PodStatus, PodView
from tests.multigres.support.tree import build_tree

TOPO = ("--topo-global-server-addresses=a:2379,b:2379", "--topo-global-root=/multigres/global")
POOLER = (
    "multipooler",
    *TOPO,
    "--cell=z1",
    "--database=postgres",
    "--table-group=default",
    "--shard=0-inf",
    "--service-id=$(POD_NAME)",
    "--hostname=$(POD_NAME).pools.shop.svc.cluster.local",
    "--grpc-port=15270",
)
GATEWAY = (
    "multigateway",
    *TOPO,
    "--cell=z1",
    "--service-id=$(POD_NAME)",
    "--hostname=$(POD_IP)",
    "--pg-port=5432",
)
READY = (PodCondition("Ready", "True"),)


def pod(*args: str, leaving: str | None = None) -> PodView:
    return PodView(
        ObjectMeta(name="pool-0", uid="u", labels={"multigres.com/pool": "main"}, deletion_timestamp=leaving),
        PodSpec((Container(), Container(args))),
        PodStatus("10.0.0.7", READY),
    )


def program(*args: str) -> Program:
    found = program_of(pod(*args))
    assert found is not None
    return found


def test_a_pooler_is_known_by_its_flags_and_where_it_runs() -> None:
    found = program(*POOLER)
    assert (found.component, found.cell, found.service_id, found.pool) == (
        "multipooler",
        "z1",
        "pool-0",
        "main",
    )
    assert found.shard == ShardKey("postgres", "default", "0-inf")
    assert (found.addresses, found.root) == (("a:2379", "b:2379"), "/multigres/global")
    assert found.is_ready


@pytest.mark.parametrize("missing", ["--cell", "--service-id", "--hostname", "--topo-global-root"])
def test_a_program_that_lacks_a_flag_would_not_start(missing: str) -> None:
    assert program_of(pod(*(arg for arg in POOLER if not arg.startswith(missing)))) is None


def test_other_pods_run_nothing_of_the_data_plane() -> None:
    assert program_of(pod("nginx", "-g", "daemon off;")) is None


def test_a_pod_that_is_told_to_end_is_not_ready_any_more() -> None:
    found = program_of(pod(*POOLER, leaving="2026-01-01T00:00:00Z"))
    assert found is not None
    assert (found.is_leaving, found.is_ready) == (True, False)


def test_every_data_plane_pod_that_steward_builds_is_understood() -> None:
    found = []
    for manifest in build_tree():
        template = manifest.get("spec", {}).get("template")
        if template and manifest["kind"] in ("Deployment", "StatefulSet"):
            spec = msgspec.convert(template["spec"], PodSpec)
            view = PodView(
                ObjectMeta(name="p", labels=template["metadata"]["labels"]), spec, PodStatus("10.0.0.7")
            )
            if (known := program_of(view)) is not None:
                found.append((known.component, known.cell))
    cells = ("z1", "z2", "z3")
    assert sorted(found) == [
        (component, cell) for component in ("multigateway", "multiorch", "multipooler") for cell in cells
    ]


def test_a_poolers_record_says_what_steward_reads_in_it() -> None:
    record = decode_pooler(pooler_record(program(*POOLER), Role.PRIMARY))
    assert record == (
        "z1",
        "pool-0",
        "pool-0.pools.shop.svc.cluster.local",
        "postgres",
        "default",
        "0-inf",
        True,
        2,
    )
    key = record_key("/topo", program(*POOLER))
    assert key == "/topo/poolers/multipooler-z1-pool-0/Pooler"


def test_a_pooler_that_shut_down_keeps_everything_but_its_state() -> None:
    ended = shut_down(pooler_record(program(*POOLER), Role.PRIMARY))
    assert decode_pooler(ended)._replace(lifecycle=2) == decode_pooler(
        pooler_record(program(*POOLER), Role.PRIMARY)
    )
    assert (Record.of(ended).number(7), decode_pooler(ended).lifecycle) == (1, SHUTDOWN)


def test_a_gateway_registers_its_address_and_ports() -> None:
    record = Record.of(service_record(program(*GATEWAY)))
    assert record.message(1).number(1) == 2
    assert record.text(2) == "10.0.0.7"
    assert (record.message(3).text(1), record.message(3).number(2)) == ("postgres", 5432)
    assert record_key("/topo", program(*GATEWAY)) == "/topo/gateways/multigateway-z1-pool-0/Gateway"


def test_a_stale_pooler_seems_to_serve() -> None:
    record = decode_pooler(stale_pooler("z1", "stale", ShardKey("postgres", "default", "0-inf")))
    assert (record.name, record.lifecycle, record.is_primary) == ("stale", 2, False)


def test_an_annotation_asks_for_misbehaviour_and_unknown_words_are_given_back() -> None:
    assert read({}) == (frozenset(), [])
    asked, unknown = read({ANNOTATION: "silent-etcd, no-primary,nonsense"})
    assert asked == {Misbehaviour.SILENT_ETCD, Misbehaviour.NO_PRIMARY}
    assert unknown == ["nonsense"]
