"""Scalar types and enumerations with their bounds."""

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct, UnsetType

INTERVAL_PATTERN = r"^[0-9]+(s|m|h)$"
UID_LENGTH = 253

ObjectName = Annotated[str, Meta(min_length=1, max_length=253)]
AccountName = Annotated[str, Meta(min_length=1, max_length=253, pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")]
KeyName = Annotated[str, Meta(min_length=1, max_length=253)]
Host = Annotated[str, Meta(min_length=1, max_length=253)]
Identifier = Annotated[str, Meta(min_length=1, max_length=128)]
TableName = Annotated[str, Meta(min_length=1, max_length=200)]
ResourceId = Annotated[str, Meta(min_length=1, max_length=253)]
Uid = Annotated[str, Meta(max_length=UID_LENGTH)]
FilePath = Annotated[str, Meta(min_length=1, max_length=1024)]
Interval = Annotated[str, Meta(max_length=12, pattern=INTERVAL_PATTERN)]
Count = Annotated[int, Meta(ge=0, extra_json_schema={"format": "int32"})]
Generation = Annotated[int, Meta(extra_json_schema={"format": "int64"})]
Timestamp = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]

SourceType = Literal["mysql", "postgres", "sqlite"]
TlsMode = Literal["disable", "prefer", "require", "verify-ca", "verify-full"]
ConditionOperator = Literal["In", "NotIn"]
TemplateProfile = Literal["hermetic", "full"]
CreationPolicy = Literal["Once", "WhenNeeded"]
DeletionPolicy = Literal["Delete", "Retain"]
ConflictPolicy = Literal["Stuck", "Force"]
PatchStrategy = Literal["apply", "merge", "replace"]
GeneratedCharacters = Literal["alphanumeric", "digits", "hex"]
RolloutPhase = Literal["Idle", "InProgress", "Failed", "Complete"]

# A complete object of any kind: only the API server knows its schema.
AnyObject = Annotated[
    dict[str, Any], Meta(extra_json_schema={"type": "object", "x-kubernetes-preserve-unknown-fields": True})
]
ATOMIC: Final = {"x-kubernetes-list-type": "atomic"}
BY_ID: Final = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["id"]}
Unset = UnsetType
UNSET: Final[UnsetType] = msgspec.UNSET


class Part(Struct, rename="camel", kw_only=True, omit_defaults=True):
    """Base of all API types: camelCase on the wire, never modified in place; UNSET fields are omitted."""
