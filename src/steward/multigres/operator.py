"""The multigres operator: a controller per kind, controllers for topology records and certificates, and webhooks."""

from contextlib import AbstractContextManager
from dataclasses import replace

from steward.admission.review import Review
from steward.admission.server import Webhook, WebhookPurpose
from steward.admission.service import CertificateNames, Registration, serve_webhooks
from steward.certificates.worker_process import SharedCertificateWorker
from steward.multigres import webhook_configurations
from steward.multigres.cache_rules import CELL_TEMPLATE, CORE_TEMPLATE, SHARD_TEMPLATE
from steward.multigres.controllers.cell.deletion import CellDeletion
from steward.multigres.controllers.cell.reconciler import CellReconciler
from steward.multigres.controllers.certificates import CertificateReconciler
from steward.multigres.controllers.cluster.deletion import ClusterDeletion
from steward.multigres.controllers.cluster.reconciler import ClusterReconciler
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.deregistration import Deregistration
from steward.multigres.controllers.common.etcd_access import TopologyAccess
from steward.multigres.controllers.common.reporting import REPORTED_KINDS
from steward.multigres.controllers.common.stall_reporter import MultigresStallReporter
from steward.multigres.controllers.common.status_contributions import (
    CERTIFICATES,
    TOPOLOGY,
    StatusContributor,
)
from steward.multigres.controllers.shard.reconciler import ShardReconciler
from steward.multigres.controllers.tablegroup import TableGroupReconciler
from steward.multigres.controllers.template import ClusterTemplateReconciler
from steward.multigres.controllers.topology.reconciler import TopologyReconciler
from steward.multigres.controllers.toposerver import TopoServerReconciler
from steward.multigres.deletion.draining import Connections, unknown_connections
from steward.multigres.metrics import ClusterMetrics, MetricStores
from steward.multigres.webhooks import MultigresWebhooks
from steward.runtime.controller.controller import Controller
from steward.runtime.manager.connect_to import Redirect
from steward.runtime.manager.manager import Manager
from steward.runtime.manager.settings import Settings
from steward.runtime.observability import tracing

NAME = "multigres-operator"
CONTRIBUTORS = frozenset({"certificates", "topology"})
"""Controllers that contribute a condition to a status that another controller writes."""
CERTIFICATE_NAMES = CertificateNames(
    ca_secret="multigres-operator-ca-secret",
    server_secret="multigres-webhook-certs",
    service="multigres-operator-webhook-service",
    organization="Multigres Operator",
    manager="multigres-operator-cert",
)


def set_up(manager: Manager, settings: Settings, connections: Connections = unknown_connections) -> None:
    context = MultigresContext(manager, settings)
    context.connections = connections
    certificate_worker = manager.shared_service(SharedCertificateWorker, SharedCertificateWorker)
    records = Deregistration(context, TopologyAccess(context.client, Redirect(settings.connect_to)))
    reconcilers = (
        ClusterReconciler(context, ClusterDeletion(context, records)),
        TopoServerReconciler(context),
        CellReconciler(context, CellDeletion(context, records)),
        TableGroupReconciler(context),
        ShardReconciler(context),
        CertificateReconciler(
            context, StatusContributor(context.contributions, CERTIFICATES), certificate_worker
        ),
        TopologyReconciler(context, StatusContributor(context.contributions, TOPOLOGY), settings),
        ClusterTemplateReconciler(context, context.rules.core_template),
        ClusterTemplateReconciler(context, context.rules.cell_template),
        ClusterTemplateReconciler(context, context.rules.shard_template),
    )
    for reconciler in reconcilers:
        manager.add(with_stall_reporting(reconciler.controller(), context))
    manager.metrics.registry.register(ClusterMetrics(_metric_stores(context)))
    serve_webhooks(manager, _webhooks(context))


def with_stall_reporting(controller: Controller, context: MultigresContext) -> Controller:
    """Lets a controller that writes a status report lasting failures there."""
    rule = controller.for_trigger.rule
    if rule.kind not in REPORTED_KINDS or controller.name in CONTRIBUTORS:
        return controller
    return replace(
        controller, reconciler=MultigresStallReporter(controller.reconciler, context, context.store(rule))
    )


def _metric_stores(context: MultigresContext) -> MetricStores:
    rules = context.rules
    return MetricStores(
        clusters=context.store(rules.cluster),
        cells=context.store(rules.cell),
        shards=context.store(rules.shard),
        topo_servers=context.store(rules.topo_server),
        stateful_sets=context.store(rules.stateful_set),
        deployments=context.store(rules.deployment),
    )


def _webhooks(context: MultigresContext) -> Registration:
    rules = context.rules
    templates = {
        CORE_TEMPLATE: context.store(rules.core_template),
        CELL_TEMPLATE: context.store(rules.cell_template),
        SHARD_TEMPLATE: context.store(rules.shard_template),
    }
    webhooks = MultigresWebhooks(
        context.client, context.store(rules.cluster), templates, context.nodes.warnings
    )
    return Registration(
        operator=NAME,
        metrics_prefix="multigres_operator",
        webhooks=tuple(webhooks.webhooks()),
        configurations=webhook_configurations.webhook_configurations,
        policies=webhook_configurations.child_policy,
        certificates=CERTIFICATE_NAMES,
        around=_span,
    )


def _span(webhook: Webhook, review: Review) -> AbstractContextManager[object]:
    return tracing.span(
        "Webhook.Default" if webhook.purpose is WebhookPurpose.DEFAULT else "Webhook.Validate"
    )
