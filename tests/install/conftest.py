"""A separate control plane: an installation is cluster-wide, and these tests delete CRDs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.local import control_plane as local
from tests.support.control_planes import running_control_plane
from tests.support.kubectl import Kubectl
from tests.support.rbac_comparison import PermissionRecord


@pytest.fixture(scope="package")
def own_plane(permission_record: PermissionRecord) -> Iterator[local.ControlPlane]:
    # Enabled on some distributions: creating an object with blockOwnerDeletion needs a right on the owner.
    with running_control_plane(permission_record, "OwnerReferencesPermissionEnforcement") as directory:
        yield local.find(Path(directory))


@pytest.fixture(scope="package")
def own_kubectl(own_plane: local.ControlPlane) -> Kubectl:
    return Kubectl(own_plane.kubeconfig)
