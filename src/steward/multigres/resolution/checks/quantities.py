"""Checks requests, limits and volume sizes. Pure."""

from collections.abc import Iterator

from msgspec import UNSET

from steward.kube.objects.quantity import parse_quantity
from steward.multigres.api.compute import Resources, Storage
from steward.multigres.api.scalars import Unset
from steward.multigres.api.unset import or_default
from steward.multigres.resolution.resolved import SpecProblem


def resource_problems(field: str, resources: Resources | Unset) -> Iterator[SpecProblem]:
    if not isinstance(resources, Resources):
        return
    limits = or_default(resources.limits, {})
    for part, amounts in (("requests", or_default(resources.requests, {})), ("limits", limits)):
        for name, amount in amounts.items():
            if parse_quantity(amount).numerator < 0:
                yield SpecProblem(f"{field}.{part}.{name}", f"{amount} is negative; write 0 or more")
    for name, request in or_default(resources.requests, {}).items():
        if name in limits and parse_quantity(limits[name]) < parse_quantity(request):
            message = f"the limit {limits[name]} is below the request {request}; raise the limit or lower the request"
            yield SpecProblem(f"{field}.limits.{name}", message)


def volume_problems(field: str, storage: Storage | Unset) -> Iterator[SpecProblem]:
    """`field` is that of the component."""
    if storage is UNSET or storage.size is UNSET or parse_quantity(storage.size).numerator > 0:
        return
    message = f"{storage.size} is not a volume size; write more than 0, such as 10Gi"
    yield SpecProblem(f"{field}.storage.size", message)
