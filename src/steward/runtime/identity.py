"""Who this process is: the operator's name, its version, and which copy of it."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from importlib.metadata import version
from typing import NamedTuple


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
    return Identity(name, version("steward"), f"{host}_{uuid.uuid4().hex[:12]}")
