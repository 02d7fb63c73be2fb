"""What the three template kinds share: a section that belongs to another kind is declared, so that the server keeps
it, and refused by a rule. Undeclared, it would be pruned with a warning that many clients never show."""

from steward.kube.crd.schema import Cel


def refuse(*sections: str, home: str) -> tuple[Cel, ...]:
    return tuple(
        Cel(f"!has(self.{section})", f"{section} belongs into a {home}", f".{section}")
        for section in sections
    )
