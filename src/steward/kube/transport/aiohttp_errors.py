"""The HTTP client's exceptions, as errors of the tree."""

import aiohttp

from steward.kube.errors import TransportError, Unreachable
from steward.kube.transport.network_errors import Silence, no_answer, reason_of
from steward.kube.transport.request import Request

FAILURES = (aiohttp.ClientError, OSError)


def failure_of(error: Exception, request: Request, host: str, sent: bool) -> TransportError:
    return no_answer(_silence(error, sent), request, host)


def cut_stream(error: Exception, request: Request, host: str) -> TransportError:
    reason = reason_of(_silence(error, sent=True))
    return Unreachable(f"the stream of {request.path} from {host} was cut: {reason}")


def _silence(error: Exception, sent: bool) -> Silence:
    by_proxy = isinstance(error, aiohttp.ClientProxyConnectionError | aiohttp.ClientHttpProxyError)
    told = ""
    if isinstance(error, aiohttp.ClientHttpProxyError):
        told = f"it answered {error.status} {error.message}"
    return Silence(_cause(error), sent, told, by_proxy)


def _cause(error: Exception) -> Exception:
    """What the HTTP client wrapped; that time was up says more than what ended then."""
    if isinstance(error, TimeoutError):
        return error
    wrapped = getattr(error, "certificate_error", None) or getattr(error, "os_error", None) or error.__cause__
    return wrapped if isinstance(wrapped, Exception) else error
