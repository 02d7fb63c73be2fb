"""The samples are valid by the same rules as all other manifests."""

from typing import Any

import msgspec
import pytest

from steward.tenants.api.registry import TenantRegistrySpec
from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.objects.permissions import Permissions
from steward.tenants.validation.access import access_advice, refused_fields
from steward.tenants.validation.registry import advise_registry, validate_registry
from steward.tenants.validation.template import advise_template, validate_template
from tests.support.paths import ROOT
from tests.support.yaml_text import load_yaml_documents

SAMPLES = ROOT / "config/samples/tenants"
DOCUMENTS = [
    pytest.param(document, id=f"{file.stem}-{document['metadata']['name']}")
    for file in sorted(SAMPLES.glob("*.yaml"))
    for document in load_yaml_documents(file.read_text())
]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_sample_is_valid_and_needs_no_advice(document: dict[str, Any]) -> None:
    if document["kind"] == "TenantRegistry":
        registry = msgspec.convert(document["spec"], TenantRegistrySpec, strict=True)
        assert [*validate_registry(registry), *advise_registry(registry)] == []
    elif document["kind"] == "TenantTemplate":
        template = msgspec.convert(document["spec"], TenantTemplateSpec, strict=True)
        assert [*validate_template(template), *advise_template(template, ("plan", "image", "domains"))] == []
        flags = Permissions()
        assert [*refused_fields(template, flags), *access_advice(template, "default", flags)] == []
    else:
        assert document["kind"] == "Secret"
