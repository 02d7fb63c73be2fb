"""What a definition says of a status that was not written yet."""

import msgspec
import pytest

from steward.kube.crd.schema import CustomKind, definition
from steward.multigres.api import kinds as multigres
from steward.tenants.api import kinds as tenants


def default_of_status(custom: CustomKind) -> object:
    (version,) = definition(custom)["spec"]["versions"]
    return version["schema"]["openAPIV3Schema"]["properties"].get("status", {}).get("default")


def has_status(custom: CustomKind) -> bool:
    return "status" in {field.name for field in msgspec.structs.fields(custom.root)}


KINDS = [*multigres.CUSTOM_KINDS, *tenants.CUSTOM_KINDS]


@pytest.mark.parametrize("custom", [*filter(has_status, KINDS)], ids=lambda custom: custom.kind)
def test_an_object_without_a_status_is_not_observed(custom: CustomKind) -> None:
    """For tools that follow kstatus an object without a status is ready."""
    assert default_of_status(custom) == {"observedGeneration": -1}


@pytest.mark.parametrize(
    "custom", [each for each in KINDS if not has_status(each)], ids=lambda custom: custom.kind
)
def test_a_kind_without_a_status_has_no_default_of_it(custom: CustomKind) -> None:
    assert default_of_status(custom) is None
