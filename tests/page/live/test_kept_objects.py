"""Objects that Tenants have left behind."""

from __future__ import annotations

from steward.kube.objects.kinds import CONFIG_MAP, DEPLOYMENT, SECRET, Manifest
from steward.page.live.kept_objects import read_kept_objects
from tests.page.support import sample_objects as sample
from tests.page.support.memory_api import MemoryApi, User

KEPT = {"kubernetes-tenants.org/orphaned": "true"}


def kept(name: str) -> Manifest:
    made = sample.manifest(CONFIG_MAP, name, labels=KEPT)
    made["metadata"]["annotations"] = {
        "kubernetes-tenants.org/orphaned-from": "shop",
        "kubernetes-tenants.org/orphaned-reason": "RemovedFromTemplate",
        "kubernetes-tenants.org/orphaned-at": "2027-01-01T00:00:00Z",
    }
    return made


async def test_kept_objects_are_listed_with_the_sentence_of_the_verbs() -> None:
    api = MemoryApi()
    api.apply(kept("old"), sample.manifest(CONFIG_MAP, "other"))
    found = await read_kept_objects(api.client(), "shop")
    assert [each.object.name for each in found.shown] == ["old"]
    assert found.shown[0].text == (
        "kept after a Tenant of namespace shop (RemovedFromTemplate, 2027-01-01T00:00:00Z)"
    )
    assert found.problems == []


async def test_secrets_are_never_read() -> None:
    api = MemoryApi()
    api.apply(sample.manifest(SECRET, "token", labels=KEPT))
    found = await read_kept_objects(api.client(), "shop")
    assert found.shown == []
    assert not [path for _, path in api.requests if "secrets" in path]


async def test_kinds_that_the_reader_may_not_list_are_named() -> None:
    api = MemoryApi()
    api.users["t"] = User("eve", denied=frozenset({"Deployment"}))
    api.apply(kept("old"), sample.manifest(DEPLOYMENT, "app", labels=KEPT))
    found = await read_kept_objects(api.client("t"), "shop")
    assert [each.object.name for each in found.shown] == ["old"]
    assert [problem.partition(":")[0] for problem in found.problems] == ["Deployment"]
