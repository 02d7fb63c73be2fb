"""A control plane of its own: an installation is cluster-wide, and these tests take definitions away."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.local import control_plane as local
from tests.conftest import running_plane
from tests.support.kubectl import Kubectl
from tests.support.rbac_comparison import Record


@pytest.fixture(scope="package")
def own_plane(rights_record: Record) -> Iterator[local.ControlPlane]:
    # As some distributions have it: who makes an object that its owner waits for needs a right on the owner.
    with running_plane(rights_record, "OwnerReferencesPermissionEnforcement") as directory:
        yield local.find(Path(directory))


@pytest.fixture(scope="package")
def own_kubectl(own_plane: local.ControlPlane) -> Kubectl:
    return Kubectl(own_plane.kubeconfig)
