"""`steward page serve` with tokens of a real API server: what readers see is what RBAC allows them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from steward.local import control_plane
from steward.local.control_plane import ControlPlane
from steward.tenants.api.kinds import CUSTOM_KINDS
from tests.cli.support.shell import Shell, read_until
from tests.support.api_server import ApiServer
from tests.support.definitions import install_crds
from tests.support.kubectl import Kubectl
from tests.support.namespaces import create_namespace

pytestmark = [pytest.mark.timeout(600), pytest.mark.needs_server]

SESSION_MILLISECONDS = 180_000
"""A session is reviewed every minute; the API server remembers a token for ten seconds."""
TENANTS = "operator.kubernetes-tenants.org"
REGISTRY_SPEC = {
    "source": {"type": "sqlite", "sqlite": {"file": "rows.db", "table": "customers"}},
    "valueMappings": {"uid": "id", "hostOrUrl": "url", "activate": "active"},
}


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """Started by a command: the browser keeps the event loop of this process."""
    shell = Shell(tmp_path_factory.mktemp("serve") / "cluster")
    done = shell.run("up", "--bare", "--detach")
    assert done.returncode == 0, done.stdout + done.stderr
    plane = control_plane.find(shell.directory)
    install_crds(plane, Kubectl(plane.kubeconfig), CUSTOM_KINDS)
    yield plane
    shell.run("down", "--purge")


@pytest.fixture
def api_server(plane: ControlPlane) -> ApiServer:
    return ApiServer(plane.kubeconfig)


@pytest.fixture
def namespace(api_server: ApiServer) -> str:
    return create_namespace(api_server)


@pytest.fixture
def origin(plane: ControlPlane) -> Iterator[str]:
    """The address of a page without credentials."""
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "steward.cli.main", "page", "serve", "--listen", "127.0.0.1:0"),
            *("--api-server", plane.url, "--api-server-ca", str(plane.ca_file), "--actions"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        found = re.search(r"https://\S+", read_until(process, "The page listens at"))
        assert found is not None
        yield found[0]
    finally:
        process.terminate()
        assert process.wait(30) == 0
        assert process.stdout is not None
        process.stdout.close()


@pytest.fixture
def tab(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(ignore_https_errors=True)
    yield context.new_page()
    context.close()


def create(server: ApiServer, path: str, body: dict[str, Any]) -> Any:
    answer = server.call("POST", path, body)
    assert answer.status in (200, 201), answer.body
    return answer.json()


def create_registry(server: ApiServer, namespace: str) -> None:
    registry = {
        "apiVersion": f"{TENANTS}/v1",
        "kind": "TenantRegistry",
        "metadata": {"name": "customers"},
        "spec": REGISTRY_SPEC,
    }
    create(server, f"/apis/{TENANTS}/v1/namespaces/{namespace}/tenantregistries", registry)


def create_reader(server: ApiServer, namespace: str, *verbs: str) -> str:
    """A token of a service account that may read this namespace alone, and no Secrets; `verbs` are further rights."""
    accounts, rbac = f"/api/v1/namespaces/{namespace}/serviceaccounts", "rbac.authorization.k8s.io"
    create(server, accounts, {"metadata": {"name": "reader"}})
    roles = f"/apis/{rbac}/v1/namespaces/{namespace}"
    rule = {
        "apiGroups": [TENANTS, "events.k8s.io"],
        "resources": ["*"],
        "verbs": ["get", "list", "watch", *verbs],
    }
    create(server, f"{roles}/roles", {"metadata": {"name": "reader"}, "rules": [rule]})
    subject = {"kind": "ServiceAccount", "name": "reader", "namespace": namespace}
    role = {"apiGroup": rbac, "kind": "Role", "name": "reader"}
    binding = {"metadata": {"name": "reader"}, "roleRef": role, "subjects": [subject]}
    create(server, f"{roles}/rolebindings", binding)
    answer = create(server, f"{accounts}/reader/token", {"spec": {"expirationSeconds": 3600}})
    return str(answer["status"]["token"])


def log_in(tab: Page, origin: str, token: str, namespaces: str = "") -> None:
    tab.goto(origin)
    tab.get_by_label("Token").fill(token)
    tab.get_by_label("Namespaces").fill(namespaces)
    tab.get_by_role("button", name="Log in").click()


def test_a_reader_sees_what_rbac_allows_and_the_rest_is_named(
    tab: Page, origin: str, api_server: ApiServer, namespace: str
) -> None:
    token = create_reader(api_server, namespace)
    log_in(tab, origin, token, namespace)
    expect(tab.locator("footer")).to_contain_text(f"system:serviceaccount:{namespace}:reader")
    create_registry(api_server, namespace)
    expect(tab.locator("main")).to_contain_text(f"TenantRegistry {namespace}/customers")
    expect(tab.locator("main")).to_contain_text("You may not list and watch Pod")


def test_a_reader_without_the_name_of_their_namespace_sees_nothing(
    tab: Page, origin: str, api_server: ApiServer, namespace: str
) -> None:
    log_in(tab, origin, create_reader(api_server, namespace))
    expect(tab.locator("main")).to_contain_text("You may read neither clusters nor registries here")


def test_a_token_of_a_deleted_account_is_refused(
    tab: Page, origin: str, api_server: ApiServer, namespace: str
) -> None:
    token = create_reader(api_server, namespace)
    api_server.call("DELETE", f"/api/v1/namespaces/{namespace}/serviceaccounts/reader")
    log_in(tab, origin, token)
    expect(tab.get_by_role("alert")).to_contain_text("does not accept this token")


def test_without_a_login_nothing_is_served(tab: Page, origin: str) -> None:
    answer = tab.request.get(f"{origin}/api/view?view=/now", ignore_https_errors=True)
    assert answer.status == 401


def test_a_reader_without_the_right_to_patch_is_offered_no_action(
    tab: Page, origin: str, api_server: ApiServer, namespace: str
) -> None:
    create_registry(api_server, namespace)
    log_in(tab, origin, create_reader(api_server, namespace), namespace)
    tab.get_by_role("link", name=f"TenantRegistry {namespace}/customers").click()
    expect(tab.locator("h1")).to_have_text(f"{namespace}/customers")
    with tab.expect_response(lambda answer: "/api/actions" in answer.url) as answer:
        tab.reload()
    assert answer.value.json() == []
    expect(tab.get_by_role("button", name="Sync now")).to_have_count(0)


def test_an_action_writes_with_the_rights_of_the_reader(
    tab: Page, origin: str, api_server: ApiServer, namespace: str
) -> None:
    create_registry(api_server, namespace)
    log_in(tab, origin, create_reader(api_server, namespace, "patch"), namespace)
    tab.get_by_role("link", name=f"TenantRegistry {namespace}/customers").click()
    tab.get_by_role("button", name="Sync now").click()
    dialog = tab.get_by_role("dialog")
    expect(dialog.locator(".diff .add").last).to_contain_text("sync-request")
    dialog.get_by_role("button", name="Sync now").click()
    expect(dialog.get_by_role("status")).to_contain_text("requested")
    path = f"/apis/{TENANTS}/v1/namespaces/{namespace}/tenantregistries/customers"
    annotations = api_server.call("GET", path).json()["metadata"]["annotations"]
    assert list(annotations) == ["kubernetes-tenants.org/sync-request"]


def test_a_session_ends_when_the_account_of_its_token_is_deleted(
    tab: Page, origin: str, api_server: ApiServer, namespace: str
) -> None:
    create_registry(api_server, namespace)
    log_in(tab, origin, create_reader(api_server, namespace), namespace)
    expect(tab.locator("main")).to_contain_text(f"TenantRegistry {namespace}/customers")
    api_server.call("DELETE", f"/api/v1/namespaces/{namespace}/serviceaccounts/reader")
    expect(tab.locator("h1")).to_have_text("Log in", timeout=SESSION_MILLISECONDS)
    assert f"TenantRegistry {namespace}/customers" not in tab.content()
