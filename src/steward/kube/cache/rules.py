"""Cache rules: which objects of a kind are cached, by a label selector for each namespace.

A rule with several entries is a union: an object is cached, once, when at least one entry selects it.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from steward.kube.objects.kinds import Kind
from steward.kube.objects.meta import HasMetadata, ObjectMeta

T = TypeVar("T", bound=HasMetadata)

EVERY_NAMESPACE = "*"

_TERM = re.compile(
    r"\s*(?P<key>[A-Za-z0-9_./-]+)\s*"
    r"(?:(?P<set>notin|in)\s*\((?P<values>[^()]*)\)|(?P<op>==|=|!=)\s*(?P<value>[A-Za-z0-9_.-]*))?\s*$"
)
_ABSENT = re.compile(r"\s*!\s*(?P<key>[A-Za-z0-9_./-]+)\s*$")
_COMMA = re.compile(r",(?![^(]*\))")


class Requirement(NamedTuple):
    """The label `key` has one of `values` (any value when None); negated when `excluded`."""

    key: str
    values: frozenset[str] | None
    excluded: bool

    def matches(self, labels: Mapping[str, str]) -> bool:
        value = labels.get(self.key)
        found = value is not None and (self.values is None or value in self.values)
        return found is not self.excluded


class Selector(NamedTuple):
    """A parsed label selector, with its string form; the empty one selects everything."""

    text: str
    requirements: tuple[Requirement, ...]

    def matches(self, labels: Mapping[str, str]) -> bool:
        # Called for every object: a generator here costs more than the comparisons.
        for requirement in self.requirements:  # noqa: SIM110
            if not requirement.matches(labels):
                return False
        return True


def parse_selector(text: str) -> Selector:
    terms = _COMMA.split(text) if text.strip() else []
    return Selector(text, tuple(_parse_requirement(term, text) for term in terms))


def _parse_requirement(term: str, text: str) -> Requirement:
    if absent := _ABSENT.match(term):
        return Requirement(absent["key"], None, excluded=True)
    match = _TERM.match(term)
    if match is None:
        raise ValueError(
            f"label selector {text!r}: cannot read {term.strip()!r}; write key=value, key in (a,b) or !key"
        )
    if match["set"]:
        values = frozenset(value.strip() for value in match["values"].split(","))
        return Requirement(match["key"], values, match["set"] == "notin")
    if match["op"]:
        return Requirement(match["key"], frozenset((match["value"],)), match["op"] == "!=")
    return Requirement(match["key"], None, excluded=False)


class WatchScope(NamedTuple):
    """One watch of a rule: a namespace ("" means all) and a label selector."""

    namespace: str
    selector: Selector

    def selects(self, meta: ObjectMeta) -> bool:
        return self.namespace in ("", meta.namespace) and self.selector.matches(meta.labels)


@dataclass(frozen=True)
class CacheRule(Generic[T]):
    """Which objects of one kind are cached, and as which view.

    `selectors` has a label selector for each namespace; "*" means every namespace, and the empty selector selects
    everything. `owned_by` is our field manager if objects of this kind are applied; `reduce` makes an object's
    JSON smaller before it is decoded. `accepts` leaves out objects that no selector can tell from others. `reports`
    says of which objects this process applies the status: of others the fields that we own there are not kept. A store
    that `fills_last` is listed after all others, and no controller waits for it: a reconcile that depends on it waits
    by itself.
    """

    kind: Kind
    view: type[T]
    selectors: Mapping[str, str] = field(default_factory=lambda: {EVERY_NAMESPACE: ""})
    field_selector: str = ""
    owned_by: str = ""
    reduce: Callable[[bytes], bytes] | None = None
    accepts: Callable[[ObjectMeta], bool] | None = None
    reports: Callable[[ObjectMeta], bool] | None = None
    fills_last: bool = False

    def __hash__(self) -> int:
        return hash(
            (self.kind, self.view, tuple(sorted(self.selectors.items())), self.field_selector, self.owned_by)
        )

    def watch_scopes(self) -> tuple[WatchScope, ...]:
        return tuple(
            WatchScope("" if namespace == EVERY_NAMESPACE else namespace, parse_selector(selector))
            for namespace, selector in self.selectors.items()
        )
