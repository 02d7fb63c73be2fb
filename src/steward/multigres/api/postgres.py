"""What a spec says about Postgres itself: roles of databases and settings of servers."""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from steward.kube.crd.schema import Cel
from steward.multigres.api.scalars import BY_NAME, SET, UNSET, ApiStruct, KeyName, ObjectName, Unset

ROLE_PATTERN = r"^[a-z]([a-z0-9_-]*[a-z0-9])?$"
RoleName = Annotated[str, Meta(min_length=1, max_length=63, pattern=ROLE_PATTERN)]
OwnRoleName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=63,
        pattern=ROLE_PATTERN,
        extra_json_schema={
            "x-kubernetes-validations": [
                {
                    "rule": "self != 'postgres' && !self.startsWith('pg_')",
                    "message": "postgres and names that begin with pg_ belong to Postgres",
                }
            ]
        },
    ),
]
Timestamp = Annotated[
    str, Meta(min_length=20, max_length=35, extra_json_schema={"type": "string", "format": "date-time"})
]
RoleNames = Annotated[list[RoleName], Meta(max_length=16, extra_json_schema=SET)]
ApplicationRole = Literal["Owner", "Superuser"]
RemovedRoles = Literal["Keep", "Drop"]


class PasswordSecret(ApiStruct):
    """A Secret with a password."""

    name: ObjectName
    """The Secret, in the same namespace."""
    key: KeyName | Unset = UNSET
    """The key in it; `password` when left out."""


class RoleEntry(ApiStruct):
    """A role of Postgres. Attributes and memberships that are not declared here are left as they are."""

    name: OwnRoleName
    """The role's name."""
    login: bool | Unset = UNSET
    """Whether the role can log in; true when left out. A role that cannot is a group of others."""
    member_of: RoleNames | Unset = UNSET
    """Roles whose rights it has, for example `pg_read_all_data` or another role of the database."""
    password_secret_ref: PasswordSecret | Unset = UNSET
    """Your own password Secret. The operator makes a password when left out."""
    valid_until: Timestamp | Unset = UNSET
    """When the password ends, for example `2027-01-01T00:00:00Z`. It does not end when left out."""
    rules: ClassVar = (
        Cel(
            "!has(self.login) || self.login || !has(self.passwordSecretRef)",
            "a role without login has no password",
            ".passwordSecretRef",
        ),
    )


RoleEntries = Annotated[list[RoleEntry], Meta(max_length=32, extra_json_schema=BY_NAME)]


SETTING_PATTERN = r"^[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)?$"
SettingName = Annotated[str, Meta(min_length=1, max_length=63, pattern=SETTING_PATTERN)]
SettingValue = Annotated[
    str | int, Meta(extra_json_schema={"x-kubernetes-int-or-string": True, "maxLength": 1024})
]
Settings = Annotated[dict[SettingName, SettingValue], Meta(max_length=200)]


class PostgresConfig(ApiStruct):
    """Postgres settings in a ConfigMap of the same namespace."""

    name: ObjectName
    """The ConfigMap."""
    key: KeyName
    """The key whose value has the format of postgresql.conf."""


InitdbArgs = Annotated[str, Meta(max_length=512)]


class PostgresOptions(ApiStruct):
    """Options of the Postgres servers of a shard."""

    settings: Settings | Unset = UNSET
    """Postgres settings by name, for example `work_mem: 8MB`. They win over those of postgresConfigRef. A change that
    needs a restart restarts the servers one at a time; others are reloaded."""
