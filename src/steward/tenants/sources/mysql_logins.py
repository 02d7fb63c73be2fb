"""Ways to log in that a MySQL server asks for and does not get.

The driver would answer whatever it is asked. A server, or whoever stands between it and us, could then ask for the
password as it is over a wire that anybody can read.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, Never

from asyncmy.errors import OperationalError

from steward.tenants.sources.tls import Attempt

NO_COMMON_LOGIN: Final = 2059
"""The driver's own number for a way to log in that it does not have."""


class Refused:
    def __init__(self, why: str, connection: Any) -> None:
        self._why = why

    def authenticate(self, packet: Any) -> Never:
        raise OperationalError(NO_COMMON_LOGIN, self._why)


Login = Callable[[Any], Refused]
_UNSPOKEN: Final[Mapping[str, Login]] = {
    "client_ed25519": partial(Refused, "the server asks for ed25519, which is not spoken here")
}
_IN_THE_CLEAR: Final[Mapping[str, Login]] = dict.fromkeys(
    ("mysql_clear_password", "dialog", "mysql_old_password"),
    partial(Refused, "the server asks for the password, and the connection is not encrypted"),
)


def refused_logins(attempt: Attempt) -> dict[str, Login]:
    """By the names that the protocol has for them."""
    return dict(_UNSPOKEN) if attempt is not None else {**_UNSPOKEN, **_IN_THE_CLEAR}
