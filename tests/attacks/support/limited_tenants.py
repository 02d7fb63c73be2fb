"""A tenants operator under a memory limit, with an honest registry whose new rows show whether it still works."""

import base64
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from steward.local.control_plane import ControlPlane
from tests.attacks.support.memory_limit import memory_limit
from tests.support.kubectl import Kubectl
from tests.tenants.support.customers import Customers, World, config_template, sqlite_registry, until
from tests.tenants.support.fleet import create_namespaces, delete_tenants_and_namespaces
from tests.tenants.support.manifests import Manifest, registry
from tests.tenants.support.operator import running_operator

PASSWORD = base64.b64encode(b"hunter2-of-the-reader").decode()


class LimitedTenants:
    def __init__(self, world: World, customers: Customers, process: subprocess.Popen[bytes]) -> None:
        self.world = world
        self.customers = customers
        self.process = process
        self._numbers = count()

    def set_up(self) -> None:
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "db"},
            "data": {"password": PASSWORD},
        }
        self.world.apply(secret, sqlite_registry(), config_template())
        self.assert_reconciles()

    def assert_reconciles(self) -> None:
        """A new row of the honest table becomes a Tenant, by the same process."""
        uid = f"honest{next(self._numbers)}"
        self.customers.add(uid)
        until(lambda: f"{uid}-web-app" in self.world.tenants() or self.process.poll(), self.world.status)
        assert self.process.poll() is None, "the operator has died"

    def until_ready_is_false(self, name: str) -> str:
        """The message of the registry's condition Ready."""
        return str(self.world.until_condition("Ready", "False", name=name)["message"])


def hostile_registry(kind: str, port: int) -> Manifest:
    source: dict[str, Any] = {
        "host": "127.0.0.1",
        "port": port,
        "username": "reader",
        "database": "saas",
        "table": "customers",
        "passwordRef": {"name": "db", "key": "password"},
        "tls": {"mode": "disable"},
        "queryTimeout": "5s",
    }
    return registry("hostile", source={"type": kind, "syncInterval": "300s", kind: source})


@contextmanager
def limited_tenants(
    control_plane: ControlPlane, kubectl: Kubectl, directory: Path, size: int
) -> Iterator[LimitedTenants]:
    (namespace,) = create_namespaces(kubectl, 1)
    log = directory / "operator.log"
    with memory_limit(size) as launcher, running_operator(control_plane, namespace, log, launcher) as process:
        found = LimitedTenants(World(kubectl, namespace), Customers(directory), process)
        try:
            found.set_up()
            yield found
        finally:
            delete_tenants_and_namespaces(kubectl, [namespace])
