"""Conditions, which every status has."""

from typing import Annotated, Literal

from msgspec import Meta

from steward.multigres.api.scalars import ApiStruct


class Condition(ApiStruct):
    """One aspect of the object's state: true, false or unknown."""

    type: Annotated[str, Meta(min_length=1, max_length=316)]
    """The type of the condition."""
    status: Literal["True", "False", "Unknown"]
    """True, False or Unknown."""
    reason: Annotated[str, Meta(max_length=1024)]
    """The reason, one CamelCase word."""
    message: Annotated[str, Meta(max_length=32768)]
    """The reason in one sentence, with what to do about it."""
    last_transition_time: Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
    """When the status changed last."""
    observed_generation: int = 0
    """The generation of the spec that this condition describes."""


Conditions = Annotated[
    list[Condition],
    Meta(extra_json_schema={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]}),
]
