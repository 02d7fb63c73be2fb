"""For `replace`: the object with all that is ignored as it lives. Pure.

To others belongs not only the value of an ignored field, but also that it is not there, and that it is there although
the template does not know it: else an annotation that a controller writes could not be left alone by any means.
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from steward.kube.objects.kinds import Manifest
from steward.tenants.objects.ignore_fields import ignored_places, twin, value_at, without
from steward.tenants.objects.jsonpath import Concrete


def with_living(manifest: Manifest, live: Manifest, expressions: Sequence[str]) -> Manifest:
    places = ignored_places(manifest, expressions)
    whole = deepcopy(manifest)
    for place in places:
        value = value_at(live, manifest, place)
        if value is not None:
            _put(whole, place, value)
    whole = without(whole, [place for place in _outermost(places) if value_at(live, manifest, place) is None])
    for place in ignored_places(live, expressions):
        _add(whole, live, place)
    return whole


def _outermost(places: Sequence[Concrete]) -> list[Concrete]:
    """Without those inside another: what is ignored as a whole is there, or not, as a whole."""
    known = set(places)
    return [place for place in places if not any(place[:size] in known for size in range(len(place)))]


def _put(document: Any, place: Concrete, value: Any) -> None:
    *way, last = place
    for step in way:
        document = document[step]
    document[last] = value


def _add(part: Any, live: Any, place: Concrete) -> None:
    """Sets what only the living object has. Inside an item that the template does not know nothing is set."""
    *way, last = place
    for position, step in enumerate(way):
        part = _entered(part, live, place[: position + 2])
        live = live[step]
    if isinstance(last, int):
        _add_item(part, live[last], str(way[-1]))
    elif isinstance(part, dict):
        part.setdefault(last, live[last])


def _entered(part: Any, live: Any, way: Concrete) -> Any:
    *_, step, following = way
    if isinstance(step, int):
        return twin(part, live[step], str(way[-3]))
    return part.setdefault(step, [] if isinstance(following, int) else {}) if isinstance(part, dict) else None


def _add_item(items: Any, item: Any, name: str) -> None:
    if isinstance(items, list) and twin(items, item, name) is None:
        items.append(item)
