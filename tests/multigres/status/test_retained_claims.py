"""Which volume claims a cluster reports as kept and not used."""

import msgspec

from steward.kube.objects.meta import ObjectMeta, OwnerReference
from steward.multigres import names
from steward.multigres.api.cluster_status import MultigresClusterStatus
from steward.multigres.names import ShardPath
from steward.multigres.status.retained_claims import cluster_claims

SHARD = names.shard(ShardPath("mini", "postgres", "default", "0-inf"))
NO_SHARDS: dict[str, list[str]] = {}
SHARD_LABELS = {
    "multigres.com/cluster": "mini",
    "multigres.com/database": "postgres",
    "multigres.com/tablegroup": "default",
    "multigres.com/shard": "0-inf",
}


def claim(name: str, **fields: object) -> ObjectMeta:
    return ObjectMeta(name=name, labels=SHARD_LABELS, **fields)  # type: ignore[arg-type]


def of_server(name: str, server: str) -> ObjectMeta:
    labels = {"multigres.com/cluster": "mini", "multigres.com/toposerver": server}
    return ObjectMeta(name=name, labels=labels)


def test_claims_of_a_shard_that_is_gone_are_listed_by_name() -> None:
    assert cluster_claims([claim("b"), claim("a")], NO_SHARDS.get, ()) == ["a", "b"]


def test_of_an_existing_shard_only_claims_that_it_lists_itself() -> None:
    shards = {SHARD: ["kept"]}
    assert cluster_claims([claim("used"), claim("kept")], shards.get, ()) == ["kept"]


def test_claims_of_a_topology_server_are_listed_when_it_is_gone() -> None:
    claims = [of_server("data-old-0", "old"), of_server("data-mini-global-topo-0", "mini-global-topo")]
    assert cluster_claims(claims, NO_SHARDS.get, {"mini-global-topo"}) == ["data-old-0"]


def test_claims_that_are_being_deleted_are_not_listed() -> None:
    owned = claim("owned", owner_references=(OwnerReference(kind="StatefulSet"),))
    ending = claim("ending", deletion_timestamp="2027-01-15T08:00:00Z")
    assert cluster_claims([owned, ending], NO_SHARDS.get, ()) == []


def test_a_claim_without_the_labels_of_a_shard_is_not_listed() -> None:
    assert (
        cluster_claims(
            [ObjectMeta(name="other", labels={"multigres.com/cluster": "mini"})], NO_SHARDS.get, ()
        )
        == []
    )


def test_the_list_is_as_long_as_the_schema_allows() -> None:
    claims = [claim(f"c{number:03}") for number in range(205)]
    found = cluster_claims(claims, NO_SHARDS.get, ())
    assert found == [f"c{number:03}" for number in range(200)]
    schema = msgspec.json.schema(MultigresClusterStatus)["$defs"]["MultigresClusterStatus"]["properties"]
    assert schema["retainedClaims"]["maxItems"] == len(found)
