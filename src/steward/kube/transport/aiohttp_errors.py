"""Turns the exceptions of aiohttp into those of `kube.errors`."""

import aiohttp

from steward.kube.errors import TransportError, Unreachable
from steward.kube.transport.network_errors import NetworkFailure, failure_reason, transport_error
from steward.kube.transport.request import Request

FAILURES = (aiohttp.ClientError, OSError)


def to_transport_error(error: Exception, request: Request, host: str, sent: bool) -> TransportError:
    return transport_error(_network_failure(error, sent), request, host)


def stream_error(error: Exception, request: Request, host: str) -> TransportError:
    reason = failure_reason(_network_failure(error, sent=True))
    return Unreachable(f"the stream of {request.path} from {host} was cut: {reason}")


def _network_failure(error: Exception, sent: bool) -> NetworkFailure:
    by_proxy = isinstance(error, aiohttp.ClientProxyConnectionError | aiohttp.ClientHttpProxyError)
    message = ""
    if isinstance(error, aiohttp.ClientHttpProxyError):
        message = f"it answered {error.status} {error.message}"
    return NetworkFailure(_cause(error), sent, message, by_proxy)


def _cause(error: Exception) -> Exception:
    """The exception that aiohttp wrapped. A timeout is kept: it says more than the error that it caused."""
    if isinstance(error, TimeoutError):
        return error
    wrapped = getattr(error, "certificate_error", None) or getattr(error, "os_error", None) or error.__cause__
    return wrapped if isinstance(wrapped, Exception) else error
