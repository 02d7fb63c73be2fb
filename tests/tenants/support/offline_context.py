"""A TenantsContext without a server: empty stores, and an executor of the test's own."""

from types import SimpleNamespace
from typing import Any

from steward.kube.cache.rules import CacheRule
from steward.kube.cache.store import Store
from steward.kube.clock import SystemClock
from steward.kube.transport.server_time import ServerTime
from steward.runtime.manager.settings import Settings
from steward.tenants.controllers.common.context import TenantsContext


def offline_context(executor: Any) -> TenantsContext:
    stores: dict[Any, Store[Any]] = {}

    def store(rule: CacheRule[Any]) -> Store[Any]:
        return stores.setdefault(rule.kind, Store(rule))

    connection = SimpleNamespace(
        clock=SystemClock(), server_time=ServerTime(SystemClock()), operator_namespace=""
    )
    manager: Any = SimpleNamespace(
        client=None, connection=connection, executor=lambda _: executor, store=store, leadership_term=1
    )
    return TenantsContext(manager, Settings())
