"""The address at which the gateways are reached from outside, and whether it is there yet. Pure."""

from typing import NamedTuple

from steward.kube.objects.conditions import FALSE, TRUE, Condition
from steward.multigres import reasons

GATEWAY_EXTERNAL_READY = "GatewayExternalReady"


class ExternalAddresses(NamedTuple):
    """Addresses that the spec gives, and those that a load balancer has."""

    external_ips: tuple[str, ...] = ()
    ingress: tuple[str, ...] = ()


def external_endpoint(addresses: ExternalAddresses, port: int) -> str:
    """Host and port; "" while there is no address."""
    host = next((address for address in (*addresses.external_ips, *addresses.ingress) if address), "")
    if not host:
        return ""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class ExternalGatewayState(NamedTuple):
    """The Service of the gateways as it is observed."""

    service: str
    addresses: ExternalAddresses
    has_ready_gateway: bool
    generation: int


def external_condition(state: ExternalGatewayState) -> Condition:
    status, reason, message = _assess(state)
    return Condition(GATEWAY_EXTERNAL_READY, status, reason, message, state.generation)


def _assess(state: ExternalGatewayState) -> tuple[str, str, str]:
    addresses = state.addresses
    if not any((*addresses.external_ips, *addresses.ingress)):
        message = (
            f"no load balancer has given Service {state.service} an address yet; if the Kubernetes cluster has none,"
            " set spec.externalGateway.externalIPs"
        )
        return FALSE, reasons.AWAITING_ENDPOINT, message
    if not state.has_ready_gateway:
        return FALSE, reasons.NO_READY_GATEWAYS, "the address exists, but no gateway is ready"
    return TRUE, reasons.ENDPOINT_READY, "the gateways are reachable at status.externalEndpoint"
