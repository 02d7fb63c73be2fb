"""Who this process is: the operator's name, its version, and which copy of it."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from typing import Final, NamedTuple

# The same as in pyproject.toml, which a test holds. To read it from the installed package takes a library of its own,
# and most of a megabyte for as long as the process lives.
VERSION: Final = "0.1.0"


class Identity(NamedTuple):
    """`name` is what users see in events, traces and audit logs; `instance` tells two copies, and two lives, apart."""

    name: str
    version: str
    instance: str

    @property
    def user_agent(self) -> str:
        return f"{self.name}/{self.version}"


def identity(name: str, environ: Mapping[str, str] = os.environ) -> Identity:
    host = environ.get("POD_NAME") or os.uname().nodename
    return Identity(name, VERSION, f"{host}_{uuid.uuid4().hex[:12]}")
