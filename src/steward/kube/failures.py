"""What it means that no answer came: the HTTP client's exceptions become errors of the tree.

The question that matters is whether the request can have had an effect. It cannot before it was sent, and a read
has none; everything else is ambiguous.
"""

import ssl

import aiohttp

from steward.kube.errors import Timeout, TlsError, TransportError, Unreachable
from steward.kube.request import Effect, Request

FAILURES = (aiohttp.ClientError, OSError)


def failure_of(error: Exception, request: Request, host: str, sent: bool) -> TransportError:
    asked = f"{request.method} {request.path}"
    if _is_about_tls(error, sent):
        return TlsError(f"TLS with {host} failed: {_reason(error)}. {_cure(error)}")
    ambiguous = sent and request.effect is not Effect.READ
    if isinstance(error, TimeoutError):
        return Timeout(f"{asked} at {host} got no answer in time{_doubt(ambiguous)}", ambiguous)
    if sent:
        return Timeout(
            f"{asked} at {host} lost its connection ({_reason(error)}){_doubt(ambiguous)}", ambiguous
        )
    if isinstance(error, aiohttp.ClientProxyConnectionError | aiohttp.ClientHttpProxyError):
        return Unreachable(f"the proxy did not connect us to {host}: {_reason(error)}")
    return Unreachable(f"cannot reach {host}: {_reason(error)}")


def cut_stream(error: Exception, request: Request, host: str) -> TransportError:
    return Unreachable(f"the stream of {request.path} from {host} was cut: {_reason(error)}")


def _is_about_tls(error: Exception, sent: bool) -> bool:
    """A handshake that failed on its merits; with TLS 1.3 the server's verdict may come after the request."""
    cause = _cause(error)
    if not isinstance(cause, ssl.SSLError) or isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        return False
    return not sent or "ALERT" in (cause.reason or "")


def _cure(error: Exception) -> str:
    text = _reason(error)
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        if "mismatch" in text or "not valid for" in text:
            return "Set tls-server-name to a name that the server's certificate holds"
        return "Check certificate-authority of this cluster"
    return "Check the client certificate, and that the address is that of a TLS server"


def _doubt(ambiguous: bool) -> str:
    return "; the server may have carried it out" if ambiguous else ""


def _reason(error: Exception) -> str:
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return f"it answered {error.status} {error.message}"
    cause = _cause(error)
    return str(cause) or type(cause).__name__


def _cause(error: Exception) -> Exception:
    """What the HTTP client wrapped."""
    wrapped = getattr(error, "certificate_error", None) or getattr(error, "os_error", None) or error.__cause__
    return wrapped if isinstance(wrapped, Exception) else error
