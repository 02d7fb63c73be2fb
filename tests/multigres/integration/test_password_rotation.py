"""Accounts in Postgres: a changed password reaches Postgres before it is published, also if the operator had crashed in
between; an application that is to be no superuser gets its account when Postgres has it.

Both tests share one cluster; the first one needs the password that it was created with.
"""

import asyncio
import base64
import json
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from steward.local.control_plane import ControlPlane
from steward.multigres import names
from steward.postgres.address import PostgresAddress
from steward.postgres.role_password import accepts_password
from tests.multigres.support.clusters import conditions, small_cluster
from tests.multigres.support.operator import running_operator
from tests.multigres.support.real_postgres import execute
from tests.multigres.support.waiting import eventually
from tests.support import data_planes
from tests.support.database_servers import DatabaseServer
from tests.support.kubectl import Kubectl

CLUSTER = "rotating"
NO_WEB = {"multiadminWeb": {"spec": {"replicas": 0}}}


class Superuser:
    """The role `postgres` of a real server, which stands for the primary of the cluster."""

    def __init__(self, server: DatabaseServer) -> None:
        self._server = server
        self.address = PostgresAddress(server.host, server.port, "postgres", "postgres")

    def run(self, statement: str) -> None:
        execute(self._server, statement)

    def accepts(self, password: str, user: str = "postgres") -> bool:
        return asyncio.run(accepts_password(self.address._replace(user=user), password))

    def drop_owner(self, role: str) -> None:
        self.run("ALTER DATABASE postgres OWNER TO CURRENT_USER")
        self.run(f"DROP ROLE {role}")


@pytest.fixture(scope="module")
def superuser(
    control_plane: ControlPlane,
    kubectl: Kubectl,
    long_namespace: str,
    tmp_path_factory: pytest.TempPathFactory,
    postgres: DatabaseServer,
) -> Iterator[Superuser]:
    """With an operator that reaches the server under the names of all pods of the cluster."""
    namespace, log = long_namespace, tmp_path_factory.mktemp("operator") / "operator.log"
    path = names.ShardPath(CLUSTER, "postgres", "default", "0-inf")
    service, pool = names.pool_headless(path, "main", "z1"), names.pool(path, "main", "z1")
    hosts = [f"{pool}-{number}.{service}.{namespace}.svc.cluster.local" for number in range(2)]
    forwards = [f"{host}:5432:{postgres.host}:{postgres.port}" for host in hosts]
    connect_to = ",".join([data_planes.connect_to(control_plane), *forwards])
    found = Superuser(postgres)
    found.run("CREATE ROLE postgres SUPERUSER LOGIN")
    with running_operator(control_plane, namespace, log, connect_to=connect_to):
        yield found
    found.run("DROP ROLE postgres")


class Passwords:
    def __init__(self, kubectl: Kubectl, namespace: str) -> None:
        self._kubectl = kubectl
        self._namespace = namespace

    def published(self) -> str:
        return self.account(f"{CLUSTER}-app")[1]

    def account(self, secret: str) -> tuple[str, str]:
        found = self._kubectl.json(
            "get", "secret", "-n", self._namespace, "--field-selector", f"metadata.name={secret}"
        )["items"] or [{}]
        data = {key: base64.b64decode(value).decode() for key, value in found[0].get("data", {}).items()}
        return data.get("user", ""), data.get("password", "")

    def change(self, password: str) -> None:
        patch = json.dumps({"stringData": {"password": password}})
        secret = f"{CLUSTER}-postgres-password"
        self._kubectl("patch", "secret", secret, "-n", self._namespace, "--type=merge", "-p", patch)

    def until_published(self, password: str) -> None:
        eventually(lambda: self.published() == password, f"{password} to be published")

    def pending(self) -> str:
        return str(
            conditions(self._kubectl, self._namespace, CLUSTER)
            .get("PasswordChangePending", {})
            .get("message")
        )


class ServingCluster(NamedTuple):
    """A cluster with a primary, whose superuser has the password that the cluster was created with."""

    namespace: str
    first_password: str


@pytest.fixture(scope="module")
def cluster(superuser: Superuser, kubectl: Kubectl, long_namespace: str) -> ServingCluster:
    kubectl("create", "-f", "-", document=small_cluster(long_namespace, CLUSTER, **NO_WEB))
    first = str(eventually(Passwords(kubectl, long_namespace).published, "the connection Secret"))
    superuser.run(f"ALTER ROLE postgres PASSWORD '{first}'")
    eventually(
        lambda: conditions(kubectl, long_namespace, CLUSTER).get("Available", {}).get("status") == "True",
        "a primary",
    )
    return ServingCluster(long_namespace, first)


def test_a_changed_password_is_published_when_postgres_accepts_it(
    superuser: Superuser, kubectl: Kubectl, cluster: ServingCluster
) -> None:
    passwords, first = Passwords(kubectl, cluster.namespace), cluster.first_password

    passwords.change("sécond")
    passwords.until_published("sécond")
    assert superuser.accepts("sécond")
    assert not superuser.accepts(first)

    # Postgres refuses: its words are reported, and the old password stays published.
    superuser.run("ALTER ROLE postgres SET default_transaction_read_only = on")
    passwords.change("third")
    eventually(lambda: "in a read-only transaction" in passwords.pending(), "the refusal to be reported")
    assert passwords.published() == "sécond"
    assert superuser.accepts("sécond")

    # As after a crash between both steps: Postgres has the password, and it is not published yet.
    superuser.run("ALTER ROLE postgres RESET default_transaction_read_only")
    superuser.run("ALTER ROLE postgres PASSWORD 'third'")
    passwords.until_published("third")
    eventually(lambda: passwords.pending() == "None", "the condition to end")


def test_an_existing_cluster_opts_in_to_an_application_that_is_no_superuser(
    superuser: Superuser, kubectl: Kubectl, cluster: ServingCluster
) -> None:
    namespace, passwords = cluster.namespace, Passwords(kubectl, cluster.namespace)
    current = passwords.published()
    assert superuser.accepts(current)
    assert passwords.account(f"{CLUSTER}-app") == ("postgres", current)

    patch = json.dumps({"spec": {"applicationRole": "Owner"}})
    kubectl("patch", "mgc", CLUSTER, "-n", namespace, "--type=merge", "-p", patch)
    eventually(lambda: passwords.account(f"{CLUSTER}-app")[0] == "app", "the owner's account")
    assert superuser.accepts(passwords.published(), "app")
    assert passwords.account(f"{CLUSTER}-superuser") == ("postgres", current)
    status = kubectl.json("get", "mgc", CLUSTER, "-n", namespace)["status"]
    secret = status["roleSecrets"]["postgres/app"]

    # The owner's password is changed in the Secret of its role.
    changed = json.dumps({"stringData": {"password": "another"}})
    kubectl("patch", "secret", secret, "-n", namespace, "--type=merge", "-p", changed)
    passwords.until_published("another")
    assert superuser.accepts("another", "app")
    ready = conditions(kubectl, namespace, CLUSTER)["RolesReady"]
    assert (ready["status"], ready["message"]) == ("True", "declared roles in Postgres: 1")
    superuser.drop_owner("app")
