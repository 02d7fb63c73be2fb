"""Programs parsed from command lines of pods, and the records encoded from them."""

import msgspec
import pytest

from steward.kube.objects.meta import ObjectMeta
from steward.multigres.topology.protobuf import DecodedMessage
from steward.multigres.topology.store_records import SHUTDOWN, decode_pooler
from steward.testkit.fake_data_plane.programs import DataPlaneProgram, ShardKey, parse_program
from steward.testkit.fake_data_plane.records import (
    Lifecycle,
    PoolerStatus,
    mark_shut_down,
    pooler_record,
    record_key,
    service_record,
    stale_pooler,
)
from steward.testkit.fake_data_plane.rule import DurabilityPolicy, ServerId, ShardRule
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
RULE = ShardRule(3, 1, ServerId("z1", "pool-0"), frozenset({ServerId("z1", "pool-0")}), DurabilityPolicy())
PRIMARY, REPLICA = PoolerStatus(Lifecycle.ACTIVE, RULE), PoolerStatus(Lifecycle.ACTIVE)


def pod(*args: str, deleted_at: str | None = None) -> PodView:
    return PodView(
        ObjectMeta(
            name="pool-0", uid="u", labels={"multigres.com/pool": "main"}, deletion_timestamp=deleted_at
        ),
        PodSpec((Container(), Container(args))),
        PodStatus("10.0.0.7", READY),
    )


def program(*args: str) -> DataPlaneProgram:
    found = parse_program(pod(*args))
    assert found is not None
    return found


def test_a_pooler_is_parsed_from_its_flags_and_pod() -> None:
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
def test_a_program_without_a_required_flag_is_ignored(missing: str) -> None:
    assert parse_program(pod(*(arg for arg in POOLER if not arg.startswith(missing)))) is None


def test_other_pods_are_ignored() -> None:
    assert parse_program(pod("nginx", "-g", "daemon off;")) is None


def test_a_terminating_pod_is_not_ready() -> None:
    found = parse_program(pod(*POOLER, deleted_at="2026-01-01T00:00:00Z"))
    assert found is not None
    assert (found.is_terminating, found.is_ready) == (True, False)


def test_every_data_plane_pod_that_the_operator_builds_is_parsed() -> None:
    found = []
    for manifest in build_tree():
        template = manifest.get("spec", {}).get("template")
        if template and manifest["kind"] in ("Deployment", "StatefulSet"):
            spec = msgspec.convert(template["spec"], PodSpec)
            view = PodView(
                ObjectMeta(name="p", labels=template["metadata"]["labels"]), spec, PodStatus("10.0.0.7")
            )
            if (parsed := parse_program(view)) is not None:
                found.append((parsed.component, parsed.cell))
    cells = ("z1", "z2", "z3")
    assert sorted(found) == [
        (component, cell) for component in ("multigateway", "multiorch", "multipooler") for cell in cells
    ]


def test_a_pooler_record_has_the_fields_that_the_operator_reads() -> None:
    record = decode_pooler(pooler_record(program(*POOLER), PRIMARY))
    assert record == (
        "z1",
        "pool-0",
        "pool-0.pools.shop.svc.cluster.local",
        "postgres",
        "default",
        "0-inf",
        True,
        2,
        (3, 1),
    )
    key = record_key("/topo", program(*POOLER))
    assert key == "/topo/poolers/multipooler-z1-pool-0/Pooler"


def test_a_pooler_that_shuts_down_keeps_its_record_without_a_role() -> None:
    ended = mark_shut_down(pooler_record(program(*POOLER), PRIMARY))
    assert decode_pooler(ended)._replace(lifecycle=2) == decode_pooler(
        pooler_record(program(*POOLER), REPLICA)
    )._replace(is_primary=False)
    assert (DecodedMessage.decode(ended).number(7), decode_pooler(ended).lifecycle) == (1, SHUTDOWN)


def test_a_gateway_registers_its_address_and_ports() -> None:
    record = DecodedMessage.decode(service_record(program(*GATEWAY)))
    assert record.message(1).number(1) == 2
    assert record.text(2) == "10.0.0.7"
    assert (record.message(3).text(1), record.message(3).number(2)) == ("postgres", 5432)
    assert record_key("/topo", program(*GATEWAY)) == "/topo/gateways/multigateway-z1-pool-0/Gateway"


def test_a_stale_pooler_record_looks_active() -> None:
    record = decode_pooler(stale_pooler("z1", "stale", ShardKey("postgres", "default", "0-inf")))
    assert (record.name, record.lifecycle, record.is_primary) == ("stale", 2, False)
