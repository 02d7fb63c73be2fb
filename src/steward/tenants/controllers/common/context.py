"""The dependencies that the tenants controllers share."""

from functools import cached_property

from steward.runtime.manager.context import ControllerContext
from steward.runtime.manager.manager import Manager
from steward.runtime.manager.settings import Settings
from steward.tenants.cache_rules import FleetPart, TenantsCacheRules
from steward.tenants.controllers.common.child_watches import fleet_scope
from steward.tenants.controllers.common.document_cache import DocumentCache
from steward.tenants.controllers.common.rollout_state import RolloutState
from steward.tenants.controllers.common.tenant_backlog import TenantBacklog
from steward.tenants.fleet.index import FleetIndex
from steward.tenants.labels import FIELD_MANAGER
from steward.tenants.objects.permissions import Permissions


class TenantsContext(ControllerContext):
    def __init__(self, manager: Manager, settings: Settings) -> None:
        super().__init__(manager, settings)
        scope = fleet_scope(settings)
        self.rules = TenantsCacheRules(scope)
        self.part: FleetPart = scope.part
        """What the Tenant controller of this process applies."""
        self.executor = manager.executor(FIELD_MANAGER)
        self.documents = DocumentCache(self.client, self.store(self.rules.tenant), self.part)
        self.rollouts = RolloutState()
        self.backlog = TenantBacklog(settings.tenant_concurrency * settings.partition.total)
        self.permissions = Permissions(
            manager.connection.operator_namespace,
            settings.no_cross_namespace,
            settings.require_service_account,
            settings.allow_kinds,
            settings.template_scope,
        )

    @cached_property
    def fleets(self) -> FleetIndex:
        """All Tenants, indexed by registry. With `--shard` only part 0 uses it: it caches the whole fleet."""
        return FleetIndex(self.store(self.rules.every_tenant), self.store(self.rules.secret))
