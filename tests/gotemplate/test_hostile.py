"""No function does much more than it charges for, whatever it is given: calls are counted, so no clock is needed."""

from __future__ import annotations

import cProfile
from collections.abc import Callable
from functools import partial

import pytest

from steward.gotemplate import TemplateError, parse
from steward.gotemplate.budget import DEFAULT_LIMITS as LIMITS
from steward.gotemplate.budget import Budget, Profile, budget_of
from steward.gotemplate.funcs import function_set
from steward.gotemplate.funcs.registry import Function
from steward.gotemplate.template import Template, explained, joined
from tests.conformance.gotemplate.hostile import Attack, attacks, data

pytestmark = pytest.mark.slow

_FREE_CALLS = 3_000
# A step stands for a microsecond, in which Python makes some six calls.
_CALLS_A_STEP = 6
_SAMPLES = 4


def sampled(functions: str) -> list[Attack]:
    """A few attacks on each function that is there by default; `bench gotemplate_hostile` makes all of them."""
    known = {name for name, function in _own(functions).items() if function.profile is Profile.HERMETIC}
    found: dict[str, list[Attack]] = {}
    for attack in attacks(functions):
        if attack.function in known:
            found.setdefault(attack.function, []).append(attack)
    return [attack for every in found.values() for attack in every[:: max(1, len(every) // _SAMPLES)]]


def _own(functions: str) -> dict[str, Function]:
    """Without those that the set `sprig` has too, which is attacked as a whole."""
    others = {} if functions == "sprig" else function_set("sprig")
    return {name: each for name, each in function_set(functions).items() if others.get(name) is not each}


def counted(work: Callable[[], str]) -> tuple[int, str]:
    """How many calls the work makes, of Python functions and of others, and what it gives."""
    profile = cProfile.Profile(subcalls=False)
    profile.enable()
    try:
        result = work()
    finally:
        profile.disable()
    return sum(entry.callcount for entry in profile.getstats()), result


def run(template: Template, budget: Budget) -> str:
    """What Template.render does, on a budget that can be looked at afterwards."""
    module = template._compile(typed_output=False)
    try:
        return joined(module.body(data(), budget), module.generated, LIMITS)
    except TemplateError as error:
        return str(error)
    except Exception as error:
        return str(explained(error, module.generated))


@pytest.mark.parametrize("functions", ["sprig", "tenants"])
def test_no_function_works_more_than_it_charges(functions: str) -> None:
    dear = []
    for attack in sampled(functions):
        budget = budget_of(LIMITS, Profile.HERMETIC)
        template = parse(attack.source, functions=functions)
        calls, result = counted(partial(run, template, budget))
        assert not result.startswith("template: ") or "internal error" not in result, attack.source
        charged = LIMITS.steps - budget.steps
        if calls > _FREE_CALLS + _CALLS_A_STEP * charged:
            dear.append(f"{attack.source}: {calls} calls for {charged} steps")
    assert not dear, "\n".join(dear)


def test_the_sweep_attacks_every_function_that_takes_something() -> None:
    attacked = {attack.function for attack in attacks("tenants")}
    spared = {
        name
        for name, function in function_set("tenants").items()
        if not function.params and not function.rest
    }
    assert attacked == set(function_set("tenants")) - spared
    assert spared == {"hello", "now", "uuidv4"}


def test_an_untrusted_template_has_no_scrypt_in_the_default_profile() -> None:
    call = '{{ derivePassword 1 "pin" "p" "u" "s" }}'
    with pytest.raises(TemplateError, match='"derivePassword" not defined: it is in profile full'):
        parse(call, functions="tenants")
    assert parse(call, functions="tenants", profile="full")
    assert parse(call, functions="sprig")
