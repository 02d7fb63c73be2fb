"""Types that several views share. Pure."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from steward.cli.inspect.ages import format_age
from steward.cli.inspect.object_health import Health
from steward.cli.inspect.object_tree import TreeNode
from steward.kube.objects.kinds import Ref
from steward.page.models.addresses import object_address

_COMMAND: Final = re.compile(r"\b(?:kubectl|steward) [a-z][^`]*")


class Model(Struct, frozen=True, rename="camel"):
    """What a view shows, as JSON."""


class ObjectLink(Model, frozen=True):
    """An object; `href` is the address of its view, "" if it has none."""

    kind: str
    namespace: str
    name: str
    href: str = ""


class Note(Model, frozen=True):
    """What else is true of an object, such as a pause, and the command that goes with it."""

    text: str
    command: str


class Sentence(Model, frozen=True):
    """What is true of an object. `command` is the cure as a command line, "" if it is no command."""

    object: ObjectLink
    health: str
    text: str
    command: str = ""
    notes: tuple[Note, ...] = ()


class ConditionLine(Model, frozen=True):
    type: str
    status: str
    reason: str
    message: str
    since: str
    age: str


def object_link(ref: Ref, href: str = "") -> ObjectLink:
    return ObjectLink(ref.kind.kind, ref.key.namespace, ref.key.name, href or object_address(ref))


def health_word(health: Health) -> str:
    return health.name.lower()


def cure_command(text: str) -> str:
    """The command line in the cure of a sentence: what follows the last `kubectl` or `steward` in it."""
    cure = text.rpartition("To do: ")[2] if "To do: " in text else text
    quoted = re.findall(r"`((?:kubectl|steward) [^`]+)`", cure)
    if quoted:
        return str(quoted[-1])
    found = _COMMAND.search(cure)
    command = found[0].strip().rstrip(".") if found else ""
    return "" if "…" in command else command


def node_sentence(node: TreeNode, text: str, href: str = "") -> Sentence:
    command = "" if node.is_healthy else cure_command(text)
    return Sentence(object_link(node.object.ref, href), health_word(node.worst_health), text, command)


def condition_lines(status: dict[str, object], now: float) -> list[ConditionLine]:
    """The conditions of an object, the latest transition first."""
    listed = status.get("conditions") or []
    assert isinstance(listed, list)
    lines = [
        ConditionLine(
            str(each.get("type", "")),
            str(each.get("status", "")),
            str(each.get("reason", "")),
            str(each.get("message", "")),
            str(each.get("lastTransitionTime", "")),
            format_age(str(each.get("lastTransitionTime", "")), now),
        )
        for each in listed
    ]
    return sorted(lines, key=lambda line: line.since, reverse=True)
