"""Requests that pass through the operators' webhooks all the time, and the failures among them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.support.api_server import ApiServer
from tests.tenants.support.manifests import template

_PAUSE_SECONDS = 0.1


@dataclass
class AdmissionLoad:
    """Counts of valid and invalid objects that were sent with a dry run, and what went wrong."""

    server: ApiServer
    namespace: str
    accepted: int = 0
    rejected: int = 0
    failures: list[str] = field(default_factory=list)
    _ended: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        while not self._ended.wait(_PAUSE_SECONDS):
            self._send_valid()
            self._send_invalid()

    def end(self) -> None:
        self._ended.set()

    def _send_valid(self) -> None:
        status, body = self._create(template())
        if status == 201:
            self.accepted += 1
        else:
            self.failures.append(body)

    def _send_invalid(self) -> None:
        """Only the webhook knows that this is wrong: the template of a name cannot be parsed."""
        wrong = template()
        wrong["spec"]["configMaps"][0]["nameTemplate"] = "{{ .uid"
        status, body = self._create(wrong)
        if 400 <= status < 500 and "nameTemplate" in body:
            self.rejected += 1
        else:
            self.failures.append(f"accepted or failed ({status}): {body}")

    def _create(self, manifest: dict[str, object]) -> tuple[int, str]:
        path = (
            f"/apis/operator.kubernetes-tenants.org/v1/namespaces/{self.namespace}/tenanttemplates?dryRun=All"
        )
        try:
            answer = self.server.call("POST", path, manifest)
        except OSError as error:
            return 0, str(error)
        return answer.status, answer.body.decode()[:500]


@contextmanager
def admission_load(server: ApiServer, namespace: str) -> Iterator[AdmissionLoad]:
    load = AdmissionLoad(server, namespace)
    thread = threading.Thread(target=load.run, daemon=True)
    thread.start()
    try:
        yield load
    finally:
        load.end()
        thread.join()
