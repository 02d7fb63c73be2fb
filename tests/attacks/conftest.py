"""An operator with its default flags and the shipped roles, and the namespace of another team."""

from collections.abc import Iterator
from typing import Final

import pytest

from steward.local.control_plane import ControlPlane
from steward.tenants.api.kinds import CUSTOM_KINDS
from tests.attacks.support.template_author import PASSWORD, Site
from tests.support import definitions
from tests.support.kubectl import Kubectl
from tests.tenants.support.fleet import Fleet, create_namespaces, delete_tenants_and_namespaces
from tests.tenants.support.operator import running_operator

HOMES: Final = 12
"""Namespaces for the tests of one file."""


@pytest.fixture(scope="session")
def tenants_kubectl(control_plane: ControlPlane) -> Kubectl:
    """kubectl for a server with the kinds of tenants."""
    found = Kubectl(control_plane.kubeconfig)
    definitions.install_crds(control_plane, found, CUSTOM_KINDS)
    return found


@pytest.fixture(scope="module")
def site(
    control_plane: ControlPlane, tenants_kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    *homes, own = create_namespaces(tenants_kubectl, HOMES + 1)
    directory = tmp_path_factory.mktemp("operator")
    with running_operator(control_plane, ",".join(homes), directory / "operator.log", namespace=own):
        try:
            yield Site(tenants_kubectl, iter(homes), own, directory)
        finally:
            delete_tenants_and_namespaces(tenants_kubectl, [*homes, own])


@pytest.fixture
def fleet(site: Site) -> Fleet:
    """Hand-made Tenants in a namespace of the test's own."""
    return Fleet(site.kubectl, next(site.homes))


@pytest.fixture
def victim(tenants_kubectl: Kubectl) -> Iterator[str]:
    """The namespace of another team, with a password."""
    (name,) = create_namespaces(tenants_kubectl, 1)
    where = ("-n", name)
    tenants_kubectl("create", "secret", "generic", "database", f"--from-literal=password={PASSWORD}", *where)
    yield name
    tenants_kubectl("delete", "namespace", name, "--wait=false")
