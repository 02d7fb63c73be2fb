"""What clients of a cluster need to know about the TLS of its gateways."""

from msgspec import UNSET

from steward.kube.objects.kinds import Key, Manifest
from steward.kube.objects.meta import HasMetadata, key_of
from steward.multigres import names
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.unset import or_default
from steward.multigres.controllers.cluster.external_refs import ExternalReferences
from steward.multigres.objects.metadata import CLUSTER_LABEL
from steward.multigres.objects.secrets import AUTHORITY_KEY, NO_TLS
from steward.multigres.resolution.gateway_tls import ClientTls, cell_gateway_tls
from steward.multigres.status.conditions import GATEWAY_CERTIFICATE_READY
from steward.multigres.views import ClusterView


def cluster_of_certificate(secret: HasMetadata) -> list[Key]:
    """The cluster of a certificate that the operator made for gateways."""
    meta = secret.metadata
    name = meta.labels.get(CLUSTER_LABEL, "")
    return [Key(meta.namespace, name)] if name and meta.name == names.gateway_certificate(name) else []


def without_ended_condition(status: Manifest, spec: MultigresClusterSpec) -> Manifest:
    """Without the condition of a certificate if gateways offer no TLS any more."""
    tls = spec.gateway_tls
    if tls is not UNSET and tls.enabled:
        return status
    kept = [each for each in status["conditions"] if each["type"] != GATEWAY_CERTIFICATE_READY]
    return {**status, "conditions": kept}


async def read_client_tls(
    references: ExternalReferences, cluster: ClusterView, spec: MultigresClusterSpec
) -> ClientTls:
    namespace, name = key_of(cluster)
    tls = cell_gateway_tls(name, spec)
    if tls is UNSET:
        return NO_TLS
    authority = await references.text(Key(namespace, tls.secret_name), AUTHORITY_KEY)
    return ClientTls(authority or "", or_default(tls.required, False))
