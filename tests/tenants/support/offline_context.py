"""A TenantsContext without a server: empty stores, and an executor of the test's own."""

from collections.abc import Collection
from types import SimpleNamespace
from typing import Any

from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.clock import SystemClock
from steward.kube.objects.kinds import Kind
from steward.kube.transport.server_time import ServerTime
from steward.runtime.manager.settings import Settings
from steward.tenants.controllers.common.context import TenantsContext


def offline_context(executor: Any, unlisted: Collection[Kind] = ()) -> TenantsContext:
    """`unlisted`: kinds whose objects are not listed yet, as in the first seconds of a process."""
    stores: dict[Kind, Store[Any]] = {}

    def store(rule: CacheRule[Any]) -> Store[Any]:
        if rule.kind not in stores:
            stores[rule.kind] = Store(rule)
            if rule.kind not in unlisted:
                finish_lists(stores[rule.kind])
        return stores[rule.kind]

    connection = SimpleNamespace(
        clock=SystemClock(), server_time=ServerTime(SystemClock()), operator_namespace=""
    )
    manager: Any = SimpleNamespace(
        client=None, connection=connection, executor=lambda _: executor, store=store, leadership_term=1
    )
    return TenantsContext(manager, Settings())


def finish_lists(store: Store[Any]) -> None:
    for scope in range(len(store.scopes)):
        store.finish_list(scope, set(), "0")
