"""The multigres operator: a controller for each kind, one for the topology records, and webhooks, on one ground."""

from contextlib import AbstractContextManager
from dataclasses import replace

from steward.admission.review import Review
from steward.admission.server import Webhook, Work
from steward.admission.service import CertificateNames, Registration, serve_webhooks
from steward.certificates.shared_worker_process import SharedNotary
from steward.multigres import webhook_configurations
from steward.multigres.cache_rules import (
    CELL,
    CELL_TEMPLATE,
    CLUSTER,
    CORE_TEMPLATE,
    SHARD,
    SHARD_TEMPLATE,
    TABLE_GROUP,
    TOPO_SERVER,
)
from steward.multigres.controllers.cell.deletion import CellRemoval
from steward.multigres.controllers.cell.reconciler import CellReconciler
from steward.multigres.controllers.certificates import CertificateReconciler
from steward.multigres.controllers.cluster.deletion import ClusterRemoval
from steward.multigres.controllers.cluster.reconciler import ClusterReconciler
from steward.multigres.controllers.common.context import ControllerContext
from steward.multigres.controllers.common.deregistration import Deregistration
from steward.multigres.controllers.common.etcd_access import TopologyAccess
from steward.multigres.controllers.common.stall_reporter import Telling
from steward.multigres.controllers.common.status_contributions import CERTIFICATES, TOPOLOGY, RemarkCarrier
from steward.multigres.controllers.shard.reconciler import ShardReconciler
from steward.multigres.controllers.tablegroup import TableGroupReconciler
from steward.multigres.controllers.template import TemplateReconciler
from steward.multigres.controllers.topology.reconciler import TopologyReconciler
from steward.multigres.controllers.toposerver import TopoServerReconciler
from steward.multigres.deletion.draining import Connections, unknown_connections
from steward.multigres.metrics import ClusterFigures
from steward.multigres.webhooks import MultigresWebhooks
from steward.runtime.controller.controller import Controller
from steward.runtime.manager.connect_to import Redirect
from steward.runtime.manager.manager import Manager
from steward.runtime.manager.settings import Settings
from steward.runtime.observability import tracing

NAME = "multigres-operator"
SILENT = frozenset({"certificates", "topology"})
"""Controllers that look after one condition beside those of the kind's own controller."""
CERTIFICATE_NAMES = CertificateNames(
    ca_secret="multigres-operator-ca-secret",
    server_secret="multigres-webhook-certs",
    service="multigres-operator-webhook-service",
    organization="Multigres Operator",
    manager="multigres-operator-cert",
)


def set_up(manager: Manager, settings: Settings, connections: Connections = unknown_connections) -> None:
    context = ControllerContext(manager, settings)
    context.connections = connections
    notary = manager.shared_service(SharedNotary, SharedNotary)
    records = Deregistration(context, TopologyAccess(context.client, Redirect(settings.connect_to)))
    reconcilers = (
        ClusterReconciler(context, ClusterRemoval(context, records)),
        TopoServerReconciler(context),
        CellReconciler(context, CellRemoval(context, records)),
        TableGroupReconciler(context),
        ShardReconciler(context),
        CertificateReconciler(context, RemarkCarrier(context.remarks, CERTIFICATES), notary),
        TopologyReconciler(context, RemarkCarrier(context.remarks, TOPOLOGY), settings),
        TemplateReconciler(context, context.rules.core_template),
        TemplateReconciler(context, context.rules.cell_template),
        TemplateReconciler(context, context.rules.shard_template),
    )
    for reconciler in reconcilers:
        manager.add(told(reconciler.controller(), context))
    manager.metrics.registry.register(ClusterFigures(context))
    serve_webhooks(manager, _webhooks(context))


TELL = frozenset({CLUSTER, TOPO_SERVER, CELL, TABLE_GROUP, SHARD})
"""Kinds with a status of ours."""


def told(controller: Controller, context: ControllerContext) -> Controller:
    """The controller of a kind with a status: what it cannot do, it says there."""
    rule = controller.about.rule
    if rule.kind not in TELL or controller.name in SILENT:
        return controller
    return replace(controller, reconciler=Telling(controller.reconciler, context, context.store(rule)))


def _webhooks(context: ControllerContext) -> Registration:
    rules = context.rules
    templates = {
        CORE_TEMPLATE: context.store(rules.core_template),
        CELL_TEMPLATE: context.store(rules.cell_template),
        SHARD_TEMPLATE: context.store(rules.shard_template),
    }
    answering = MultigresWebhooks(
        context.client, context.store(rules.cluster), templates, context.nodes.warnings
    )
    return Registration(
        operator=NAME,
        metrics_prefix="multigres_operator",
        webhooks=tuple(answering.webhooks()),
        configurations=webhook_configurations.webhook_configurations,
        policies=webhook_configurations.child_policy,
        certificates=CERTIFICATE_NAMES,
        around=_span,
    )


def _span(webhook: Webhook, review: Review) -> AbstractContextManager[object]:
    return tracing.span("Webhook.Default" if webhook.work is Work.DEFAULT else "Webhook.Validate")
