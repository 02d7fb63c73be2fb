"""What every status holds."""

from typing import Annotated, Literal

from msgspec import Meta

from steward.tenants.api.scalars import Generation, Part, Timestamp


class Condition(Part):
    """One thing that is true, false or unknown of the object."""

    type: Annotated[str, Meta(min_length=1, max_length=316)]
    """Which thing."""
    status: Literal["True", "False", "Unknown"]
    """Whether it holds."""
    reason: Annotated[str, Meta(max_length=1024)]
    """Why, in one CamelCase word."""
    message: Annotated[str, Meta(max_length=32768)]
    """Why, in one sentence that says what to do."""
    last_transition_time: Timestamp
    """Since when the status is what it is."""
    observed_generation: Generation = 0
    """The generation of the spec that this speaks of."""


Conditions = Annotated[
    list[Condition],
    Meta(extra_json_schema={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]}),
]
