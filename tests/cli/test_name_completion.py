"""Completion of names and namespaces in a shell, on a real server."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from steward.cli import name_completion
from steward.cli.commands import rows, status
from steward.cli.commands.hold import approve
from steward.cli.commands.updates import rollback
from steward.cli.name_completion import complete_namespaces, complete_objects, complete_revisions
from steward.cli.object_names import API_VERSIONS
from steward.kube.objects.kinds import CONFIG_MAP, Kind
from steward.local.control_plane import ControlPlane
from steward.multigres.api.kinds import CUSTOM_KINDS as MULTIGRES_KINDS
from steward.tenants.api.kinds import CUSTOM_KINDS as TENANT_KINDS
from tests.support.kubectl import Kubectl


def line(**given: object) -> click.Context:
    """A command line that is not finished."""
    context = click.Context(rows.command, info_name="rows")
    context.params = dict(given)
    return context


def test_names_and_namespaces_come_from_the_cluster_of_the_line(
    control_plane: ControlPlane, namespace: str
) -> None:
    kubeconfig = str(control_plane.kubeconfig)
    kubectl = Kubectl(control_plane.kubeconfig)
    for name in ("page-b", "page-a", "other"):
        kubectl.run("create", "configmap", name, "-n", namespace)
    parameter = rows.command.params[0]

    assert namespace in complete_namespaces(line(kubeconfig=kubeconfig), parameter, namespace[:-1])
    found = complete_objects(line(kubeconfig=kubeconfig, namespace=namespace), CONFIG_MAP, "page")
    assert found == ["page-a", "page-b"]


def test_a_cluster_that_is_not_there_completes_nothing_and_prints_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = line(kubeconfig=str(tmp_path / "none"))
    assert complete_namespaces(missing, rows.command.params[0], "") == []
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "")


def test_the_option_for_namespaces_asks_the_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(name_completion, "_read_names", lambda *_: ["shop", "demo", "data"])
    [option] = [each for each in rows.command.params if each.name == "namespace"]
    assert [item.value for item in option.shell_complete(line(), "d")] == ["data", "demo"]


def test_an_argument_for_a_name_asks_for_its_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def read_names(_given: object, kind: Kind, _is_namespaced: object) -> list[str]:
        asked.append(str(kind.api_version))
        return ["prod"]

    monkeypatch.setattr(name_completion, "_read_names", read_names)
    [registry] = [each for each in rows.command.params if each.name == "registry"]
    assert [item.value for item in registry.shell_complete(line(), "")] == ["prod"]
    assert asked == ["operator.kubernetes-tenants.org/v1"]


def test_the_name_of_a_held_deletion_is_completed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(name_completion, "_read_names", lambda *_: ["customers"])
    [name] = [each for each in approve.params if each.name == "name"]
    found = [item.value for item in name.shell_complete(click.Context(approve, info_name="approve"), "cu")]
    assert set(found) == {"customers"}


def test_the_revisions_of_the_cluster_of_the_line_are_completed(monkeypatch: pytest.MonkeyPatch) -> None:
    def read_revisions(given: dict[str, object]) -> list[str]:
        return [f"{given['cluster']}-celltemplate-gate-{number}" for number in (2, 1)] + ["other"]

    monkeypatch.setattr(name_completion, "_read_revisions", read_revisions)
    [revision] = [each for each in rollback.params if each.name == "revision"]
    context = click.Context(rollback, info_name="rollback")
    context.params = {"cluster": "db"}
    found = [item.value for item in revision.shell_complete(context, "db-")]
    assert found == ["db-celltemplate-gate-1", "db-celltemplate-gate-2"]


def test_revisions_of_a_cluster_that_is_not_there_are_not_completed(tmp_path: Path) -> None:
    missing = line(kubeconfig=str(tmp_path / "none"), cluster="db")
    assert complete_revisions(missing, rollback.params[0], "") == []


def test_the_versions_of_completed_kinds_are_those_of_the_definitions() -> None:
    known = {custom.kind: custom.api_version for custom in (*MULTIGRES_KINDS, *TENANT_KINDS)}
    assert {kind: known[kind] for kind in API_VERSIONS} == API_VERSIONS


@pytest.mark.parametrize(
    ("incomplete", "found"),
    [
        ("o", ["orders"]),
        ("", ["orders", "customers", "multigrescluster/", "tenantregistry/", "tenanttemplate/", "tenant/"]),
        ("tenant/ac", ["tenant/acme-web"]),
        ("mgc/", ["mgc/orders"]),
        ("pod/", []),
    ],
)
def test_a_name_with_or_without_its_kind_is_completed(
    monkeypatch: pytest.MonkeyPatch, incomplete: str, found: list[str]
) -> None:
    names = {"MultigresCluster": "orders", "TenantRegistry": "customers", "Tenant": "acme-web"}
    monkeypatch.setattr(
        name_completion, "_read_names", lambda _given, kind, _namespaced: [names.get(kind.kind, "zz")]
    )
    [argument] = [each for each in status.command.params if each.name == "what"]
    context = click.Context(status.command, info_name="status")
    assert [item.value for item in argument.shell_complete(context, incomplete)] == found
