"""The operators' service accounts on a local control plane."""

from pathlib import Path

from steward.install.operators import MULTIGRES, TENANTS
from steward.local.control_plane import ControlPlane
from steward.local.service_accounts import account_objects, kubeconfig, service_account_user


def test_a_kubeconfig_holds_the_operators_token_and_no_admin_certificate(
    tmp_path: Path,
) -> None:
    plane = ControlPlane(tmp_path, "https://127.0.0.1:1")
    text = kubeconfig(plane, TENANTS, "a-token")
    assert '"token": "a-token"' in text
    assert "client-certificate" not in text


def test_an_account_has_the_shipped_permissions() -> None:
    kinds = [item["kind"] for item in account_objects(MULTIGRES)]
    assert kinds[:2] == ["Namespace", "ServiceAccount"]
    assert {"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"} <= set(kinds)
    assert service_account_user(MULTIGRES) == "system:serviceaccount:steward-system:multigres-operator"
