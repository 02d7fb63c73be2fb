"""Generated names. They must never change, because running clusters have objects with these names."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.multigres import names
from steward.multigres.names import OBJECT, POD, SERVICE, STATEFUL_SET, NameLimit, ShardPath, join_name

FIFTY = NameLimit(50, OBJECT.first)
PATH = ShardPath("inline", "postgres", "default", "0-inf")


@pytest.mark.parametrize(
    ("limit", "parts", "name"),
    [
        (OBJECT, ("hello", "world"), "hello-world-344ce285"),
        (OBJECT, ("production", "mydb", "default"), "production-mydb-default-5c6a71f9"),
        (
            POD,
            ("minimal", "postgres", "default", "0-inf", "pool", "default", "zone-a"),
            "minimal-postgres-default-0-inf-pool-default-zone-a-a3a0d77b",
        ),
        (OBJECT, ("inline", "z1"), "inline-z1-42ad6e9b"),
        (OBJECT, ("inline", "postgres", "default"), "inline-postgres-default-c1e5b08e"),
        (OBJECT, ("inline", "postgres", "default", "0-inf"), "inline-postgres-default-0-inf-6245c788"),
        (OBJECT, ("inline", "z1", "multigateway"), "inline-z1-multigateway-76752f56"),
        (SERVICE, ("inline", "z1", "multigateway"), "inline-z1-multigateway-76752f56"),
        (
            STATEFUL_SET,
            ("inline", "postgres", "default", "0-inf", "pool", "main", "z1"),
            "inline-postgres-default-0-inf-pool-main-z1-168f1440",
        ),
        (
            POD,
            ("production-cluster-eu", "postgres", "default", "0-inf", "pool", "primary", "us-east-1a"),
            "production-cluster-eu-postgres-default-0-inf-pool---590df51f",
        ),
        (OBJECT, ("production-db", "app", "sales"), "production-db-app-sales-65082600"),
        (OBJECT, ("production", "db-app", "sales"), "production-db-app-sales-72af7aea"),
        (
            FIFTY,
            ("really-really-ridiculously-long-inputs-are-truncated",),
            "really-really-ridiculously-long-inputs----ff6dd618",
        ),
        (
            FIFTY,
            ("-disallowed first chars", "-are prefixed"),
            "x-disallowed-first-chars--are-prefixed-da7026e5",
        ),
    ],
)
def test_a_path_gives_the_name_that_running_clusters_already_have(
    limit: NameLimit, parts: tuple[str, ...], name: str
) -> None:
    assert join_name(limit, *parts) == name


def test_no_parts_give_no_name() -> None:
    assert join_name(OBJECT) == ""


@given(
    st.lists(st.text(min_size=1, max_size=40), min_size=1, max_size=7),
    st.sampled_from([OBJECT, SERVICE, STATEFUL_SET]),
)
def test_every_name_is_valid_in_kubernetes(parts: list[str], limit: NameLimit) -> None:
    name = join_name(limit, *parts)
    assert len(name) <= limit.length
    assert name[0] in limit.first
    assert set(name) <= set(string.ascii_lowercase + string.digits + "-")
    assert name[-1] != "-"


def test_singletons_have_no_hash() -> None:
    assert names.global_topo("inline") == "inline-global-topo"
    assert names.multiadmin_web("inline") == "inline-multiadmin-web"


def test_an_underscore_and_a_hyphen_give_different_names() -> None:
    assert names.shard(PATH._replace(database="a_b")) != names.shard(PATH._replace(database="a-b"))


def test_two_truncated_names_differ() -> None:
    first = names.pool(PATH._replace(cluster="c" * 30), "main", "us-east-1a")
    second = names.pool(PATH._replace(cluster="c" * 30), "main", "us-east-1b")
    assert len(first) == len(second) == 52
    assert first != second
