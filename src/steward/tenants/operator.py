"""The tenants operator: registries, templates and Tenants, on one ground.

With `--shard=N/M` every part applies its own Tenants; registries and templates are part 0's alone.
"""

from steward.admission.service import CertificateNames, Registration, serve_webhooks
from steward.runtime.controller.workqueue import Lane
from steward.runtime.manager.manager import Manager
from steward.runtime.manager.settings import Settings
from steward.tenants import webhook_configurations
from steward.tenants.controllers.common.context import ControllerContext
from steward.tenants.controllers.registry.reconciler import RegistryReconciler
from steward.tenants.controllers.template.reconciler import TemplateReconciler
from steward.tenants.controllers.tenant.reconciler import TenantReconciler
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
    context = ControllerContext(manager, settings)
    manager.add(TenantReconciler(context).controller())
    if settings.shard.number == 0:
        _add_sources(manager, context)
    serve_webhooks(manager, _webhooks(context))


def _add_sources(manager: Manager, context: ControllerContext) -> None:
    templates = manager.add(TemplateReconciler(context).controller())
    context.wake_template = lambda key: templates.queue.add(key, Lane.FAST)
    registry = RegistryReconciler(context)
    manager.add_service(registry.credentials)
    registry.listen_to(manager.add(registry.controller()))


def _webhooks(context: ControllerContext) -> Registration:
    return Registration(
        operator=NAME,
        metrics_prefix="tenant_operator",
        webhooks=tuple(TenantWebhooks(context.client).webhooks()),
        configurations=webhook_configurations.webhook_configurations,
        certificates=CERTIFICATES,
    )
