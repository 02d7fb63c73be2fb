"""A span for each write of a plan, named by the owner's kind and the part that is written: `Cell.ReconcileServices`.

One span a write, not one a part: the writes of a plan run concurrently, so that a span around all Cells of a cluster
would overlap with the one around its TableGroups and would name neither the slow object nor the failed one.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from steward.kube.objects.kinds import Ref
from steward.runtime.observability import tracing
from steward.runtime.plan.steps import Apply, Emit, Status, Step, step_target

PartNames = Mapping[tuple[str, str], str]
"""Names of parts by the kinds of owner and written object; `{Kind}s` for those that are not listed."""

_NO_SPAN: AbstractContextManager[None] = nullcontext()


def step_span(step: Step, owner: Ref, parts: PartNames) -> AbstractContextManager[Any]:
    target = None if not tracing.is_enabled() or isinstance(step, Emit) else step_target(step)
    if target is None:
        return _NO_SPAN
    return tracing.span(f"{owner.kind.kind}.{_operation(step, target, owner, parts)}", target)


def _operation(step: Step, target: Ref, owner: Ref, parts: PartNames) -> str:
    if isinstance(step, Status):
        return "UpdateStatus"
    if target == owner:
        return "Apply" if isinstance(step, Apply) else "UpdateMetadata"
    kinds = (owner.kind.kind, target.kind.kind)
    return f"Reconcile{parts.get(kinds, f'{target.kind.kind}s')}"
