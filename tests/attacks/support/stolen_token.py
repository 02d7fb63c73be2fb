"""Calls an API server with the token of a service account, as an attacker with nothing else would."""

from __future__ import annotations

import http.client
import json
import ssl
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from steward.local.control_plane import ControlPlane

TIMEOUT_SECONDS = 60
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC = {"Content-Type": "application/strategic-merge-patch+json"}
"""Changes items of lists by their names."""


class Attempt(NamedTuple):
    """One request. `headers`: those of impersonation, or the kind of patch."""

    method: str
    path: str
    body: Any = None
    headers: dict[str, str] | None = None


class Outcome(NamedTuple):
    status: int
    body: bytes

    @property
    def message(self) -> str:
        return str(json.loads(self.body).get("message", ""))


class StolenToken:
    def __init__(self, plane: ControlPlane, token: str) -> None:
        self._address = urlsplit(plane.url).netloc
        self._context = ssl.create_default_context(cafile=str(plane.ca_file))
        self._token = token

    def attempt(self, attempt: Attempt) -> Outcome:
        content_type = MERGE_PATCH if attempt.method == "PATCH" else "application/json"
        headers = {
            "Authorization": f"Bearer {self._token}",
            "Content-Type": content_type,
            **(attempt.headers or {}),
        }
        connection = http.client.HTTPSConnection(
            self._address, context=self._context, timeout=TIMEOUT_SECONDS
        )
        try:
            body = None if attempt.body is None else json.dumps(attempt.body)
            connection.request(attempt.method, attempt.path, body, headers)
            answer = connection.getresponse()
            return Outcome(answer.status, answer.read())
        finally:
            connection.close()
