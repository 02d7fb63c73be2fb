"""Sets up the tenants operator: the controllers of registries, templates and Tenants, and the webhooks.

With `--shard=N/M` every part applies its own Tenants; only part 0 runs the registry and template controllers.
"""

from steward.admission.service import CertificateNames, Registration, serve_webhooks
from steward.runtime.manager.manager import Manager
from steward.runtime.manager.settings import Settings
from steward.tenants import webhook_configurations
from steward.tenants.controllers.common.context import TenantsContext
from steward.tenants.controllers.common.stall_reporter import with_stall_reporting
from steward.tenants.controllers.registry.reconciler import RegistryReconciler
from steward.tenants.controllers.template.reconciler import TenantTemplateReconciler
from steward.tenants.controllers.tenant.reconciler import TenantReconciler
from steward.tenants.fleet_metrics import TemplatesCollector
from steward.tenants.webhooks import TenantWebhooks

NAME = "tenant-operator"
CERTIFICATES = CertificateNames(
    ca_secret="tenant-operator-ca-secret",
    server_secret="tenant-operator-webhook-certs",
    service="tenant-operator-webhook-service",
    organization="Tenant Operator",
    manager="tenant-operator-cert",
)


def set_up(manager: Manager, settings: Settings) -> None:
    context = TenantsContext(manager, settings)
    manager.add(TenantReconciler(context).controller())
    if settings.partition.number == 0:
        _add_registry_controllers(manager, context)
    serve_webhooks(manager, _webhooks(context))


def _add_registry_controllers(manager: Manager, context: TenantsContext) -> None:
    manager.add(with_stall_reporting(TenantTemplateReconciler(context).controller(), context))
    manager.metrics.registry.register(TemplatesCollector(context.store(context.rules.template)))
    registry = RegistryReconciler(context)
    manager.add_service(registry.credentials)
    manager.caches.fill_last_after(registry.first_rows.wait)
    manager.add(with_stall_reporting(registry.controller(), context))


def _webhooks(context: TenantsContext) -> Registration:
    return Registration(
        operator=NAME,
        metrics_prefix="tenant_operator",
        webhooks=tuple(TenantWebhooks(context.client, context.permissions).webhooks()),
        configurations=webhook_configurations.webhook_configurations,
        certificates=CERTIFICATES,
    )
