"""Cell: manages the gateways of one failure domain, and its own topology server if it has one."""

from hashlib import sha256

from msgspec import UNSET

from steward.kube.objects.conditions import FALSE, find_condition
from steward.kube.objects.kinds import DEPLOYMENT, Key, Manifest, Ref, ref_of
from steward.kube.objects.meta import HasMetadata, key_of
from steward.multigres import names, reasons
from steward.multigres.api.unset import or_default
from steward.multigres.cache_rules import CELL as KIND
from steward.multigres.controllers.cell.deletion import CellDeletion
from steward.multigres.controllers.common.child_triggers import PODS, owned_triggers
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.foreign_objects import foreign_stall
from steward.multigres.controllers.postgres_access.user_secrets import CACHED_SECONDS, UserSecrets
from steward.multigres.deletion.annotations import DELETION_ANNOTATIONS
from steward.multigres.deletion.draining import accept_steps
from steward.multigres.objects import gateway
from steward.multigres.objects.metadata import (
    CELL_LABEL,
    CLUSTER_LABEL,
    COMPONENT_LABEL,
    FINALIZER,
    GO_FINALIZERS,
)
from steward.multigres.objects.tree import cell_objects
from steward.multigres.objects.versions import is_of_go_operator
from steward.multigres.status.conditions import (
    TOPOLOGY_REGISTERED,
    ComponentStatus,
    PodProblems,
    Stall,
    StatusContext,
    assess_health,
    common_status,
    read_conditions,
    topo_server_component,
    workload_component,
)
from steward.multigres.status.pod_problems import has_exited
from steward.multigres.views import CellView, ClusterView, PodView
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.predicates import annotations, any_change, own_object
from steward.runtime.controller.triggers import For, Watches
from steward.runtime.plan.finalizers import add_finalizer
from steward.runtime.plan.steps import Plan, Requeue
from steward.runtime.reconcile import DONE, Result

GATEWAYS = "gateways"
START = "start when the topology server has the record of their cell"
TLS_CERTIFICATE = "tls.crt"
NO_RECORD = "the topology server does not hold the cell's record yet"


class CellReconciler:
    """Executes two plans: the children, then the status. The status is derived from the caches, which hold the result
    of the first plan; a status derived before it could report gateways as ready that have yet to change."""

    def __init__(self, context: MultigresContext, deletion: CellDeletion) -> None:
        rules = context.rules
        self.context = context
        self.deletion = deletion
        self.cells = context.store(rules.cell)
        self.clusters = context.store(rules.cluster)
        self.servers = context.store(rules.topo_server)
        self.deployments = context.store(rules.deployment)
        self.pods = context.store(rules.pod)
        self.pods.add_index(GATEWAYS, lambda pod: [str(key) for key in _cell_of(pod)])
        self.secrets = UserSecrets(context)
        self._certificates: dict[Key, str] = {}
        self.child_rules = (rules.topo_server, rules.deployment, rules.service)
        for rule in self.child_rules:
            context.store(rule)

    def controller(self) -> Controller:
        rules = self.context.rules
        return Controller(
            "cell",
            self,
            (
                For(rules.cell, when=own_object(*DELETION_ANNOTATIONS)),
                *owned_triggers(self.child_rules),
                Watches(rules.pod, to=_cell_of, debounce=PODS),
                Watches(rules.cluster, to=self._cells_of, when=annotations(*DELETION_ANNOTATIONS)),
                Watches(rules.secret, to=self._users_of_certificate, when=any_change),
            ),
            depth=1,
            channel=self.context.contributions.channel(KIND),
        )

    def _cells_of(self, cluster: ClusterView) -> list[Key]:
        meta = cluster.metadata
        cells = self.cells.list(meta.namespace)
        return [key_of(cell) for cell in cells if cell.metadata.labels.get(CLUSTER_LABEL) == meta.name]

    def _users_of_certificate(self, secret: HasMetadata) -> list[Key]:
        cluster = secret.metadata.labels.get(CLUSTER_LABEL, "")
        if secret.metadata.name != names.gateway_certificate(cluster):
            return []
        cells = self.cells.list(secret.metadata.namespace)
        return [key_of(cell) for cell in cells if cell.metadata.labels.get(CLUSTER_LABEL) == cluster]

    async def reconcile(self, key: Key) -> Result:
        cell, ref = self.cells.get(key), Ref(KIND, key)
        if cell is None:
            self._certificates.pop(key, None)
            return DONE
        if cell.metadata.deletion_timestamp is not None:
            plan = await self.deletion.plan_deletion(cell, self._gateway_pods(cell))
            return await self.deletion.graceful_deletion.execute(plan, ref)
        if is_of_go_operator(cell.metadata, cell.spec.objects_version):
            return DONE
        desired = self._desired(ref, cell, await self._certificate(cell))
        foreign = await self.context.foreign_objects.find(desired)
        await self.context.executor.execute(self._plan(ref, cell, desired, foreign), ref)
        components = self._components(cell, desired, await self._gateway_problems(cell))
        status = self._status(cell, components, foreign_stall(foreign))
        report = (*self.context.reporter.report(ref, cell, status), *self._read_again(cell))
        return (await self.context.executor.execute(report, ref)).result

    def _desired(self, ref: Ref, cell: CellView, certificate: str) -> list[Manifest]:
        inputs = (cell.metadata.uid, cell.metadata.labels, cell.spec, certificate)
        return self.context.manifests.get_or_build(ref, inputs, lambda: cell_objects(cell, certificate))

    async def _certificate(self, cell: CellView) -> str:
        """A digest of the gateways' certificate; "" without TLS, and until there is one. That of a Secret which is
        missing for a while stays: gateways must not be replaced for that."""
        tls = cell.spec.gateway_tls
        if tls is UNSET:
            self._certificates.pop(key_of(cell), None)
            return ""
        found = await self.secrets.value(Key(cell.metadata.namespace, tls.secret_name), TLS_CERTIFICATE)
        if found:
            self._certificates[key_of(cell)] = sha256(found).hexdigest()[:16]
        return self._certificates.get(key_of(cell), "")

    def _read_again(self, cell: CellView) -> Plan:
        """A Secret of the user is not watched."""
        tls = cell.spec.gateway_tls
        if tls is UNSET or self.secrets.is_managed(Key(cell.metadata.namespace, tls.secret_name)):
            return ()
        return (Requeue(CACHED_SECONDS),)

    def _plan(self, ref: Ref, cell: CellView, desired: list[Manifest], foreign: frozenset[Ref]) -> Plan:
        finalizer = add_finalizer(ref, cell.metadata, FINALIZER, GO_FINALIZERS)
        if foreign:
            return finalizer
        applied = [manifest for manifest in desired if not self._must_wait(cell, manifest)]
        children = self.context.children.plan_children(cell.metadata, applied, self.child_rules)
        return (*finalizer, *children, *accept_steps(self._gateway_pods(cell)))

    def _must_wait(self, cell: CellView, manifest: Manifest) -> bool:
        """Gateways are created when the cell is registered and they have their certificate. Those that exist stay, and
        are updated, in any case."""
        if manifest["kind"] != DEPLOYMENT.kind or self.deployments.get(ref_of(manifest).key) is not None:
            return False
        if self._lacks_certificate(cell):
            return True
        # A Cell without a cluster is not registered by this operator.
        return key_of(cell) not in self.context.registered_cells and self._cluster_of(cell) is not None

    def _lacks_certificate(self, cell: CellView) -> bool:
        return cell.spec.gateway_tls is not UNSET and key_of(cell) not in self._certificates

    def _cluster_of(self, cell: CellView) -> ClusterView | None:
        meta = cell.metadata
        cluster: ClusterView | None = self.clusters.get(
            Key(meta.namespace, meta.labels.get(CLUSTER_LABEL, ""))
        )
        return cluster

    def _gateway_pods(self, cell: CellView) -> list[PodView]:
        return self.pods.by_index(GATEWAYS, str(_gateway_key(cell)))

    async def _gateway_problems(self, cell: CellView) -> PodProblems:
        """The problems of the gateways' pods; while they are pending, whether any node has the cell's labels."""
        problems = self.context.pod_problems.find(self._gateway_pods(cell))
        if not problems.hint:
            return problems
        zone, region = or_default(cell.spec.zone, ""), or_default(cell.spec.region, "")
        label = await self.context.nodes.missing_label(zone, region)
        return problems._replace(hint=f"no node carries {label}: {problems.hint}") if label else problems

    def _components(
        self, cell: CellView, desired: list[Manifest], problems: PodProblems
    ) -> list[ComponentStatus]:
        """The gateways first."""
        return [
            self._gateways(cell, desired, problems),
            *self._local_topo(cell, desired),
            *self.context.children.terminating(desired),
        ]

    def _status(self, cell: CellView, components: list[ComponentStatus], stall: Stall | None) -> Manifest:
        gateways, health = components[0], assess_health(components, stall)
        context = StatusContext(cell.metadata, cell.status.conditions, self.context.now())
        cluster = cell.metadata.labels.get(CLUSTER_LABEL, "")
        return {
            **common_status(context, health),
            "gatewayReplicas": gateways.desired,
            "gatewayReadyReplicas": gateways.ready,
            "gatewayServiceName": names.gateway_service(cluster, cell.spec.name),
        }

    def _gateways(self, cell: CellView, desired: list[Manifest], problems: PodProblems) -> ComponentStatus:
        deployment = next(manifest for manifest in desired if manifest["kind"] == DEPLOYMENT.kind)
        name = deployment["metadata"]["name"]
        live = self.deployments.get(Key(cell.metadata.namespace, name))
        lacks_record, is_waiting = self._lacks_record(cell), self._must_wait(cell, deployment)
        if is_waiting and self._lacks_certificate(cell):
            problems = PodProblems(hint=_certificate_hint(cell))
        elif lacks_record and is_waiting:
            problems = PodProblems(hint=f"they {START}")
        elif lacks_record and has_exited(self._gateway_pods(cell)):
            problems = add_missing_record(problems)
        # At the birth of a cluster this is no cause to look at: a hint would be one more status.
        is_expected = is_waiting and not lacks_record and not self._lacks_certificate(cell)
        start = f", which {START}" if is_expected else ""
        return workload_component(f"gateways {name}{start}", deployment["spec"]["replicas"], live, problems)

    def _lacks_record(self, cell: CellView) -> bool:
        """Whether the cluster reports so. A new cluster, whose topology server starts with it, reports nothing yet."""
        cluster = self._cluster_of(cell)
        if cluster is None:
            return False
        registered = find_condition(read_conditions(cluster.status.conditions), TOPOLOGY_REGISTERED)
        if registered is None or registered.reason == reasons.TOPOLOGY_WAITING:
            return False
        return registered.status == FALSE

    def _local_topo(self, cell: CellView, desired: list[Manifest]) -> list[ComponentStatus]:
        servers = [manifest["metadata"]["name"] for manifest in desired if manifest["kind"] == "TopoServer"]
        namespace = cell.metadata.namespace
        return [topo_server_component(name, self.servers.get(Key(namespace, name))) for name in servers]


def add_missing_record(problems: PodProblems) -> PodProblems:
    """A gateway exits, again and again, until the topology server holds the record of its cell."""
    if problems.problem:
        return problems._replace(problem=f"{problems.problem}; {NO_RECORD}, and gateways exit without it")
    return problems._replace(hint=problems.hint or NO_RECORD)


def _certificate_hint(cell: CellView) -> str:
    tls = cell.spec.gateway_tls
    name = "" if tls is UNSET else tls.secret_name
    return f"they start when Secret {name} has a certificate"


def _cell_of(pod: PodView) -> list[Key]:
    """The Cell of a gateway's pod. Its name follows from the pod's labels, so that no lookup is needed."""
    labels = pod.metadata.labels
    if labels.get(COMPONENT_LABEL) != gateway.COMPONENT or CELL_LABEL not in labels:
        return []
    return [Key(pod.metadata.namespace, names.cell(labels.get(CLUSTER_LABEL, ""), labels[CELL_LABEL]))]


def _gateway_key(cell: CellView) -> Key:
    cluster = cell.metadata.labels.get(CLUSTER_LABEL, "")
    return Key(cell.metadata.namespace, names.cell(cluster, or_default(cell.spec.name, "")))
