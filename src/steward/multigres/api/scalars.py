"""Names, sizes and choices with their bounds.

The length limits leave room for the parts that generated names add (`names.py`); the patterns keep every name usable as
part of a label, a key in the topology server and a flag. Names may contain `_` because names of databases do.
"""

import re
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct, UnsetType

from steward.kube.crd.schema import Cel

NAME_PATTERN = r"^[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"
LABEL_PATTERN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
LABEL_VALUE_PATTERN = r"^[A-Za-z0-9]([-._A-Za-z0-9]*[A-Za-z0-9])?$"
QUANTITY_PATTERN = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$"

ClusterName = Annotated[str, Meta(min_length=1, max_length=30, pattern=LABEL_PATTERN)]
DatabaseName = Annotated[str, Meta(min_length=1, max_length=30, pattern=NAME_PATTERN)]
TableGroupName = Annotated[str, Meta(min_length=1, max_length=25, pattern=NAME_PATTERN)]
ShardName = Annotated[str, Meta(min_length=1, max_length=25, pattern=NAME_PATTERN)]
PoolName = Annotated[str, Meta(min_length=1, max_length=25, pattern=LABEL_PATTERN)]
CellName = Annotated[str, Meta(min_length=1, max_length=30, pattern=NAME_PATTERN)]
TemplateName = Annotated[str, Meta(min_length=1, max_length=63)]
ObjectName = Annotated[str, Meta(min_length=1, max_length=253)]
KeyName = Annotated[str, Meta(min_length=1, max_length=253)]
Image = Annotated[str, Meta(min_length=1, max_length=512)]
LocationName = Annotated[str, Meta(min_length=1, max_length=63, pattern=LABEL_VALUE_PATTERN)]
PullPolicy = Literal["Always", "Never", "IfNotPresent"]
PullSecrets = Annotated[
    list[dict[str, Any]],
    Meta(
        max_length=20,
        extra_json_schema={
            "x-kubernetes-list-type": "atomic",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string", "minLength": 1, "maxLength": 253}},
                "required": ["name"],
            },
        },
    ),
]
Path = Annotated[str, Meta(min_length=1, max_length=512)]
CellNames = Annotated[
    list[CellName], Meta(max_length=50, extra_json_schema={"x-kubernetes-list-type": "set"})
]
Endpoint = Annotated[str, Meta(min_length=1, max_length=2048, pattern=r"^https?://")]
Address = Annotated[str, Meta(min_length=1, max_length=8192)]
IpAddress = Annotated[str, Meta(min_length=3, max_length=45, pattern=r"^[0-9a-fA-F.:]+$")]

Quantity = Annotated[
    str | int,
    Meta(
        extra_json_schema={"x-kubernetes-int-or-string": True, "pattern": QUANTITY_PATTERN, "maxLength": 63}
    ),
]
Percentage = Annotated[str, Meta(min_length=2, max_length=4, pattern=r"^[1-9][0-9]{0,2}%$")]
Duration = Annotated[str, Meta(max_length=16, pattern=r"^([0-9]+(ms|s|m|h))+$")]
PodVersion = Annotated[int, Meta(ge=1)]
Retention = Literal["Retain", "Delete"]
LogLevel = Literal["debug", "info", "warn", "error"]
DurabilityPolicy = Literal["AT_LEAST_2", "MULTI_CELL_AT_LEAST_2"]
Phase = Literal[
    "Initializing", "Progressing", "Healthy", "Degraded", "Unknown", "Stopped", "Paused", "Hibernated"
]

# Kubernetes types that are copied into pods as they are: their schemas would make the CRDs too large for client-side
# apply, and the API server validates them when the pod template is applied.
Verbatim = Annotated[
    dict[str, Any], Meta(extra_json_schema={"type": "object", "x-kubernetes-preserve-unknown-fields": True})
]
VerbatimList = Annotated[
    list[dict[str, Any]],
    Meta(
        max_length=20,
        extra_json_schema={
            "x-kubernetes-list-type": "atomic",
            "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        },
    ),
]
Unset = UnsetType
UNSET: Final[UnsetType] = msgspec.UNSET
ATOMIC = {"x-kubernetes-list-type": "atomic"}
SET = {"x-kubernetes-list-type": "set"}
BY_NAME = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}


def reject_sections(*sections: str, home: str) -> tuple[Cel, ...]:
    """CEL rules of a template kind that reject sections of another kind. Such sections are declared in the schema so
    that the API server evaluates the rule; otherwise it would prune them with a warning that many clients do not show.
    """
    return tuple(
        Cel(f"!has(self.{section})", f"{section} belongs into a {home}", f".{section}")
        for section in sections
    )


def is_cell_name(text: str) -> bool:
    """Whether the name of a zone or region is also a valid name for a cell."""
    return 0 < len(text) <= 30 and re.fullmatch(NAME_PATTERN, text) is not None


class ApiStruct(Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Base of all API types: camelCase on the wire; UNSET fields are left out. Instances are not modified in place."""
