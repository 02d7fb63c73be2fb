"""What an author of TenantTemplates writes to attack, and what they can read afterwards."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.cli.support.document_commands import commands_on_page
from tests.support.kubectl import Kubectl
from tests.tenants.support.fleet import TENANT, Fleet, Manifest, deployment

ALLOW: Final = "kubernetes-tenants.org/allow-templates-from"
LABEL: Final = "kubernetes-tenants.org/tenant"
PASSWORD: Final = "hunter2-Zq7vXk93LwPd"


class Site(NamedTuple):
    """One operator for all tests of a file; each test has a namespace of its own."""

    kubectl: Kubectl
    homes: Iterator[str]
    operator_namespace: str
    directory: Path


def secret(name: str, namespace: str = "", **fields: Any) -> Manifest:
    where = {"namespace": namespace} if namespace else {}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, **where}, **fields}


def token_secret(namespace: str, account: str) -> Manifest:
    found = secret("stolen", namespace, type="kubernetes.io/service-account-token")
    found["metadata"]["annotations"] = {"kubernetes.io/service-account.name": account}
    return found


def account(name: str, namespace: str = "") -> Manifest:
    where = {"namespace": namespace} if namespace else {}
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, **where}}


def pods(name: str, **pod_spec: Any) -> Manifest:
    found = deployment(name)
    found["spec"]["template"]["spec"] |= pod_spec
    return found


def published(fleet: Fleet) -> str:
    """Everything that users of the namespace can read about its Tenants: objects, status and events."""
    where = ("-n", fleet.namespace)
    return str(fleet.kubectl.json("get", TENANT, *where)) + str(
        fleet.kubectl.json("get", "events.events.k8s.io", *where)
    )


def until_denied(fleet: Fleet, name: str = "acme") -> str:
    message: str = fleet.until_reason("Degraded", "PermissionDenied", name)["message"]
    fleet.until_event("PermissionDenied")
    return message


def open_namespace(kubectl: Kubectl, namespace: str, home: str) -> None:
    """Lets the templates of another namespace in, with the command of the documents."""
    start = "kubectl label namespace shared "
    (command,) = [each for each in commands_on_page("docs/security.md") if each.startswith(start)]
    words = command.replace("shared", namespace).replace("shop_mart", f"mart_{home}").split()
    kubectl(*words[1:])
