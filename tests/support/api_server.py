"""The tests' own eyes on an API server: one kept connection a thread, plain JSON, and no process for each look.

Not `steward.kube`, which is what the tests are about.
"""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import yaml

_TIMEOUT_SECONDS = 60
_DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


class Answer(NamedTuple):
    status: int
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Kind(NamedTuple):
    """A resource as discovery shows it."""

    api_version: str
    kind: str
    plural: str
    is_namespaced: bool

    def path(self, namespace: str = "", name: str = "") -> str:
        root = f"/apis/{self.api_version}" if "/" in self.api_version else f"/api/{self.api_version}"
        space = f"/namespaces/{namespace}" if self.is_namespaced and namespace else ""
        return f"{root}{space}/{self.plural}" + (f"/{name}" if name else "")


class _Kept(http.client.HTTPSConnection):
    """Goes with its thread: an executor's threads end with their loop."""

    def __del__(self) -> None:
        self.close()


class ApiServer:
    """An API server as the user of a kubeconfig with a client certificate in it."""

    def __init__(self, kubeconfig: Path) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self._address = urlsplit(cluster["server"]).netloc
        self._context = ssl.create_default_context(cadata=_decoded(cluster["certificate-authority-data"]))
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as both:
            both.write(_decoded(user["client-certificate-data"]) + _decoded(user["client-key-data"]))
            both.flush()
            self._context.load_cert_chain(both.name)
        self._mine = threading.local()
        self._kinds: dict[str, Kind] = {}

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        sent = {"User-Agent": "steward-tests", "Content-Type": "application/json", **headers}
        data = None if body is None else json.dumps(body)
        # Only a GET may be sent again when a kept connection turns out to be closed; the others get a fresh one.
        if method != "GET":
            self._forget()
        try:
            return self._send(method, path, data, sent)
        except (http.client.HTTPException, OSError):
            self._forget()
            if method != "GET":
                raise
            return self._send(method, path, data, sent)

    def kind(self, word: str) -> Kind | None:
        """By any name that kubectl takes: plural, singular, short or kind, with or without the group."""
        if word.lower() not in self._kinds:
            self._kinds = dict(reversed(list(self._discovered())))
        return self._kinds.get(word.lower())

    def _send(self, method: str, path: str, data: str | None, headers: dict[str, str]) -> Answer:
        connection = getattr(self._mine, "connection", None)
        if connection is None:
            connection = _Kept(self._address, context=self._context, timeout=_TIMEOUT_SECONDS)
            self._mine.connection = connection
        connection.request(method, path, data, headers)
        answer = connection.getresponse()
        return Answer(answer.status, answer.read())

    def _forget(self) -> None:
        if (connection := getattr(self._mine, "connection", None)) is not None:
            connection.close()
            self._mine.connection = None

    def _discovered(self) -> Iterator[tuple[str, Kind]]:
        """Names in the server's order of preference: the first group and version that knows a name has it."""
        for root in ("/api", "/apis"):
            for group in self.call("GET", root, Accept=_DISCOVERY).json()["items"]:
                for version in group["versions"]:
                    yield from _names(group["metadata"].get("name", ""), version)


def _names(group: str, version: dict[str, Any]) -> Iterator[tuple[str, Kind]]:
    api_version = f"{group}/{version['version']}" if group else version["version"]
    for resource in version["resources"]:
        shown = resource["responseKind"]["kind"]
        found = Kind(api_version, shown, resource["resource"], resource["scope"] == "Namespaced")
        names = {found.plural, resource.get("singularResource", ""), shown.lower()}
        for name in names | set(resource.get("shortNames", ())):
            yield name, found
            yield f"{name}.{group}", found


def _decoded(data: str) -> str:
    return base64.b64decode(data).decode()
