"""Contents of templates from dictionaries."""

from typing import Any

import msgspec

from steward.multigres.api.templates.cell_template import CellTemplateSpec
from steward.multigres.api.templates.core_template import CoreTemplateSpec
from steward.multigres.api.templates.shard_template import ShardTemplateSpec
from steward.multigres.resolution.resolved import Templates


def templates(**kinds: dict[str, Any]) -> Templates:
    types = {"core": CoreTemplateSpec, "cell": CellTemplateSpec, "shard": ShardTemplateSpec}
    return Templates(
        **{
            kind: {name: msgspec.convert(spec, cls) for name, spec in kinds.get(kind, {}).items()}  # type: ignore[type-var]
            for kind, cls in types.items()
        }
    )
