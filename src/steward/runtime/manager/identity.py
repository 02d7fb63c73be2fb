"""Identity of this process: name, version and instance."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from typing import Final, NamedTuple

# The same as in pyproject.toml; a test compares them. Reading it from the installed package would load a library that
# takes most of a megabyte for the life of the process.
VERSION: Final = "0.1.0"


class Identity(NamedTuple):
    """`name` appears in events, traces and audit logs; `instance` is unique for each replica and each start."""

    name: str
    version: str
    instance: str

    @property
    def user_agent(self) -> str:
        return f"{self.name}/{self.version}"


def identity(name: str, environ: Mapping[str, str] = os.environ) -> Identity:
    host = environ.get("POD_NAME") or os.uname().nodename
    return Identity(name, VERSION, f"{host}_{uuid.uuid4().hex[:12]}")
