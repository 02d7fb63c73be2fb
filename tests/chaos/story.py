"""A story: what happens in one life, as plain data that can be written to a file and played again.

Every action is total: it does nothing if its object is missing. So any part of a story is a story, and can be shrunk.
"""

from typing import Any, Literal

import msgspec

Subject = Literal["cluster", "fleet"]
Cascade = Literal["background", "foreground", "orphan", "namespace"]
Meddling = Literal["delete", "orphan", "foreground", "strip-labels", "scale", "edit"]
DatabaseFaultKind = Literal["", "refuse", "silent", "cut", "empty"]
ApiFaultKind = Literal[
    "conflict",
    "throttle",
    "error",
    "unavailable",
    "drop",
    "lose-reply",
    "delay",
    "list-error",
    "cut-watches",
    "expire-watches",
    "hold-watch",
]


class Action(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="do"):
    """Base of all actions."""


class Edit(Action, frozen=True, tag="edit"):
    """A user sets a field of the desired state; None removes the entry."""

    field: str
    key: str = ""
    value: Any = None


class Delete(Action, frozen=True, tag="delete"):
    """A user deletes the cluster or the registry, or the whole namespace; later edits apply to the next one."""

    cascade: Cascade = "background"


class Recreate(Action, frozen=True, tag="recreate"):
    """A user waits until the deleted cluster is gone, and applies the desired state again."""


class Approve(Action, frozen=True, tag="approve"):
    """A user approves the deletion that the registry holds, if it holds one."""


class Meddle(Action, frozen=True, tag="meddle"):
    """A user changes an object that the operator manages: number `pick` of this resource, modulo their number."""

    resource: str
    how: Meddling
    pick: int = 0


class Occupy(Action, frozen=True, tag="occupy"):
    """A user creates an object under a name that the operator needs for the cell or row `key`; deleted at the end."""

    key: str


class Kill(Action, frozen=True, tag="kill"):
    """SIGKILL to the operator at its write number `write` from now, before or after it is committed."""

    write: int = 1
    committed: bool = False
    stays_down: bool = False
    """No operator runs until `Start`, or the end of the story."""
    verb: str = ""
    resource: str = ""
    """Count only writes of this verb and resource."""


class Pause(Action, frozen=True, tag="pause"):
    """SIGSTOP to the operator until another replica leads, then SIGCONT."""


class Stop(Action, frozen=True, tag="stop"):
    """SIGTERM to the operator. No operator runs until `Start`, or the end of the story."""


class Start(Action, frozen=True, tag="start"):
    """An operator runs again."""


class ApiFault(Action, frozen=True, tag="api-fault"):
    """The next `count` calls (or watches) of this resource fail; all resources if it is empty."""

    fault: ApiFaultKind
    resource: str = ""
    count: int = 1


class TopologyFault(Action, frozen=True, tag="topology-fault"):
    """A fault of the data plane (testkit/fake_data_plane/faults.py) until the next one; "" ends it."""

    fault: str = ""


class DatabaseFault(Action, frozen=True, tag="database-fault"):
    """A fault of the table's server until the next one; "" ends it."""

    fault: DatabaseFaultKind = ""


class Wait(Action, frozen=True, tag="wait"):
    """The operator works for a while."""

    seconds: float


class Settle(Action, frozen=True, tag="settle"):
    """The operator works until it reports success for the current state, or for a limited time."""


AnyAction = (
    Edit
    | Delete
    | Recreate
    | Approve
    | Meddle
    | Occupy
    | Kill
    | Pause
    | Stop
    | Start
    | ApiFault
    | TopologyFault
    | DatabaseFault
    | Wait
    | Settle
)

EDITS = (Edit, Delete, Recreate, Approve, Meddle, Occupy)
KILLS = (Kill, Pause, Stop)
FAULTS = (ApiFault, TopologyFault, DatabaseFault)


class Story(msgspec.Struct, frozen=True, omit_defaults=True):
    """One life. `variant` is the type of the fleet's database; `origin` names seed and number."""

    subject: Subject
    actions: tuple[AnyAction, ...]
    variant: str = ""
    origin: str = ""

    @property
    def needs_election(self) -> bool:
        return any(isinstance(action, Pause) for action in self.actions)

    def count(self, *kinds: type[Action]) -> int:
        return sum(isinstance(action, kinds) for action in self.actions)


def to_json(story: Story) -> str:
    """One action a line, so that a user can remove some."""
    actions = ",\n".join(f"    {msgspec.json.encode(action).decode()}" for action in story.actions)
    head = msgspec.json.encode(msgspec.structs.replace(story, actions=())).decode()
    return head.replace('"actions":[]', f'"actions":[\n{actions}\n  ]')


def from_json(text: str | bytes) -> Story:
    return msgspec.json.decode(text, type=Story)
