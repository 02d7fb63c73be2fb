"""`kubectl wait` and `kubectl delete` without a process: they read the object until it is as expected.

A wait that takes long is left to kubectl, which watches instead of reading.
"""

import time
from collections.abc import Callable
from typing import Any

from tests.support.api_server import ApiResponse, ApiServer
from tests.support.kubectl_command import KubectlCommand
from tests.support.waiting import pause

_SHORT_SECONDS = 20.0
_DELETED_SECONDS = 240.0

Expectation = Callable[[ApiResponse], bool]


def wait(server: ApiServer, command: KubectlCommand) -> bool | None:
    """True once all named objects are as `--for` says."""
    is_as_expected = _expectation(command.options.get("--for", ""))
    if is_as_expected is None or not command.only("--namespace", "--for", "--timeout"):
        return None
    paths = named_objects(server, command)
    if paths is None:
        return None
    deadline = time.monotonic() + _SHORT_SECONDS
    return True if all(_is_reached(server, path, is_as_expected, deadline) for path in paths) else None


def _expectation(expression: str) -> Expectation | None:
    kind, _, value = expression.partition("=")
    if kind == "condition" and "=" not in value:
        return lambda answer: answer.status == 200 and _has_condition(answer.json(), value)
    if expression == "create":
        return lambda answer: answer.status == 200
    return _is_gone if expression == "delete" else None


def _is_gone(answer: ApiResponse) -> bool:
    return answer.status == 404


def _has_condition(found: Any, type_: str) -> bool:
    """As kubectl decides it: a condition about an earlier generation does not count."""
    generation = found["metadata"].get("generation", 0)
    conditions = (found.get("status") or {}).get("conditions") or []
    return any(
        each["type"].lower() == type_.lower()
        and each["status"] == "True"
        and each.get("observedGeneration", generation) >= generation
        for each in conditions
    )


def _is_reached(server: ApiServer, path: str, is_as_expected: Expectation, deadline: float) -> bool:
    began = time.monotonic()
    while not is_as_expected(server.call("GET", path)):
        if time.monotonic() > deadline:
            return False
        time.sleep(pause(time.monotonic() - began))
    return True


def named_objects(server: ApiServer, command: KubectlCommand) -> list[str] | None:
    """The paths of the objects that `KIND NAME...` or `KIND/NAME...` names; None if it names them in another way."""
    words = command.words[1:]
    if words and "/" not in words[0]:
        words = [f"{words[0]}/{name}" for name in words[1:]]
    if not words or any(word.count("/") != 1 or "," in word for word in words):
        return None
    pairs = [word.split("/") for word in words]
    kinds = [server.kind(kind) for kind, _ in pairs]
    paths = [
        kind.path(command.namespace, name)
        for kind, (_, name) in zip(kinds, pairs, strict=True)
        if kind is not None
    ]
    return paths if len(paths) == len(words) else None


def delete(server: ApiServer, command: KubectlCommand) -> bool | None:
    """Objects by name; without --wait=false, True once they are gone."""
    paths = named_objects(server, command)
    known = ("--namespace", "--wait", "--cascade", "--ignore-not-found")
    if paths is None or not command.only(*known):
        return None
    policy = {"propagationPolicy": command.options.get("--cascade", "background").capitalize()}
    answers = {path: server.call("DELETE", path, policy) for path in paths}
    accepted = (200, 202, 404) if command.has("--ignore-not-found") else (200, 202)
    if any(answer.status not in accepted for answer in answers.values()):
        return None
    return command.options.get("--wait") == "false" or _are_gone(server, answers)


def _are_gone(server: ApiServer, deleted: dict[str, ApiResponse]) -> bool:
    """Whether none is left; an object of the same name that was created since is another one."""
    deadline = time.monotonic() + _DELETED_SECONDS
    for path, answer in deleted.items():
        uid = _uid(answer.json())
        is_gone = _is_reached(
            server, path, lambda found, uid=uid: _is_gone(found) or _uid(found.json()) != uid, deadline
        )
        assert is_gone, f"{path} was not deleted"
    return True


def _uid(answer: Any) -> str:
    """Of an object, or of the one that a Status is about."""
    return str(answer["metadata"].get("uid") or answer.get("details", {}).get("uid"))
