"""Messages for errors of the API server that name the field and the cure. Pure."""

import re
from typing import Final

from steward.kube.errors import FieldConflict, Forbidden, Invalid, KubeError, NoSuchKind
from steward.kube.objects.kinds import Ref
from steward.tenants.labels import RECREATE
from steward.tenants.objects.ownership import field_conflict_message
from steward.tenants.objects.permissions import denial_message

_IMMUTABLE: Final = re.compile(
    r"immutable|may not (be )?change|cannot (be )?change|can ?not be updated|[Uu]pdates to .* are forbidden"
    r"|[Uu]pdates to .* for fields other than",
)


def immutable_fields(error: Invalid) -> tuple[str, ...]:
    """The immutable fields that the change was rejected for; empty if it was rejected for another reason."""
    return tuple(
        field
        for field, messages in error.causes.items()
        if any(_IMMUTABLE.search(message) for message in messages)
    )


def is_denied_by_admission(error: KubeError) -> bool:
    """By a webhook or a policy, with a message of its own; the denials of RBAC name the user."""
    return isinstance(error, Forbidden) and not error.user


def describe_api_error(ref: Ref, error: KubeError) -> str:
    """The message for status and events."""
    if isinstance(error, Forbidden):
        return denial_message(ref, error)
    if isinstance(error, FieldConflict):
        return field_conflict_message(ref, error)
    if isinstance(error, Invalid):
        return f"{ref}: {_describe_invalid(error)}"
    if isinstance(error, NoSuchKind):
        return f"{ref}: {error}"
    return f"{ref}: {error}"


def _describe_invalid(error: Invalid) -> str:
    fixed = immutable_fields(error)
    if fixed:
        names = ", ".join(fixed)
        return (
            f'{names} cannot change on an existing object; undo it, or set the annotation {RECREATE}: "true"'
        )
    return str(error)
