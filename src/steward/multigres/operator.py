"""The multigres operator: a controller per kind, controllers for topology records and certificates, and webhooks."""

from dataclasses import replace

from steward.admission.service import CertificateNames, Registration, serve_webhooks
from steward.certificates.worker_process import SharedCertificateWorker
from steward.kube.client.client import Client
from steward.multigres import webhook_configurations
from steward.multigres.cache_rules import CELL_TEMPLATE, CLUSTER, CORE_TEMPLATE, SHARD, SHARD_TEMPLATE
from steward.multigres.controllers.backups.maintenance import (
    BackupMaintenanceReconciler,
    MaintenanceRequests,
)
from steward.multigres.controllers.backups.reconciler import BackupReconciler
from steward.multigres.controllers.cell.deletion import CellDeletion
from steward.multigres.controllers.cell.reconciler import CellReconciler
from steward.multigres.controllers.certificates import CertificateReconciler
from steward.multigres.controllers.cluster.deletion import ClusterDeletion
from steward.multigres.controllers.cluster.operator_updates import OperatorUpdates
from steward.multigres.controllers.cluster.reconciler import ClusterReconciler
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.deregistration import Deregistration
from steward.multigres.controllers.common.etcd_access import TopologyAccess
from steward.multigres.controllers.common.pause import CHILD_KINDS, pause_trigger
from steward.multigres.controllers.common.reporting import REPORTED_KINDS
from steward.multigres.controllers.common.stall_reporter import MultigresStallReporter
from steward.multigres.controllers.common.status_contributions import (
    CERTIFICATES,
    TOPOLOGY,
    StatusContributor,
)
from steward.multigres.controllers.connection_counts import ConnectionCounts
from steward.multigres.controllers.gateway_certificates import GatewayCertificateReconciler
from steward.multigres.controllers.postgres_access.role_states import RoleStates
from steward.multigres.controllers.postgres_access.volume_growth import VolumeGrowth
from steward.multigres.controllers.roles.reconciler import RolesReconciler
from steward.multigres.controllers.servers.reconciler import ServersReconciler
from steward.multigres.controllers.settings.reconciler import SettingsReconciler
from steward.multigres.controllers.shard.primary_switch import PrimarySwitchReconciler
from steward.multigres.controllers.shard.reconciler import ShardReconciler
from steward.multigres.controllers.tablegroup import TableGroupReconciler
from steward.multigres.controllers.template import ClusterTemplateReconciler
from steward.multigres.controllers.topology.reconciler import TopologyReconciler
from steward.multigres.controllers.toposerver import TopoServerReconciler
from steward.multigres.controllers.volume_usage.reconciler import VolumeUsageReconciler
from steward.multigres.deletion.draining import Connections, unknown_connections
from steward.multigres.eviction_webhook import EvictionWebhook
from steward.multigres.metrics import ClusterMetrics, GrowthMetrics, MetricStores
from steward.multigres.webhooks import MultigresWebhooks
from steward.runtime.controller.controller import Controller
from steward.runtime.manager.connect_to import Redirect
from steward.runtime.manager.manager import Manager
from steward.runtime.manager.settings import Settings

NAME = "multigres-operator"
CONTRIBUTORS = frozenset(
    {
        "backup-maintenance",
        "backups",
        "certificates",
        "gateway-certificates",
        "primary-switch",
        "roles",
        "servers",
        "settings",
        "topology",
        "volume-usage",
    }
)
"""Controllers of objects whose status another controller writes."""
CERTIFICATE_NAMES = CertificateNames(
    ca_secret="multigres-operator-ca-secret",
    server_secret="multigres-webhook-certs",
    service="multigres-operator-webhook-service",
    organization="Multigres Operator",
    manager="multigres-operator-cert",
)


def set_up(manager: Manager, settings: Settings, connections: Connections | None = None) -> None:
    context = MultigresContext(manager, settings)
    counts = ConnectionCounts(context.clock, Redirect(settings.connect_to)) if connections is None else None
    context.connections = connections or (counts.count if counts else unknown_connections)
    certificate_worker = manager.shared_service(SharedCertificateWorker, SharedCertificateWorker)
    records = Deregistration(context, TopologyAccess(context.client, Redirect(settings.connect_to)))
    maintenance = MaintenanceRequests(results=context.servers.writable_shards)
    growth = VolumeGrowth(context.contributions.channel(SHARD))
    roles = RoleStates(context.contributions.channel(CLUSTER))
    reconcilers = (
        ClusterReconciler(
            context,
            ClusterDeletion(context, records),
            OperatorUpdates(context, settings.max_concurrent_cluster_updates),
            roles,
        ),
        TopoServerReconciler(context),
        CellReconciler(context, CellDeletion(context, records, counts)),
        TableGroupReconciler(context),
        ShardReconciler(context, growth, counts),
        VolumeUsageReconciler(context, growth, GrowthMetrics(manager.metrics.registry)),
        ServersReconciler(context),
        PrimarySwitchReconciler(context),
        RolesReconciler(context, roles),
        SettingsReconciler(context),
        BackupReconciler(context, maintenance),
        BackupMaintenanceReconciler(context, maintenance),
        CertificateReconciler(
            context, StatusContributor(context.contributions, CERTIFICATES), certificate_worker
        ),
        GatewayCertificateReconciler(context, certificate_worker),
        TopologyReconciler(context, StatusContributor(context.contributions, TOPOLOGY), settings),
        ClusterTemplateReconciler(context, context.rules.core_template),
        ClusterTemplateReconciler(context, context.rules.cell_template),
        ClusterTemplateReconciler(context, context.rules.shard_template),
    )
    for reconciler in reconcilers:
        manager.add(with_stall_reporting(with_pause_trigger(reconciler.controller(), context), context))
    manager.metrics.registry.register(ClusterMetrics(_metric_stores(context)))
    serve_webhooks(manager, _webhooks(context, manager.connection.replica_client))


def with_pause_trigger(controller: Controller, context: MultigresContext) -> Controller:
    """Reconciles the children of a cluster when it is paused and when that ends."""
    rules, rule = context.rules, controller.for_trigger.rule
    if rule.kind not in CHILD_KINDS:
        return controller
    trigger = pause_trigger(rules.cluster, context.store(rule))
    return replace(controller, triggers=(*controller.triggers, trigger))


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


def _webhooks(context: MultigresContext, replica_client: Client) -> Registration:
    rules = context.rules
    templates = {
        CORE_TEMPLATE: context.store(rules.core_template),
        CELL_TEMPLATE: context.store(rules.cell_template),
        SHARD_TEMPLATE: context.store(rules.shard_template),
    }
    webhooks = MultigresWebhooks(
        context.client,
        context.store(rules.cluster),
        templates,
        context.nodes.warnings,
        context.settings.protect_clusters,
    )
    evictions = EvictionWebhook(
        replica_client, context.store(rules.pod), context.store(rules.shard), context.store(rules.cluster)
    )
    return Registration(
        operator=NAME,
        metrics_prefix="multigres_operator",
        webhooks=(*webhooks.webhooks(), *evictions.webhooks()),
        configurations=webhook_configurations.webhook_configurations,
        policies=webhook_configurations.child_policy,
        certificates=CERTIFICATE_NAMES,
    )
