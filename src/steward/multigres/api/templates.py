"""CEL rules of the template kinds that reject sections of another kind.

Such sections are declared in the schema so that the API server evaluates the rule. If they were not declared, the
server would prune them with a warning that many clients do not show.
"""

from steward.kube.crd.schema import Cel


def reject_sections(*sections: str, home: str) -> tuple[Cel, ...]:
    return tuple(
        Cel(f"!has(self.{section})", f"{section} belongs into a {home}", f".{section}")
        for section in sections
    )
