"""`forEach` in a template that is applied."""

from typing import Any

import msgspec
import pytest

from steward.tenants.api.template import TenantTemplateSpec
from steward.tenants.validation.template import advise_template, validate_template
from tests.tenants.support.manifests import CONFIG_MAP, resource, template

FIELD = "spec.configMaps[config]"
SAME = "gives all entries of forEach the same object"


def spec(**fields: Any) -> TenantTemplateSpec:
    return msgspec.convert(template(configMaps=[resource(**fields)])["spec"], TenantTemplateSpec)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"forEach": "{{ .domains }}", "nameTemplate": "{{ .uid }}-{{ .itemKey }}"}, None),
        ({"forEach": "{{ .domains }}", "nameTemplate": "{{ .item.host }}"}, None),
        ({"forEach": "{{ .domains }}", "targetNamespace": "{{ .item }}"}, None),
        ({"forEach": '["a", "b"]', "nameTemplate": "{{ .item }}"}, None),
        ({"forEach": ""}, None),
        ({"forEach": "{{ .domains }}"}, (f"{FIELD}.nameTemplate", SAME)),
        ({"forEach": "a, b", "nameTemplate": "{{ .item }}"}, (f"{FIELD}.forEach", "no JSON")),
        ({"forEach": '["a", "a"]', "nameTemplate": "{{ .item }}"}, (f"{FIELD}.forEach", "the same key")),
        ({"forEach": "{{ .domains", "nameTemplate": "{{ .item }}"}, (f"{FIELD}.forEach", "unclosed action")),
    ],
)
def test_problems_name_the_field(fields: dict[str, Any], problem: tuple[str, str] | None) -> None:
    found = validate_template(spec(**fields))
    if problem is None:
        assert found == []
    else:
        assert [each.field for each in found] == [problem[0]]
        assert problem[1] in found[0].message


def test_the_variables_of_an_entry_are_known_beside_for_each_only() -> None:
    inside = {**CONFIG_MAP, "data": {"host": "{{ .item.host }}"}}
    listed = spec(forEach="{{ .domains }}", nameTemplate="{{ .itemKey }}", spec=inside)
    assert advise_template(listed, ("domains",)) == []
    [unknown] = advise_template(spec(forEach="{{ .item }}", nameTemplate="{{ .itemKey }}"), ("domains",))
    assert (unknown.field, unknown.message.split(":")[0]) == (
        f"{FIELD}.forEach",
        ".item is no column of the registry",
    )
    assert len(advise_template(spec(nameTemplate="{{ .itemKey }}"), ("domains",))) == 1
