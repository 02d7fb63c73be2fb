"""Search over all objects."""

from steward.page.inventory.snapshot import take_first_snapshot
from steward.page.models.search import MOST, search
from tests.page.support import sample_objects as sample
from tests.page.support.snapshots import inventory_of, snapshot_of


def found(query: str) -> list[tuple[str, str, str]]:
    hits = search(snapshot_of(*sample.sample()), query).hits
    return [(hit.object.kind, hit.object.name, hit.object.href) for hit in hits]


def test_a_whole_name_is_first() -> None:
    assert found("db")[0] == ("MultigresCluster", "db", "/cluster/shop/db")


def test_a_part_links_to_the_view_of_what_it_belongs_to() -> None:
    assert ("Shard", "db-postgres-default-0-8", "/cluster/shop/db") in found("shard 0-8")


def test_every_word_must_match() -> None:
    assert [name for _, name, _ in found("tenant acme web")] == ["acme-web"]


def test_a_template_links_to_its_registry() -> None:
    assert ("TenantTemplate", "web", "/registry/shop/customers?template=web") in found("web")


def test_an_empty_query_finds_nothing() -> None:
    assert found("  ") == []


def test_the_number_of_hits_is_limited() -> None:
    tenants = [sample.tenant(f"t{number:03}") for number in range(MOST * 2)]
    assert len(search(snapshot_of(sample.registry(), *tenants), "t0").hits) == MOST


def test_a_search_says_that_objects_are_still_being_read() -> None:
    result = search(take_first_snapshot(inventory_of(*sample.sample()), 1), "db")
    assert (result.hits[0].object.name, result.is_reading) == ("db", True)
    assert search(snapshot_of(*sample.sample()), "db").is_reading is False
