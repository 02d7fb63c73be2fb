"""Everything that this package raises.

    TenantsError
    ├── RenderError            a template that failed for a row: resource, field, line, column, Go's text and the cure
    │   └── TooLarge           the row's objects are more than a Tenant can hold: the row is rejected
    ├── ValuesTaken            a stranger's Secret has the name of the one for a Tenant's values: the row is rejected
    └── SourceError            the rows could not be read: which source, and the cure
        ├── BadSource          it can never work as it is written: a table name, a path, a TLS setting
        ├── Unreachable        no connection: address, name, network
        ├── AccessDenied       the server knows us not, or lets us not read
        ├── TlsFailed          the certificate is not what was asked for
        ├── WrongTable         the table, or a column that was asked for, is not there
        └── BrokenRead         the read began and did not end: cut, too slow, or spoiled

A message names the object, the field and what to do; never a password, never a row's values beyond what Go's own
template errors quote.
"""


class TenantsError(Exception):
    """The root: catch this to catch whatever this package raises."""


class RenderError(TenantsError):
    """`line` counts from 1, `column` counts bytes from 0, both as Go does; both are 0 and None where there is none."""

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


class ValuesTaken(TenantsError):
    def __init__(self, secret: str) -> None:
        super().__init__(
            f"Secret {secret}, which is to hold the values of its Tenant, belongs to somebody else: "
            "rename that Secret, or the template"
        )


class SourceError(TenantsError):
    """The rows could not be read. Nothing is deleted because of it."""


class BadSource(SourceError):
    pass


class Unreachable(SourceError):
    pass


class AccessDenied(SourceError):
    pass


class TlsFailed(SourceError):
    pass


class WrongTable(SourceError):
    pass


class BrokenRead(SourceError):
    pass
