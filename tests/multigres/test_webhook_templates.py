"""Templates are decoded and read one by one, as a review needs them."""

import json
from typing import Any, cast

import pytest

from steward.kube.cache.store import Store
from steward.kube.client.client import Client, ListQuery
from steward.kube.objects.kinds import Kind
from steward.multigres import webhook_templates
from steward.multigres.cache_rules import CELL_TEMPLATE, CORE_TEMPLATE, SHARD_TEMPLATE, MultigresCacheRules
from steward.multigres.resolution.template_refs import TemplateKey
from steward.multigres.webhook_templates import (
    MAX_LIVE_READS,
    CachedTemplates,
    TemplateContents,
    decode_content,
    with_content,
    with_live_contents,
)


class CountingClient:
    """Has no template; counts the lists."""

    def __init__(self) -> None:
        self.queries: list[ListQuery] = []

    async def list(self, kind: Kind, query: ListQuery, view: type[Any]) -> Any:
        self.queries.append(query)
        return type("Listing", (), {"items": []})()


@pytest.fixture
def store() -> Store[Any]:
    """With 300 ShardTemplates, one of which cannot be decoded."""
    made: Store[Any] = Store(MultigresCacheRules("").shard_template)
    for number in range(300):
        metadata = {"name": f"t{number}", "namespace": "ns", "uid": str(number), "resourceVersion": "1"}
        spec = {"pools": "wrong"} if number == 7 else {"pools": {"main": {"replicasPerCell": number % 30}}}
        kind = {"apiVersion": SHARD_TEMPLATE.api_version, "kind": SHARD_TEMPLATE.kind}
        made.observe_write(json.dumps({**kind, "metadata": metadata, "spec": spec}).encode())
    return made


@pytest.fixture
def contents(store: Store[Any]) -> TemplateContents:
    return {
        CORE_TEMPLATE: {},
        CELL_TEMPLATE: {},
        SHARD_TEMPLATE: CachedTemplates(SHARD_TEMPLATE, store, "ns"),
    }


def test_only_the_templates_that_are_looked_up_are_decoded(
    contents: TemplateContents, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded: list[object] = []

    def counting(kind: Kind, spec: Any) -> Any:
        decoded.append(spec)
        return decode_content(kind, spec)

    monkeypatch.setattr(webhook_templates, "decode_content", counting)
    shards = contents[SHARD_TEMPLATE]
    assert shards["t1"].pools["main"].replicas_per_cell == 1
    assert "t1" in shards
    assert "absent" not in shards
    assert len(decoded) == 1


def test_a_template_that_cannot_be_decoded_is_absent(contents: TemplateContents) -> None:
    assert "t7" not in contents[SHARD_TEMPLATE]
    assert len(contents[SHARD_TEMPLATE]) == 299


def test_one_review_sees_one_state_of_a_template(store: Store[Any], contents: TemplateContents) -> None:
    assert "later" not in contents[SHARD_TEMPLATE]
    metadata = {"name": "later", "namespace": "ns", "uid": "l", "resourceVersion": "2"}
    kind = {"apiVersion": SHARD_TEMPLATE.api_version, "kind": SHARD_TEMPLATE.kind}
    store.observe_write(json.dumps({**kind, "metadata": metadata, "spec": {}}).encode())
    assert "later" not in contents[SHARD_TEMPLATE]


def test_added_content_hides_the_cached_one(contents: TemplateContents) -> None:
    changed = with_content(contents, SHARD_TEMPLATE, {"t1": "new"})
    assert changed[SHARD_TEMPLATE]["t1"] == "new"
    assert changed[SHARD_TEMPLATE]["t2"].pools["main"].replicas_per_cell == 2
    assert contents[SHARD_TEMPLATE]["t1"] != "new"


async def test_only_referenced_templates_that_the_cache_lacks_are_read_and_only_so_many(
    contents: TemplateContents,
) -> None:
    client = CountingClient()
    keys = [TemplateKey("ShardTemplate", f"t{number}") for number in range(5000)]
    keys.append(TemplateKey("ShardTemplate", "a,metadata.name!=b"))
    await with_live_contents(cast(Client, client), "ns", contents, keys)
    assert 0 < len(client.queries) <= MAX_LIVE_READS
    assert all(query.field_selector.startswith("metadata.name=t") for query in client.queries)
    assert "metadata.name=t1" not in [query.field_selector for query in client.queries]
