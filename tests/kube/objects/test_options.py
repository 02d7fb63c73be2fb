from steward.kube.objects.options import ApplyOptions, DeleteOptions, ListQuery, WatchQuery, write_params


def test_empty_options_are_not_sent() -> None:
    assert ListQuery(limit=0).params() == {}
    assert write_params({}) == {}
    assert DeleteOptions().body() == {"apiVersion": "v1", "kind": "DeleteOptions"}


def test_a_list_from_the_servers_cache_sends_version_0() -> None:
    query = ListQuery(label_selector="a=b", resource_version="0", match="NotOlderThan", limit=10)
    assert query.params() == {
        "labelSelector": "a=b",
        "limit": "10",
        "resourceVersion": "0",
        "resourceVersionMatch": "NotOlderThan",
    }


def test_a_following_page_carries_the_token_and_no_version() -> None:
    query = ListQuery(field_selector="a=b", resource_version="5", match="Exact", limit=10)
    assert query.params_after("t") == {"fieldSelector": "a=b", "limit": "10", "continue": "t"}


def test_a_streaming_list_asks_for_initial_events() -> None:
    query = WatchQuery(match="NotOlderThan", initial_events=True, timeout_seconds=300)
    assert query.params() == {
        "watch": "true",
        "resourceVersionMatch": "NotOlderThan",
        "timeoutSeconds": "300",
        "allowWatchBookmarks": "true",
        "sendInitialEvents": "true",
    }


def test_an_apply_always_sends_the_force_parameter() -> None:
    assert ApplyOptions(manager="m").params() == {"fieldManager": "m", "force": "true"}
    options = ApplyOptions(manager="m", force=False, dry_run=True, field_validation="Strict")
    assert options.params() == {
        "fieldManager": "m",
        "force": "false",
        "dryRun": "All",
        "fieldValidation": "Strict",
    }


def test_a_delete_carries_its_preconditions_and_a_grace_of_zero() -> None:
    options = DeleteOptions(
        uid="u", resource_version="7", propagation="Orphan", grace_seconds=0, dry_run=True
    )
    assert options.body() == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": "u", "resourceVersion": "7"},
        "propagationPolicy": "Orphan",
        "gracePeriodSeconds": 0,
        "dryRun": ["All"],
    }
    assert options.has_precondition
    assert not DeleteOptions(propagation="Orphan").has_precondition
