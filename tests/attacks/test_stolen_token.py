"""An attacker with the token of an operator's service account, on a real API server with an installation of Steward.

Everything on the way to an administrator is denied, by the roles or by the admission policies; what SECURITY.md says
that such a token can do is done here, so that the page stays true.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from steward.install.operators import MULTIGRES, OPERATORS, TENANTS, ShippedOperator
from steward.install.values import NAMESPACE
from steward.local import control_plane as local
from steward.local.control_plane import ControlPlane
from tests.attacks.support import escalations
from tests.attacks.support.escalations import (
    EVERYTHING,
    PLAIN_ACCOUNT,
    READER_ACCOUNT,
    ROOT_ACCOUNT,
    SHOP,
    secret,
    workload,
)
from tests.attacks.support.stolen_token import Attempt, Outcome, StolenToken
from tests.install.support.steward import Steward
from tests.support.control_planes import running_control_plane
from tests.support.kubectl import Kubectl
from tests.support.rbac_comparison import PermissionRecord

DENIED = 403
TIMEOUT_SECONDS = 120
TOKEN, BOOTSTRAP = "kubernetes.io/service-account-token", "bootstrap.kubernetes.io/token"
VALUES = {"tenants": {"impersonate": [{"namespace": SHOP, "serviceAccounts": [PLAIN_ACCOUNT]}]}}
MEANS = [(operator, means) for operator in OPERATORS for means in escalations.escalations(operator)]


class Target(NamedTuple):
    """A cluster with an installation, and the tokens of its operators."""

    plane: ControlPlane
    kubectl: Kubectl

    def token(self, operator: ShippedOperator) -> StolenToken:
        text = self.kubectl("create", "token", operator.name, "-n", NAMESPACE)
        return StolenToken(self.plane, text.strip())


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    """A cluster of its own: other tests give the operators' accounts more rights. Its audit log is no use: an attacker
    tries what no operator needs."""
    with running_control_plane(PermissionRecord()) as directory:
        yield local.find(Path(directory))


@pytest.fixture(scope="module")
def target(plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Target:
    kubectl = Kubectl(plane.kubeconfig)
    kubectl("create", "namespace", SHOP)
    values = tmp_path_factory.mktemp("install") / "values.yaml"
    values.write_text(json.dumps(VALUES))
    Steward(plane)("install", "--apply", "--values", str(values))
    _furnish(kubectl)
    found = Target(plane, kubectl)
    for operator in OPERATORS:
        _wait_for_policy(found.token(operator))
    return found


def _furnish(kubectl: Kubectl) -> None:
    """Accounts, pods and objects of other users in the namespace `SHOP`."""
    where = ("-n", SHOP)
    for account in (ROOT_ACCOUNT, READER_ACCOUNT, PLAIN_ACCOUNT):
        kubectl("create", "serviceaccount", account, *where)
    kubectl("create", "clusterrole", "secret-reader", "--verb=list", "--resource=secrets")
    for account, role in ((ROOT_ACCOUNT, "cluster-admin"), (READER_ACCOUNT, "secret-reader")):
        subject = f"--serviceaccount={SHOP}:{account}"
        kubectl("create", "clusterrolebinding", account, f"--clusterrole={role}", subject)
    kubectl("create", "secret", "generic", "theirs", "--from-literal=password=s3cret", *where)
    kubectl("create", "configmap", "theirs", *where)
    managed = {"app.kubernetes.io/managed-by": MULTIGRES.name}
    for name, labels in (("theirs", {}), ("ours", managed)):
        metadata = {"name": name, "namespace": SHOP, "labels": labels}
        spec = {"containers": [{"name": "main", "image": "shop"}]}
        kubectl("create", "-f", "-", document=_document("v1", "Pod", metadata, spec=spec))
    kubectl("create", "-f", "-", document=_document("v1", "ConfigMap", {**metadata, "name": "ours"}))
    for name, account in (("theirs", PLAIN_ACCOUNT), ("root", ROOT_ACCOUNT)):
        body = workload("Deployment", SHOP, {"serviceAccountName": account}, name).body
        body["metadata"]["namespace"] = SHOP
        kubectl("create", "-f", "-", document=body)


def _document(api_version: str, kind: str, metadata: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **rest}


def _wait_for_policy(token: StolenToken) -> None:
    """The API server uses a new policy after a moment; a dry run shows whether it does."""
    attempt = secret("kube-system", TOKEN)
    dry_run = attempt._replace(path=f"{attempt.path}?dryRun=All")
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while "ValidatingAdmissionPolicy" not in token.attempt(dry_run).message:
        assert time.monotonic() < deadline, "the API server does not use the policy"
        time.sleep(0.2)


def _successes(token: StolenToken, attempts: list[Attempt]) -> list[str]:
    """The attempts that were not denied; a request that is rejected for another reason counts as a success."""
    outcomes = [(attempt, token.attempt(attempt)) for attempt in attempts]
    return [_described(*each) for each in outcomes if each[1].status != DENIED]


def _described(attempt: Attempt, outcome: Outcome) -> str:
    return f"{attempt.method} {attempt.path} {attempt.headers or ''}: {outcome.status} {outcome.body[:300]!r}"


@pytest.mark.parametrize(("operator", "means"), MEANS, ids=lambda part: getattr(part, "short_name", part))
def test_no_way_to_an_administrator_is_open(target: Target, operator: ShippedOperator, means: str) -> None:
    attempts = escalations.escalations(operator)[means]

    assert attempts
    assert _successes(target.token(operator), attempts) == []


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.short_name)
def test_a_secret_with_the_token_of_an_account_is_denied_in_every_namespace(
    target: Target, operator: ShippedOperator
) -> None:
    namespaces = target.kubectl("get", "namespaces", "-o", "jsonpath={.items[*].metadata.name}").split()
    attempts = [secret(name, kind) for name in namespaces for kind in (TOKEN, BOOTSTRAP)]
    attempts.append(secret("kube-system", TOKEN, escalations.AGGREGATOR))
    attempts.append(secret(SHOP, TOKEN, ROOT_ACCOUNT))

    assert len(namespaces) > 5
    assert _successes(target.token(operator), attempts) == []


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.short_name)
def test_the_policy_holds_for_an_account_that_was_given_every_right(
    target: Target, operator: ShippedOperator
) -> None:
    """As if an administrator had aggregated too much. Reads, and the policies themselves, are beyond a policy,
    and a template may hold a pod if an administrator grants that."""
    subject = f"--serviceaccount={NAMESPACE}:{operator.name}"
    target.kubectl("create", "clusterrolebinding", "careless", "--clusterrole=cluster-admin", subject)
    try:
        token = target.token(operator)
        _wait_for_right(token)
        means = escalations.escalations(operator)
        unseen = ("impersonation", "the policies themselves", "pods without a controller")
        writes = [each for name, found in means.items() if name not in unseen for each in found]
        attempts = [
            each for each in writes if each.method != "GET" and each.path != "/api/v1/persistentvolumes"
        ]
        outcomes = [(attempt, token.attempt(attempt)) for attempt in attempts]
        # Some are rejected before any policy is evaluated, because the object is not valid or does not exist.
        assert [_described(*each) for each in outcomes if each[1].status < 400] == []
        assert len([each for each in outcomes if each[1].status == DENIED]) > len(outcomes) * 0.9
    finally:
        target.kubectl("delete", "clusterrolebinding", "careless")


def _wait_for_right(token: StolenToken) -> None:
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while token.attempt(Attempt("GET", f"{escalations.RBAC}/clusterroles/admin")).status == DENIED:
        assert time.monotonic() < deadline, "the binding has no effect"
        time.sleep(0.2)


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.short_name)
def test_a_token_reads_secrets_of_all_namespaces(target: Target, operator: ShippedOperator) -> None:
    found = target.token(operator).attempt(Attempt("GET", "/api/v1/secrets"))

    assert found.status == 200
    assert b'"theirs"' in found.body


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.short_name)
def test_a_token_runs_unprivileged_pods_as_ordinary_accounts(
    target: Target, operator: ShippedOperator
) -> None:
    for kind in escalations.workload_kinds(operator):
        made = target.token(operator).attempt(
            workload(kind, SHOP, {"serviceAccountName": PLAIN_ACCOUNT}, f"{operator.short_name}-pods")
        )
        assert made.status == 201, made.message


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.short_name)
def test_a_token_creates_secrets_in_ordinary_namespaces(target: Target, operator: ShippedOperator) -> None:
    for resource in ("secrets", "configmaps"):
        body = {"metadata": {"name": f"of-{operator.short_name}"}}
        made = target.token(operator).attempt(Attempt("POST", f"/api/v1/namespaces/{SHOP}/{resource}", body))
        assert made.status == 201, made.message


def test_the_multigres_token_deletes_what_the_operator_manages_and_evicts_pods(target: Target) -> None:
    token, core = target.token(MULTIGRES), f"/api/v1/namespaces/{SHOP}"
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "theirs"}}

    assert token.attempt(Attempt("DELETE", f"{core}/configmaps/ours")).status == 200
    evicted = token.attempt(Attempt("POST", f"{core}/pods/theirs/eviction?dryRun=All", eviction))
    assert evicted.status == 201


def test_the_tenants_token_changes_and_deletes_foreign_objects_of_ordinary_namespaces(
    target: Target,
) -> None:
    token, core = target.token(TENANTS), f"/api/v1/namespaces/{SHOP}"
    labels = {"metadata": {"labels": {"a": "b"}}}

    assert token.attempt(Attempt("PATCH", f"{core}/secrets/theirs", labels)).status == 200
    assert token.attempt(Attempt("DELETE", f"{core}/secrets/theirs?dryRun=All")).status == 200
    named = {"metadata": {"name": "new-of-thief"}}
    assert token.attempt(Attempt("POST", "/api/v1/namespaces", named)).status == 201


def test_the_tenants_token_acts_as_the_accounts_that_the_installation_names(target: Target) -> None:
    user = {"Impersonate-User": f"system:serviceaccount:{SHOP}:{PLAIN_ACCOUNT}"}
    path = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{SHOP}/roles"
    body = {"metadata": {"name": "by-web"}, "rules": EVERYTHING}

    denied = target.token(TENANTS).attempt(Attempt("POST", path, body, user))

    # The account itself has no rights: the server knows the request as its own.
    assert denied.status == DENIED
    assert f'User "system:serviceaccount:{SHOP}:{PLAIN_ACCOUNT}" cannot create' in denied.message


def test_an_operator_still_writes_the_bundle_of_its_webhooks(target: Target) -> None:
    for operator in OPERATORS:
        name, _ = escalations.CONFIGURATIONS[operator]
        live = target.kubectl.json("get", "mutatingwebhookconfiguration", name)
        bundle = base64.b64encode(target.plane.ca_file.read_bytes()).decode()
        webhooks = [
            {**each, "clientConfig": {**each["clientConfig"], "caBundle": bundle}}
            for each in live["webhooks"]
        ]
        path = f"{escalations.WEBHOOKS}/mutatingwebhookconfigurations/{name}?dryRun=All"
        done = target.token(operator).attempt(Attempt("PATCH", path, {"webhooks": webhooks}))
        assert done.status == 200, done.message
