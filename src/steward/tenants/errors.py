"""The exceptions of this package.

    TenantsError
    ├── RenderError            a template failed for a row: resource, field, line, column, Go's message and the cure
    │   └── TooLarge           the objects of the row are too large for a Tenant: the row is rejected
    ├── UnrecordedTenants      Tenants that must change and whose objects no status records yet
    ├── ValuesSecretConflict   a foreign Secret has the name of the values Secret of a Tenant: the row is rejected
    └── SourceError            the rows could not be read: source and cure
        ├── BadSource          the spec is wrong: a table name, a path, a TLS setting
        ├── SourceUnreachable  no connection: address, name, network
        ├── AccessDenied       the server rejects the login or the SELECT
        ├── TlsFailed          the TLS handshake failed
        ├── WrongTable         the table or a column does not exist
        └── BrokenRead         the read did not complete: interrupted, too slow, or invalid

A message names the object, the field and the cure; never a password, and no values of a row beyond those that Go's
template errors quote.
"""

from collections.abc import Sequence


class TenantsError(Exception):
    """The base class of all exceptions of this package."""


class RenderError(TenantsError):
    """`line` counts from 1 and `column` counts bytes from 0, as in Go; 0 and None where there is none."""

    def __init__(self, field: str, text: str, line: int = 0, column: int | None = None) -> None:
        super().__init__(text)
        self.resource = ""
        self.field = field
        self.text = text
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return f"resource {self.resource!r}, {self.field}: {self.text}" if self.resource else self.text


class TooLarge(RenderError):
    pass


class ValuesSecretConflict(TenantsError):
    def __init__(self, secret: str) -> None:
        super().__init__(
            f"Secret {secret}, the values Secret of its Tenant, already exists and is not managed by this operator: "
            "rename that Secret, or the template"
        )


class UnrecordedTenants(TenantsError):
    """Retried with the next sync."""

    def __init__(self, names: Sequence[str]) -> None:
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        super().__init__(
            f"Tenant {names[0]}{more} must change and has no status yet, which records its objects: "
            "look for errors about it in the log of the operator that runs the Tenant controller of its partition"
        )


class SourceError(TenantsError):
    """The rows could not be read. Nothing is deleted."""


class BadSource(SourceError):
    pass


class SourceUnreachable(SourceError):
    pass


class AccessDenied(SourceError):
    pass


class TlsFailed(SourceError):
    pass


class WrongTable(SourceError):
    pass


class BrokenRead(SourceError):
    pass
