import pytest

from steward.tenants.errors import BadSource
from steward.tenants.sources.identifiers import MYSQL, POSTGRES


@pytest.mark.parametrize(
    ("name", "mysql", "postgres"),
    [
        ("id", "`id`", '"id"'),
        ("plan id", "`plan id`", '"plan id"'),
        ("a`b", "`a``b`", '"a`b"'),
        ('a"b', '`a"b`', '"a""b"'),
        ("x; DROP TABLE y --", "`x; DROP TABLE y --`", '"x; DROP TABLE y --"'),
        ("ünï", "`ünï`", '"ünï"'),
    ],
)
def test_any_name_is_quoted(name: str, mysql: str, postgres: str) -> None:
    assert MYSQL.quoted(name, "column") == mysql
    assert POSTGRES.quoted(name, "column") == postgres


def test_a_table_may_have_a_schema() -> None:
    assert POSTGRES.select(["a", "b"], "saas.customers") == 'SELECT "a", "b" FROM "saas"."customers"'


@pytest.mark.parametrize("name", ["", " id", "id ", "a\0b", "a\nb", "x" * 129])
def test_an_invalid_name_is_rejected(name: str) -> None:
    with pytest.raises(BadSource):
        MYSQL.quoted(name, "column")


@pytest.mark.parametrize("table", ["a.b.c", ".", "a.", ".a"])
def test_an_invalid_table_is_rejected(table: str) -> None:
    with pytest.raises(BadSource, match="table"):
        MYSQL.table(table)
