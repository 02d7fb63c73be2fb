"""What statuses have in common: conditions, and deletions that the guard holds."""

from typing import Annotated, Literal

from msgspec import Meta

from steward.tenants.api.scalars import Count, Generation, Part, Timestamp


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


class HeldDeletion(Part):
    """Deletions that wait for an approval."""

    count: Count
    """The number of Tenants."""
    digest: str
    """The digest of exactly this set."""
    reason: str
    """Why it is held."""
    sample: list[str]
    """The first ten of their names; count has the number of all."""
    approve_with: str
    """The value of the annotation `kubernetes-tenants.org/approve-deletion` that approves exactly this set."""
