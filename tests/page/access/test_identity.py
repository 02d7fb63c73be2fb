"""What a reader may see."""

import pytest

from steward.kube.cache.rules import EVERY_NAMESPACE
from steward.kube.errors import Unauthorized
from steward.kube.objects.kinds import POD
from steward.page.access.identity import read_identity, read_scope
from steward.page.inventory.inventory import REGISTRY
from tests.page.support.memory_api import MemoryApi, User


async def test_the_identity_is_that_of_the_token() -> None:
    api = MemoryApi()
    api.users["t"] = User("ada", ("devs", "admins"))
    found = await read_identity(api.client("t"))
    assert (found.user, found.groups) == ("ada", ("admins", "devs"))


async def test_an_unknown_token_is_refused() -> None:
    with pytest.raises(Unauthorized):
        await read_identity(MemoryApi().client("wrong"))


async def test_a_reader_of_everything_watches_all_namespaces() -> None:
    scope = await read_scope(MemoryApi().client(), ())
    assert dict(scope.allowed)[REGISTRY] == (EVERY_NAMESPACE,)
    assert (scope.denied, scope.is_empty) == ((), False)


async def test_a_kind_that_the_reader_may_not_list_is_named() -> None:
    api = MemoryApi()
    api.users["t"] = User(denied=frozenset({"Pod"}))
    scope = await read_scope(api.client("t"), ())
    assert dict(scope.allowed)[POD] == ()
    assert scope.denied == ("You may not list and watch Pod in all namespaces: it is not shown.",)


async def test_a_reader_of_one_namespace_names_it() -> None:
    api = MemoryApi()
    api.users["t"] = User(namespaces=frozenset({"shop"}))
    assert (await read_scope(api.client("t"), ())).is_empty
    scope = await read_scope(api.client("t"), ("other", "shop"))
    assert scope.namespaces == ("shop",)


async def test_a_reader_without_watch_sees_nothing() -> None:
    api = MemoryApi()
    api.users["t"] = User(verbs=frozenset({"list"}))
    assert (await read_scope(api.client("t"), ())).is_empty


async def test_rights_to_kinds_that_are_not_installed_count_too() -> None:
    api = MemoryApi()
    api.unserved = frozenset({"MultigresCluster"})
    api.users["t"] = User(denied=frozenset({"MultigresCluster", "TenantRegistry"}))
    assert (await read_scope(api.client("t"), ())).is_empty
    assert not (await read_scope(api.client(), ())).is_empty
