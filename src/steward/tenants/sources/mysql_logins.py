"""Login methods that a MySQL server may request and that the reader rejects.

The driver would answer any of them. A server, or an attacker between it and the operator, could then request the
password in clear text over a connection without TLS.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, Never

from asyncmy.errors import OperationalError

from steward.tenants.sources.tls import TlsAttempt

NO_COMMON_LOGIN: Final = 2059
"""The error code of the driver for a login method that it does not support."""


class RejectedLogin:
    def __init__(self, why: str, connection: Any) -> None:
        self._why = why

    def authenticate(self, packet: Any) -> Never:
        raise OperationalError(NO_COMMON_LOGIN, self._why)


Login = Callable[[Any], RejectedLogin]
_UNSUPPORTED: Final[Mapping[str, Login]] = {
    "client_ed25519": partial(RejectedLogin, "the server requests ed25519, which is not supported")
}
_CLEAR_TEXT: Final[Mapping[str, Login]] = dict.fromkeys(
    ("mysql_clear_password", "dialog", "mysql_old_password"),
    partial(RejectedLogin, "the server requests the password, and the connection is not encrypted"),
)


def rejected_logins(attempt: TlsAttempt) -> dict[str, Login]:
    """The rejected methods, by their names in the protocol."""
    return dict(_UNSUPPORTED) if attempt is not None else {**_UNSUPPORTED, **_CLEAR_TEXT}
