import pytest

from steward.tenants.rendering.variables import host_of, mask_values, row_variables
from steward.tenants.sources.rows import Row


def test_the_variables_contain_the_row_and_its_registry_and_template() -> None:
    row = Row("acme", "https://acme.example:8443/x", "1", {"planId": "gold"})
    assert row_variables(row, "prod", "web") == {
        "uid": "acme",
        "hostOrUrl": "https://acme.example:8443/x",
        "host": "acme.example",
        "activate": "1",
        "registryId": "prod",
        "templateRef": "web",
        "hubId": "prod",
        "planId": "gold",
    }


def test_a_mapped_column_overrides_a_built_in_variable() -> None:
    assert row_variables(Row("a", "b", "1", {"host": "own"}), "r", "t")["host"] == "own"


def test_masked_variables_have_names_and_no_values() -> None:
    row = Row("acme", "https://acme.example", "1", {"hubId": "hunter2", "note": ""})
    found = mask_values(row_variables(row, "prod", "web"))
    assert set(found.values()) == {"***", ""}
    assert found["note"] == ""
    assert "hubId" in found


@pytest.mark.parametrize(
    ("text", "host"),
    [("https://a.b/c", "a.b"), ("a.b:80", "a.b"), ("a.b", "a.b"), ("", ""), ("{{ .uid }}", "{{ .uid }}")],
)
def test_the_host_of_a_url_or_of_a_host(text: str, host: str) -> None:
    assert host_of(text) == host
