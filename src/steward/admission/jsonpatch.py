"""The difference of two JSON values as a JSON patch (RFC 6902). Pure.

Invariant: applying `diff(before, after)` to `before` gives `after`, and equal values give no operation. The patch is
small where objects differ in few places: lists are compared by position between their common start and end, which
detects inserted and removed runs.
"""

from typing import Any, Final, Literal, NotRequired, TypedDict

MAX_OPERATIONS: Final = 100


class PatchOperation(TypedDict):
    op: Literal["add", "remove", "replace"]
    path: str
    value: NotRequired[Any]


def object_patch(before: dict[str, Any], after: dict[str, Any]) -> list[PatchOperation]:
    """`diff`, or one operation for each changed field of the object if that has fewer.

    The API server searches the whole document for each operation: the time for a patch grows with the product of both.
    """
    operations = diff(before, after)
    return operations if len(operations) <= MAX_OPERATIONS else _replace_fields(before, after)


def _replace_fields(before: dict[str, Any], after: dict[str, Any]) -> list[PatchOperation]:
    removed: list[PatchOperation] = [
        {"op": "remove", "path": _child_path("", key)} for key in before if key not in after
    ]
    changed: list[PatchOperation] = [
        {"op": "replace" if key in before else "add", "path": _child_path("", key), "value": value}
        for key, value in after.items()
        if key not in before or not _json_equal(before[key], value)
    ]
    return [*removed, *changed]


def diff(before: Any, after: Any, path: str = "") -> list[PatchOperation]:
    """The operations that turn `before` into `after`, in the order in which they must be applied."""
    if isinstance(before, dict) and isinstance(after, dict):
        return _diff_objects(before, after, path)
    if isinstance(before, list) and isinstance(after, list):
        return _diff_lists(before, after, path)
    if _json_equal(before, after):
        return []
    return [{"op": "replace", "path": path, "value": after}]


def _diff_objects(before: dict[str, Any], after: dict[str, Any], path: str) -> list[PatchOperation]:
    operations: list[PatchOperation] = []
    for key in before:
        if key not in after:
            operations.append({"op": "remove", "path": _child_path(path, key)})
    for key, value in after.items():
        if key in before:
            operations += diff(before[key], value, _child_path(path, key))
        else:
            operations.append({"op": "add", "path": _child_path(path, key), "value": value})
    return operations


def _diff_lists(before: list[Any], after: list[Any], path: str) -> list[PatchOperation]:
    start = _common_prefix_length(before, after)
    end = _common_prefix_length(before[start:][::-1], after[start:][::-1])
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    both = min(len(old), len(new))
    operations: list[PatchOperation] = []
    for place in range(both):
        operations += diff(old[place], new[place], _child_path(path, start + place))
    # From the last to the first, so that the positions of the remaining removals do not shift.
    for place in reversed(range(both, len(old))):
        operations.append({"op": "remove", "path": _child_path(path, start + place)})
    for place in range(both, len(new)):
        operations.append({"op": "add", "path": _child_path(path, start + place), "value": new[place]})
    return operations


def _common_prefix_length(before: list[Any], after: list[Any]) -> int:
    """The length of the common prefix."""
    count = 0
    for one, other in zip(before, after, strict=False):
        if not _json_equal(one, other):
            break
        count += 1
    return count


def _json_equal(one: Any, other: Any) -> bool:
    """JSON equality: in Python, True == 1 and 1 == 1.0."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(
            _json_equal(value, other[key]) for key, value in one.items()
        )
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_json_equal, one, other))
    return bool(one == other)


def _child_path(path: str, key: str | int) -> str:
    return f"{path}/{str(key).replace('~', '~0').replace('/', '~1')}"
