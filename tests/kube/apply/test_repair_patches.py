"""The patches that repair a rejected apply."""

from typing import Any

import pytest

from steward.kube.apply.repair_patches import RejectionCause, repair_operations, restore_key_operations

FORBIDDEN = "FieldValueForbidden"


def patch(desired: Any, live: Any, *cause: str) -> list[dict[str, Any]]:
    reason, field, message = cause
    return repair_operations(desired, live, [RejectionCause(reason, field, message)])


def test_the_old_union_member_is_removed_and_the_new_one_is_set() -> None:
    desired = {"spec": {"strategy": {"type": "Recreate"}}}
    live = {"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}}

    assert patch(desired, live, FORBIDDEN, "spec.strategy.rollingUpdate", "may not be specified") == [
        {"op": "remove", "path": "/spec/strategy/rollingUpdate"},
        {"op": "add", "path": "/spec/strategy/type", "value": "Recreate"},
    ]


def test_the_other_union_member_is_removed_when_the_cause_names_ours() -> None:
    desired = {"volumes": [{"name": "a", "configMap": {"name": "c"}}]}
    live = {"volumes": [{"name": "z", "emptyDir": {}}, {"name": "a", "emptyDir": {}}]}

    assert patch(
        desired, live, FORBIDDEN, "volumes[0].configMap", "may not specify more than 1 volume type"
    ) == [
        {"op": "remove", "path": "/volumes/1/emptyDir"},
        {"op": "add", "path": "/volumes/1/configMap", "value": {"name": "c"}},
    ]


def test_of_several_other_members_only_the_one_in_the_message_is_removed() -> None:
    desired = {"env": [{"name": "A", "valueFrom": {"x": 1}}]}
    live = {"env": [{"name": "A", "value": "1", "other": True}]}
    message = "may not be specified when `value` is not empty"

    assert patch(desired, live, "FieldValueInvalid", "env[0].valueFrom", message) == [
        {"op": "remove", "path": "/env/0/value"},
        {"op": "add", "path": "/env/0/valueFrom", "value": {"x": 1}},
    ]


def test_fields_that_exclude_each_other_are_found_in_the_message() -> None:
    desired = {"spec": {"minAvailable": 1}}
    live = {"spec": {"maxUnavailable": 2, "replicas": 3}}
    message = "minAvailable and maxUnavailable cannot be both set"

    assert patch(desired, live, "FieldValueInvalid", "spec", message) == [
        {"op": "remove", "path": "/spec/maxUnavailable"},
        {"op": "add", "path": "/spec/minAvailable", "value": 1},
    ]


def test_an_item_with_another_key_gets_ours_and_keeps_the_rest() -> None:
    desired = {"ports": [{"name": "http", "port": 80}, {"name": "other", "port": 81}]}
    live = {"ports": [{"name": "http", "port": 8080, "nodePort": 30000}, {"name": "other", "port": 81}]}

    assert patch(desired, live, "FieldValueDuplicate", "ports[1].name", 'Duplicate value: "http"') == [
        {
            "op": "replace",
            "path": "/ports",
            "value": [{"name": "http", "port": 80, "nodePort": 30000}, {"name": "other", "port": 81}],
        }
    ]


@pytest.mark.parametrize(("desired", "expected"), [({}, "remove"), ({"labels": {}}, "add")])
def test_a_map_without_its_last_key_is_emptied_first(desired: Any, expected: str) -> None:
    message = 'Invalid value: "null": labels in body must be of type object: "null"'

    operations = patch(desired, {"labels": {"a": "b"}}, "FieldValueTypeInvalid", "labels", message)

    assert [operation["op"] for operation in operations] == [expected]


@pytest.mark.parametrize(
    ("desired", "live", "cause"),
    [
        ({"spec": {"a": 1}}, {"spec": {"a": 2}}, (FORBIDDEN, "spec.a", "may not change")),
        ({"spec": {"a": 1}}, {"spec": {"a": 2, "b": 3}}, (FORBIDDEN, "spec.a", "may not change")),
        ({"spec": {"a": 1}}, {"spec": {"b": 2, "c": 3}}, (FORBIDDEN, "spec.a", "is wrong")),
        ({"spec": {"a": 1}}, {}, (FORBIDDEN, "spec.b", "is wrong")),
        ({"spec": {"a": 1}}, {"spec": {"a": 1}}, (FORBIDDEN, "", "is wrong")),
        ({"list": [{"name": "a"}]}, {"list": [{"name": "b", "x": 1}]}, (FORBIDDEN, "list[0].x", "is wrong")),
        (
            {"ports": [{"port": 1}]},
            {"ports": [{"port": 2}]},
            ("FieldValueDuplicate", "ports[0].port", "Duplicate"),
        ),
        ({"names": ["a"]}, {"names": ["a"]}, ("FieldValueDuplicate", "names[1]", "Duplicate")),
        ({"a": "x"}, {"a": {"b": 1}}, ("FieldValueTypeInvalid", "a", 'must be of type string: "object"')),
    ],
)
def test_a_rejection_with_another_reason_is_not_repaired(
    desired: Any, live: Any, cause: tuple[str, str, str]
) -> None:
    assert patch(desired, live, *cause) == []


def test_names_are_escaped_in_pointers() -> None:
    desired: Any = {"labels": {"kept": 1}}
    live = {"labels": {"a~b/c": 1, "kept": 1}}

    assert patch(desired, live, FORBIDDEN, "labels.a~b/c", "no")[0]["path"] == "/labels/a~0b~1c"


def test_a_default_of_the_changed_key_is_left_to_the_server() -> None:
    """A Service whose port was replaced by a list without targetPort would otherwise keep sending to the other port."""
    desired = {"ports": [{"name": "http", "port": 80}]}
    live = {"ports": [{"name": "http", "port": 8080, "targetPort": 8080, "nodePort": 30000}]}

    assert patch(desired, live, "FieldValueDuplicate", "ports[1].name", "Duplicate") == [
        {"op": "replace", "path": "/ports", "value": [{"name": "http", "port": 80, "nodePort": 30000}]}
    ]


def test_a_target_port_of_its_own_is_kept() -> None:
    desired = {"ports": [{"name": "http", "port": 80}]}
    live = {"ports": [{"name": "http", "port": 8080, "targetPort": "web"}]}

    assert patch(desired, live, "FieldValueDuplicate", "ports[1].name", "Duplicate") == [
        {"op": "replace", "path": "/ports", "value": [{"name": "http", "port": 80, "targetPort": "web"}]}
    ]


def test_keys_of_nested_items_are_restored_by_the_paths_of_their_names() -> None:
    desired = {"containers": [{"name": "app", "ports": [{"name": "http", "containerPort": 80}]}]}
    live = {"containers": [{"name": "app", "ports": [{"name": "http", "containerPort": 81}]}]}
    item = 'k:{"containerPort":80,"protocol":"TCP"}'
    name = ("f:containers", 'k:{"name":"app"}', "f:ports", item, "f:name")

    assert restore_key_operations(desired, live, [name, name]) == [
        {
            "op": "replace",
            "path": "/containers/0/ports",
            "value": [{"name": "http", "containerPort": 80}],
        }
    ]
    assert restore_key_operations(desired, {"containers": []}, [name]) == []
