import pytest

from steward.tenants.rendering.variables import host_of, masked, variables_of
from steward.tenants.sources.rows import Row


def test_templates_see_the_row_and_where_it_comes_from() -> None:
    row = Row("acme", "https://acme.example:8443/x", "1", {"planId": "gold"})
    assert variables_of(row, "prod", "web") == {
        "uid": "acme",
        "hostOrUrl": "https://acme.example:8443/x",
        "host": "acme.example",
        "activate": "1",
        "registryId": "prod",
        "templateRef": "web",
        "hubId": "prod",
        "planId": "gold",
    }


def test_a_mapped_column_wins_over_a_built_in_variable() -> None:
    assert variables_of(Row("a", "b", "1", {"host": "own"}), "r", "t")["host"] == "own"


def test_what_is_logged_of_a_row_tells_names_and_no_values() -> None:
    row = Row("acme", "https://acme.example", "1", {"hubId": "hunter2", "note": ""})
    found = masked(variables_of(row, "prod", "web"))
    assert set(found.values()) == {"***", ""}
    assert found["note"] == ""
    assert "hubId" in found


@pytest.mark.parametrize(
    ("text", "host"),
    [("https://a.b/c", "a.b"), ("a.b:80", "a.b"), ("a.b", "a.b"), ("", ""), ("{{ .uid }}", "{{ .uid }}")],
)
def test_the_host_of_a_url_or_of_a_host(text: str, host: str) -> None:
    assert host_of(text) == host
