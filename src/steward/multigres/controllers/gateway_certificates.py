"""Certificates of gateways: one authority and one leaf for each cluster with `gatewayTls`, renewed on a timer.

The leaf is valid for the names of the Service that applications connect to. Other names, such as those of a load
balancer, need a certificate of the user's own, which is only read. Secrets are written by the certificate keeper, as
those of the backup service are; gateways are replaced for a new certificate by the Cell controller.
"""

from hashlib import sha256

import msgspec
from msgspec import UNSET

from steward.certificates.errors import CertificateError
from steward.certificates.keeper import CertificateKeeper
from steward.certificates.options import CertificateOwner, KeeperOptions, Leaf
from steward.certificates.worker_process import CertificateWorker
from steward.certificates.x509 import read_certificate
from steward.kube.bounded_cache import LruCache
from steward.kube.objects.conditions import FALSE, TRUE, Condition
from steward.kube.objects.kinds import Key, Ref
from steward.kube.objects.meta import key_of
from steward.kube.objects.timestamps import to_timestamp
from steward.multigres import names, reasons
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.group import API_VERSION
from steward.multigres.api.unset import or_default
from steward.multigres.cache_rules import CLUSTER as KIND
from steward.multigres.controllers.common.context import MultigresContext
from steward.multigres.controllers.common.status_contributions import GATEWAY_CERTIFICATES, StatusContribution
from steward.multigres.controllers.postgres_access.user_secrets import CACHED_SECONDS, UserSecrets
from steward.multigres.objects.metadata import component_labels
from steward.multigres.resolution.gateway_tls import cell_gateway_tls, makes_certificate
from steward.multigres.status.conditions import GATEWAY_CERTIFICATE_READY
from steward.multigres.views import ClusterView
from steward.runtime.controller.controller import Controller
from steward.runtime.controller.predicates import any_change
from steward.runtime.controller.triggers import For, Owns
from steward.runtime.reconcile import DONE, RequeueAfter, Result

NAME = "gateway-certificates"
FIELD_MANAGER = "multigres-gateway-certificates"
COMPONENT = "gateway-tls"
CERTIFICATE_KEY = "tls.crt"
RETRY_SECONDS = 60.0
EXPIRIES_CACHED = 1000
VALID = "gateways have a valid certificate"


class GatewayCertificateReconciler:
    def __init__(self, context: MultigresContext, worker: CertificateWorker) -> None:
        self.context = context
        self.worker = worker
        self.clusters = context.store(context.rules.cluster)
        self.secrets = UserSecrets(context)
        self._expiries: LruCache[str, str] = LruCache(EXPIRIES_CACHED)

    def controller(self) -> Controller:
        rules = self.context.rules
        # The cache holds no data of Secrets: only a new version shows that the data has changed.
        return Controller(NAME, self, (For(rules.cluster), Owns(rules.secret, when=any_change)))

    async def reconcile(self, key: Key) -> Result:
        cluster = self.clusters.get(key)
        if cluster is None or cluster.metadata.deletion_timestamp is not None:
            return DONE
        spec = _spec_of(cluster)
        tls = UNSET if spec is None else cell_gateway_tls(key.name, spec)
        if spec is None or tls is UNSET:
            self._report_nothing(cluster)
            return DONE
        if self.context.paused.includes(Ref(KIND, key)):
            return DONE
        if makes_certificate(spec):
            return await self._renew(cluster, spec)
        return await self._check_user_secret(cluster, tls.secret_name)

    async def _renew(self, cluster: ClusterView, spec: MultigresClusterSpec) -> Result:
        options = keeper_options(cluster, spec)
        keeper = CertificateKeeper(self.context.client, options, self.context.clock, worker=self.worker)
        try:
            state = await keeper.check()
        except CertificateError as error:
            self._report_missing(cluster, str(error))
            return RequeueAfter(RETRY_SECONDS)
        leaf = state.leaves[names.gateway_certificate(cluster.metadata.name)].certificate
        self._report_valid(cluster, await self._expiry(leaf))
        return RequeueAfter(state.next_check)

    async def _check_user_secret(self, cluster: ClusterView, name: str) -> Result:
        found = await self.secrets.value(Key(cluster.metadata.namespace, name), CERTIFICATE_KEY)
        expiry = await self._expiry(found) if found else ""
        if expiry:
            self._report_valid(cluster, expiry)
        else:
            message = f"Secret {name} has no certificate under the key {CERTIFICATE_KEY}; put one there"
            self._report_missing(cluster, message)
        return RequeueAfter(CACHED_SECONDS)

    async def _expiry(self, certificate: bytes) -> str:
        """Read once for each certificate: that takes another process. "" if it is none."""
        digest = sha256(certificate).hexdigest()
        known = self._expiries.get(digest)
        if known is None:
            async with self.worker() as call:
                facts = await call(read_certificate, certificate)
            known = "" if facts is None else to_timestamp(facts.not_after)
            self._expiries.set(digest, known)
        return known

    def _report_valid(self, cluster: ClusterView, expiry: str) -> None:
        condition = _condition(cluster, TRUE, reasons.CERTIFICATES_VALID, VALID)
        self._report(cluster, StatusContribution((condition,), {"gatewayCertificateExpiry": expiry}))

    def _report_missing(self, cluster: ClusterView, message: str) -> None:
        condition = _condition(cluster, FALSE, reasons.CERTIFICATES_MISSING, message)
        self._report(cluster, StatusContribution((condition,), {}))

    def _report_nothing(self, cluster: ClusterView) -> None:
        """Takes back what was reported before TLS was turned off, also by an earlier process."""
        ref = Ref(KIND, key_of(cluster))
        has_reported = self.context.contributions.has(ref, GATEWAY_CERTIFICATES)
        if has_reported or cluster.status.gateway_certificate_expiry is not UNSET:
            self._report(cluster, StatusContribution((), {}))

    def _report(self, cluster: ClusterView, contribution: StatusContribution) -> None:
        self.context.contributions.set(Ref(KIND, key_of(cluster)), GATEWAY_CERTIFICATES, contribution)


def _condition(cluster: ClusterView, status: str, reason: str, message: str) -> Condition:
    return Condition(GATEWAY_CERTIFICATE_READY, status, reason, message, cluster.metadata.generation)


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
