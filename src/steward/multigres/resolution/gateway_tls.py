"""TLS between clients and gateways: which Secret has the certificate, and what clients need to know. Pure."""

from typing import NamedTuple

from msgspec import UNSET

from steward.multigres import names
from steward.multigres.api.cell import CellGatewayTls
from steward.multigres.api.cluster import MultigresClusterSpec
from steward.multigres.api.scalars import Unset
from steward.multigres.api.unset import or_default


class ClientTls(NamedTuple):
    """What a client needs to know. `authority` is "" if the Secret names none: clients trust it anyway, or not yet."""

    authority: str = ""
    is_required: bool = False


def cell_gateway_tls(cluster: str, spec: MultigresClusterSpec) -> CellGatewayTls | Unset:
    """As the Cells of a cluster have it; unset if gateways offer no TLS."""
    tls = spec.gateway_tls
    if tls is UNSET or not tls.enabled:
        return UNSET
    return CellGatewayTls(
        secret_name=or_default(tls.secret_name, names.gateway_certificate(cluster)), required=tls.required
    )


def makes_certificate(spec: MultigresClusterSpec) -> bool:
    """Whether the operator makes the certificate."""
    tls = spec.gateway_tls
    return tls is not UNSET and tls.enabled and tls.secret_name is UNSET


def made_secrets(cluster: str, spec: MultigresClusterSpec) -> frozenset[str]:
    """The Secrets that the certificate keeper writes for the cluster."""
    if not makes_certificate(spec):
        return frozenset()
    return frozenset({names.gateway_authority(cluster), names.gateway_certificate(cluster)})
