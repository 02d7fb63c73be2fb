from steward.tenants.objects.diff import MOST, changed_paths


def test_paths_are_named_and_values_are_not() -> None:
    before = {"data": {"a": "1", "password": "old"}, "metadata": {"resourceVersion": "1"}, "list": [{"x": 1}]}
    after = {"data": {"a": "1", "password": "new"}, "metadata": {"resourceVersion": "2"}, "list": [{"x": 2}]}
    assert changed_paths(before, after) == (".data.password", ".list[0].x")


def test_what_appears_is_named_as_a_whole() -> None:
    assert changed_paths(None, {"kind": "ConfigMap", "status": {}}) == (".kind",)


def test_the_summary_is_bounded() -> None:
    assert len(changed_paths({}, {f"f{number}": number for number in range(100)})) == MOST
