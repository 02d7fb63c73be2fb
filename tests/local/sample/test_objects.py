"""The sample's objects, and what the operators are started with."""

from pathlib import Path
from typing import Any

import pytest

from steward.install.operators import MULTIGRES, SHIPPED, TENANTS
from steward.local import certificates
from steward.local.certificates import Certificates
from steward.local.control_plane import ControlPlane
from steward.local.operators import House
from steward.local.sample import objects
from steward.local.service_accounts import account_objects, kubeconfig, user_of
from steward.local.settings import RESIDENTS


def named(zones: tuple[str, ...]) -> dict[str, Any]:
    return {f"{each['kind']}/{each['metadata']['name']}": each for each in objects.objects(zones)}


def test_the_database_lies_in_every_zone_and_changes_of_its_template_wait() -> None:
    cluster = named(("z1", "z2", "z3"))["MultigresCluster/orders"]["spec"]
    assert cluster["cells"] == [{"zone": "z1"}, {"zone": "z2"}, {"zone": "z3"}]
    assert cluster["updatePolicy"] == {"templateChanges": "Manual"}


def test_one_of_two_templates_makes_a_row_a_database() -> None:
    found = named(("a", "b"))
    templates = [each for each in found.values() if each["kind"] == "TenantTemplate"]
    assert [each["metadata"]["name"] for each in templates] == ["web", "database"]
    [manifest] = found["TenantTemplate/database"]["spec"]["manifests"]
    assert manifest["spec"]["kind"] == "MultigresCluster"
    assert manifest["spec"]["spec"]["cells"] == [{"zone": "a"}]


@pytest.mark.parametrize(
    ("zones", "cells"), [(("a",), 1), (("a", "a"), 1), (("a", "b"), 2), (tuple("abcdef"), 3)]
)
def test_it_fits_the_zones_that_there_are(zones: tuple[str, ...], cells: int) -> None:
    assert len(named(zones)["MultigresCluster/orders"]["spec"]["cells"]) == cells


def test_every_object_is_in_the_samples_namespace() -> None:
    assert {each["metadata"]["namespace"] for each in objects.objects(("a",))} == {objects.NAMESPACE}


@pytest.fixture
def house(tmp_path: Path) -> House:
    ports = {f"{operator.name}-{what}": 1 for operator in SHIPPED for what in ("webhooks", "probes")}
    return House(ControlPlane(tmp_path, "https://127.0.0.1:1"), ports)


def test_whatever_lives_on_top_has_a_command_in_the_order_of_the_start(house: House) -> None:
    assert tuple(house.commands()) == RESIDENTS


@pytest.mark.parametrize("operator", SHIPPED, ids=lambda operator: operator.word)
def test_an_operator_runs_under_its_own_account_and_listens_on_loopback_alone(
    house: House, operator: Any
) -> None:
    command = house.commands()[operator.name]
    assert f"--kubeconfig={house.layout.operators / f'{operator.word}.kubeconfig'}" in command
    addresses = [flag for flag in command if "bind-address" in flag]
    assert all("=127.0.0.1:" in flag or flag.endswith("=0") for flag in addresses)


def test_a_kubeconfig_holds_the_operators_token_and_no_certificate_of_an_administrator(house: House) -> None:
    text = kubeconfig(house.plane, TENANTS, "a-token")
    assert '"token": "a-token"' in text
    assert "client-certificate" not in text


def test_an_account_has_the_shipped_rights() -> None:
    kinds = [each["kind"] for each in account_objects(MULTIGRES)]
    assert kinds[:2] == ["Namespace", "ServiceAccount"]
    assert {"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"} <= set(kinds)
    assert user_of(MULTIGRES) == "system:serviceaccount:steward-system:multigres-operator"


def test_the_webhooks_have_a_pair_by_the_clusters_authority_which_is_kept(tmp_path: Path) -> None:
    keys = certificates.ensure(tmp_path / "certificates")
    place = tmp_path / "webhooks"
    certificates.ensure_webhooks(keys, place)
    first = (place / "tls.crt").read_bytes()
    assert (place / "ca.crt").read_bytes() == keys.ca.certificate.read_bytes()
    certificates.ensure_webhooks(Certificates(tmp_path / "certificates"), place)
    assert (place / "tls.crt").read_bytes() == first
    (tmp_path / "certificates" / "ca.crt").unlink()
    certificates.ensure_webhooks(certificates.ensure(tmp_path / "certificates"), place)
    assert (place / "tls.crt").read_bytes() != first
