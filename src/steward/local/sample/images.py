"""Images that the sample needs where pods run in containers. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from steward.multigres.resolution.defaults import ETCD_IMAGE, IMAGES

WORKLOAD_PORT: Final = 8080


def database_images() -> list[str]:
    """Of every pod of a MultigresCluster with default images."""
    fields = msgspec.structs.asdict(IMAGES)
    images = [
        value for name, value in fields.items() if name != "image_pull_policy" and isinstance(value, str)
    ]
    return list(dict.fromkeys((*images, ETCD_IMAGE)))


def describe_missing(missing: Sequence[str]) -> str:
    return (
        f"The nodes lack {', '.join(missing)}: save the images with `docker save`, then run `steward down --purge` and "
        "`steward up --containers --images DIR`."
    )
