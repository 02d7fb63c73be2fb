"""A small API client for tests: one open connection per thread, plain JSON, and no kubectl process per call.

Independent of `steward.kube`, which is under test.
"""

from __future__ import annotations

import base64
import http.client
import json
import select
import ssl
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tests.support.yaml_text import load_yaml

_TIMEOUT_SECONDS = 60
_DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


class ApiResponse(NamedTuple):
    status: int
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Kind(NamedTuple):
    """A resource from discovery."""

    api_version: str
    kind: str
    plural: str
    is_namespaced: bool

    def path(self, namespace: str = "", name: str = "") -> str:
        root = f"/apis/{self.api_version}" if "/" in self.api_version else f"/api/{self.api_version}"
        space = f"/namespaces/{namespace}" if self.is_namespaced and namespace else ""
        return f"{root}{space}/{self.plural}" + (f"/{name}" if name else "")


class _ThreadConnection(http.client.HTTPSConnection):
    """Closed with its thread: the threads of an executor end with their event loop."""

    def __del__(self) -> None:
        self.close()


class ApiServer:
    """An API server, called as the user of a kubeconfig with a client certificate."""

    def __init__(self, kubeconfig: Path) -> None:
        config = load_yaml(kubeconfig.read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self._address = urlsplit(cluster["server"]).netloc
        self._context = ssl.create_default_context(cadata=_decoded(cluster["certificate-authority-data"]))
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as both:
            both.write(_decoded(user["client-certificate-data"]) + _decoded(user["client-key-data"]))
            both.flush()
            self._context.load_cert_chain(both.name)
        self._local = threading.local()
        self._kinds: dict[str, Kind] = {}

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> ApiResponse:
        all_headers = {"User-Agent": "steward-tests", "Content-Type": "application/json", **headers}
        data = None if body is None else json.dumps(body)
        # Only a GET is retried when an open connection turns out to be closed. A new connection for each other request
        # was rejected: its handshake costs the test and the server more than the request.
        self._drop_closed_connection()
        try:
            return self._send(method, path, data, all_headers)
        except (http.client.HTTPException, OSError):
            self._drop_connection()
            if method != "GET":
                raise
            return self._send(method, path, data, all_headers)

    def kind(self, word: str) -> Kind | None:
        """Find a kind by any name that kubectl accepts: plural, singular, short or kind, with or without the group."""
        if word.lower() not in self._kinds:
            self._kinds = dict(reversed(list(self._discover())))
        return self._kinds.get(word.lower())

    def _send(self, method: str, path: str, data: str | None, headers: dict[str, str]) -> ApiResponse:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = _ThreadConnection(self._address, context=self._context, timeout=_TIMEOUT_SECONDS)
            self._local.connection = connection
        connection.request(method, path, data, headers)
        answer = connection.getresponse()
        return ApiResponse(answer.status, answer.read())

    def _drop_closed_connection(self) -> None:
        connection: http.client.HTTPSConnection | None = getattr(self._local, "connection", None)
        if connection is None or connection.sock is None:
            return
        # Between two requests a server sends nothing but the end of the connection.
        arrived = select.poll()
        arrived.register(connection.sock, select.POLLIN)
        if arrived.poll(0):
            self._drop_connection()

    def _drop_connection(self) -> None:
        if (connection := getattr(self._local, "connection", None)) is not None:
            connection.close()
            self._local.connection = None

    def _discover(self) -> Iterator[tuple[str, Kind]]:
        """All names in the server's order of preference: the first group and version wins."""
        for root in ("/api", "/apis"):
            for group in self.call("GET", root, Accept=_DISCOVERY).json()["items"]:
                for version in group["versions"]:
                    yield from _names(group["metadata"].get("name", ""), version)


def _names(group: str, version: dict[str, Any]) -> Iterator[tuple[str, Kind]]:
    api_version = f"{group}/{version['version']}" if group else version["version"]
    for resource in version["resources"]:
        name_of_kind = resource["responseKind"]["kind"]
        found = Kind(api_version, name_of_kind, resource["resource"], resource["scope"] == "Namespaced")
        names = {found.plural, resource.get("singularResource", ""), name_of_kind.lower()}
        for name in names | set(resource.get("shortNames", ())):
            yield name, found
            yield f"{name}.{group}", found


def group_of(manifest: Any) -> str:
    return str(manifest["apiVersion"]).rpartition("/")[0]


def _decoded(data: str) -> str:
    return base64.b64decode(data).decode()
