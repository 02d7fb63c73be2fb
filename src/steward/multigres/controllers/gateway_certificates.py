"""Certificates of gateways: one authority and one leaf for each cluster with `gatewayTls`, renewed on a timer.

The leaf is valid for the names of the Service that applications connect to. Other names, such as those of a load
balancer, need a certificate of the user's own. Secrets are written by the certificate keeper, as those of the backup
service are; gateways are replaced for a new certificate by the Cell controller.
"""

import msgspec
from msgspec import UNSET

from steward.certificates.errors import CertificateError
from steward.certificates.keeper import CertificateKeeper
from steward.certificates.options import CertificateOwner, KeeperOptions, Leaf
from steward.certificates.worker_process import CertificateWorker
from steward.kube.objects.conditions import FALSE, TRUE, Condition
from steward.kube.objects.kinds import Key, Ref
from steward.multigres import names, reasons
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.group import API_VERSION
from steward.multigres.api.unset import or_default
from steward.multigres.cache_rules import CLUSTER as KIND
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.status_contributions import GATEWAY_CERTIFICATES, StatusContribution
from steward.multigres.objects.metadata import component_labels
from steward.multigres.resolution.gateway_tls import makes_certificate
from steward.multigres.status.conditions import GATEWAY_CERTIFICATE_READY
from steward.multigres.views import ClusterView
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.predicates import any_change
from steward.runtime.controller.triggers import For, Owns
from steward.runtime.reconcile import DONE, RequeueAfter, Result

NAME = "gateway-certificates"
FIELD_MANAGER = "multigres-gateway-certificates"
COMPONENT = "gateway-tls"
RETRY_SECONDS = 60.0
VALID = "gateways have a valid certificate, and clients find its authority in the Secrets of accounts"


class GatewayCertificateReconciler:
    def __init__(self, context: MultigresContext, worker: CertificateWorker) -> None:
        self.context = context
        self.worker = worker
        self.clusters = context.store(context.rules.cluster)

    def controller(self) -> Controller:
        rules = self.context.rules
        # The cache holds no data of Secrets: only a new version shows that the data has changed.
        return Controller(NAME, self, (For(rules.cluster), Owns(rules.secret, when=any_change)))

    async def reconcile(self, key: Key) -> Result:
        cluster = self.clusters.get(key)
        if cluster is None or cluster.metadata.deletion_timestamp is not None:
            return DONE
        spec = _spec_of(cluster)
        if spec is None or not makes_certificate(spec):
            self._report(cluster)
            return DONE
        if self.context.paused.includes(Ref(KIND, key)):
            return DONE
        return await self._renew(cluster, spec)

    async def _renew(self, cluster: ClusterView, spec: MultigresClusterSpec) -> Result:
        options = keeper_options(cluster, spec)
        keeper = CertificateKeeper(self.context.client, options, self.context.clock, worker=self.worker)
        generation = cluster.metadata.generation
        try:
            state = await keeper.check()
        except CertificateError as error:
            reason, message = reasons.CERTIFICATES_MISSING, str(error)
            self._report(cluster, Condition(GATEWAY_CERTIFICATE_READY, FALSE, reason, message, generation))
            return RequeueAfter(RETRY_SECONDS)
        reason = reasons.CERTIFICATES_VALID
        self._report(cluster, Condition(GATEWAY_CERTIFICATE_READY, TRUE, reason, VALID, generation))
        return RequeueAfter(state.next_check)

    def _report(self, cluster: ClusterView, *conditions: Condition) -> None:
        ref = Ref(KIND, Key(cluster.metadata.namespace, cluster.metadata.name))
        if conditions or self.context.contributions.has(ref, GATEWAY_CERTIFICATES):
            contribution = StatusContribution(conditions, {})
            self.context.contributions.set(ref, GATEWAY_CERTIFICATES, contribution)


def _spec_of(cluster: ClusterView) -> MultigresClusterSpec | None:
    """None for a spec that its own controller reports as invalid, and without work for all clusters without TLS."""
    if "gatewayTls" not in cluster.spec:
        return None
    try:
        return msgspec.convert(cluster.spec, MultigresClusterSpec)
    except msgspec.ValidationError:
        return None


def keeper_options(cluster: ClusterView, spec: MultigresClusterSpec) -> KeeperOptions:
    meta, service = cluster.metadata, names.cluster_gateway(cluster.metadata.name)
    external = spec.external_gateway
    addresses = () if external is UNSET else tuple(or_default(external.external_ips, []))
    leaf = Leaf(
        names.gateway_certificate(meta.name),
        service=service,
        dns_names=(f"{service}.{meta.namespace}", service),
        ip_addresses=addresses,
    )
    return KeeperOptions(
        meta.namespace,
        names.gateway_authority(meta.name),
        (leaf,),
        organization="Multigres",
        component="gateway",
        owner=CertificateOwner(API_VERSION, KIND.kind, meta.name, meta.uid),
        labels=component_labels(meta.name, COMPONENT),
        manager=FIELD_MANAGER,
    )
