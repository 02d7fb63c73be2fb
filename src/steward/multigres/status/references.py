"""Conditions for missing StorageClasses and Secrets, and for placements that were skipped. Pure."""

from collections.abc import Sequence

from steward.kube.objects.conditions import FALSE, TRUE, Condition
from steward.multigres import reasons
from steward.multigres.resolution.checks.bounded_lists import first_texts
from steward.multigres.resolution.external_refs import MissingReference
from steward.multigres.resolution.resolved import ResolvedCluster
from steward.multigres.status.conditions import PLACEMENTS_SKIPPED, ComponentStatus

REFERENCES_FOUND = "ReferencesFound"


def missing_component(missing: Sequence[MissingReference]) -> list[ComponentStatus]:
    """A missing reference does not make the cluster unready, because running pods do not need it; it is a problem all
    the same."""
    return [ComponentStatus("references", 1, 1, True, _missing_message(missing))] if missing else []


def _missing_message(missing: Sequence[MissingReference]) -> str:
    return "; ".join(first_texts([each.message for each in missing], "missing references"))


def reference_conditions(
    resolved: ResolvedCluster, missing: Sequence[MissingReference], generation: int
) -> list[Condition]:
    references = references_condition(missing, generation)
    if not resolved.skipped:
        return [references]
    message = "; ".join(first_texts(_skipped_placements(resolved), "skipped placements"))
    return [references, Condition(PLACEMENTS_SKIPPED, TRUE, reasons.CELL_UNKNOWN, message, generation)]


def _skipped_placements(resolved: ResolvedCluster) -> list[str]:
    return [
        f"{skipped.field}: a template names cell {skipped.cell!r}, which this cluster does not have; skipped"
        for skipped in resolved.skipped
    ]


def references_condition(missing: Sequence[MissingReference], generation: int) -> Condition:
    if not missing:
        message = "every referenced StorageClass, Secret and ConfigMap exists"
        return Condition(REFERENCES_FOUND, TRUE, reasons.REFERENCES_FOUND, message, generation)
    message = _missing_message(missing)
    return Condition(REFERENCES_FOUND, FALSE, missing[0].reason, message, generation)
