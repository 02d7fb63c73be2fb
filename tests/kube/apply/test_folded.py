from steward.kube.apply.folded import with_folded_data


def test_strings_go_into_data_and_win_over_it() -> None:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "data": {"a": "b2xk", "b": "a2VwdA=="},
        "stringData": {"a": "new", "c": "ü"},
    }

    assert with_folded_data(secret) == {
        "apiVersion": "v1",
        "kind": "Secret",
        "data": {"a": "bmV3", "b": "a2VwdA==", "c": "w7w="},
    }
    assert secret["stringData"] == {"a": "new", "c": "ü"}


def test_an_empty_string_data_leaves_nothing() -> None:
    assert with_folded_data({"apiVersion": "v1", "kind": "Secret", "stringData": None}) == {
        "apiVersion": "v1",
        "kind": "Secret",
        "data": {},
    }


def test_only_secrets_are_folded() -> None:
    thing = {"apiVersion": "example.com/v1", "kind": "Secret", "stringData": {"a": "b"}}

    assert with_folded_data(thing) is thing
