"""How a template function is declared: by its Go signature, from which argument checks and Go's error texts follow.

    table = Table()

    @table.function("trunc(int, string) string")
    def trunc(size: int, text: str) -> str: ...

    @table.budgeted("repeat(int, string) string")       # gets the Budget first
    def repeat(budget: Budget, count: int, text: str) -> str: ...

    @table.function("now() time.Time", Profile.FULL)    # reads the clock: not in hermetic
    def now() -> Time: ...

The engine calls an implementation only with arguments that fit its signature.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from steward.gotemplate.budget import Profile
from steward.gotemplate.values.values import ANY, GoType, Implementation, go_type

F = TypeVar("F", bound=Callable[..., Any])


class Function:
    """A function as templates see it. `params` excludes the variadic one, whose element type is `rest`."""

    __slots__ = ("budgeted", "call", "name", "params", "profile", "repeatable", "rest", "result")

    def __init__(self, name: str, call: Implementation, profile: Profile) -> None:
        self.name = name
        self.call = call
        self.profile = profile
        self.params: tuple[GoType, ...] = ()
        self.rest: GoType | None = None
        self.result: GoType = ANY
        self.budgeted = False
        self.repeatable = profile is Profile.HERMETIC

    def __repr__(self) -> str:
        return f"Function({self.name})"


def declare(signature: str, call: Implementation, profile: Profile = Profile.HERMETIC) -> Function:
    """`name(type, ...type) result`; a result that may fail is not marked: the implementation raises GoError."""
    name, rest = signature.split("(", 1)
    params, result = rest.rsplit(")", 1)
    made = Function(name.strip(), call, profile)
    types = [part.strip() for part in params.split(",") if part.strip()]
    if types and types[-1].startswith("..."):
        made.rest = go_type(types.pop()[3:])
    made.params = tuple(map(go_type, types))
    made.result = go_type(result.strip() or "any")
    return made


class Table(Mapping[str, Function]):
    """A set of functions by name. A module fills one; sets are tables put together."""

    def __init__(self, *parts: Mapping[str, Function]) -> None:
        self._functions: dict[str, Function] = {}
        for part in parts:
            self._functions.update(part)

    def __getitem__(self, name: str) -> Function:
        return self._functions[name]

    def __iter__(self) -> Any:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    def function(self, signature: str, profile: Profile = Profile.HERMETIC) -> Callable[[F], F]:
        def add(implementation: F) -> F:
            made = declare(signature, implementation, profile)
            self._functions[made.name] = made
            return implementation

        return add

    def budgeted(self, signature: str, profile: Profile = Profile.HERMETIC) -> Callable[[F], F]:
        """As `function`; the implementation gets the rendering's Budget as its first argument."""

        def add(implementation: F) -> F:
            made = declare(signature, implementation, profile)
            made.budgeted = True
            self._functions[made.name] = made
            return implementation

        return add


def methods(table: Table) -> Mapping[str, Function]:
    """The method table of a GoObject: declared like functions, without the receiver in the signature.

    The implementation gets the receiver first (a budgeted one gets the Budget before it).
    """
    return dict(table)
