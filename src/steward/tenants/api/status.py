"""Conditions, which every status has."""

from typing import Annotated, Literal

from msgspec import Meta

from steward.tenants.api.scalars import Generation, Part, Timestamp


class Condition(Part):
    """One aspect of the state of the object."""

    type: Annotated[str, Meta(min_length=1, max_length=316)]
    """The type of the condition."""
    status: Literal["True", "False", "Unknown"]
    """True, False or Unknown."""
    reason: Annotated[str, Meta(max_length=1024)]
    """The reason, as one CamelCase word."""
    message: Annotated[str, Meta(max_length=32768)]
    """The explanation, and what to do."""
    last_transition_time: Timestamp
    """When the status last changed."""
    observed_generation: Generation = 0
    """The generation of the spec that the condition is about."""


Conditions = Annotated[
    list[Condition],
    Meta(extra_json_schema={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]}),
]
