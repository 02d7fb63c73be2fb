"""`python -m tests.mutation [MODULE...] [--count N] [--seed N] [--least PERCENT]`"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

from tests.mutation.mutant_run import MutantRun
from tests.mutation.mutants import Mutant, find_mutants
from tests.support.paths import ROOT

TARGETS: Final[dict[str, str]] = {
    "steward.tenants.guard.decision": "tests/tenants/guard",
    "steward.tenants.guard.approval": "tests/tenants/guard",
    "steward.tenants.guard.cascade": "tests/tenants/guard",
    "steward.tenants.guard.deletion_rate": "tests/tenants/guard",
    "steward.tenants.fleet.rollout": "tests/tenants/fleet",
    "steward.tenants.objects.permissions": "tests/tenants/objects",
    "steward.tenants.rendering.for_each": "tests/tenants/rendering/test_for_each.py",
    "steward.tenants.rendering.expansion": "tests/tenants/rendering/test_for_each.py",
    "steward.multigres.resolution.resolve": "tests/multigres/resolution",
    "steward.multigres.resolution.shard_resolution": "tests/multigres/resolution",
    "steward.multigres.resolution.validation": "tests/multigres/resolution",
    "steward.multigres.resolution.checks.quantities": "tests/multigres/resolution",
    "steward.multigres.resolution.checks.shard_checks": "tests/multigres/resolution",
    "steward.multigres.resolution.warnings.retention": "tests/multigres/resolution",
    "steward.multigres.rollout.restarts": "tests/multigres/rollout",
    "steward.multigres.rollout.pods": "tests/multigres/rollout",
    "steward.multigres.rollout.quorum": "tests/multigres/rollout",
    "steward.multigres.rollout.switching": "tests/multigres/rollout",
    "steward.multigres.rollout.volumes": "tests/multigres/rollout",
    "steward.multigres.deletion.server_removal": "tests/multigres/deletion",
    "steward.multigres.deletion.cluster_order": "tests/multigres/deletion",
    "steward.multigres.deletion.dependents": "tests/multigres/deletion",
    "steward.multigres.deletion.draining": "tests/multigres/deletion",
    "steward.multigres.deletion.ownerless_claims": "tests/multigres/deletion",
    "steward.multigres.status.retained_claims": "tests/multigres/status/test_retained_claims.py",
    "steward.multigres.topology.desired_records": "tests/multigres/topology",
    "steward.multigres.topology.store_records": "tests/multigres/topology",
}
"""Pure modules that decide, and the tests that must notice when they decide otherwise."""
NO_TESTS: Final = 5
"""The exit code of pytest if it finds no tests."""


class Outcome(NamedTuple):
    mutant: Mutant
    is_killed: bool


def main() -> int:
    options = _options()
    names = options.modules or list(TARGETS)
    shares = [_mutate(name, options) for name in names]
    return 0 if all(share >= options.least for share in shares) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("modules", nargs="*", choices=[*TARGETS, []], help="all of them when left out")
    parser.add_argument("--count", type=int, default=40, help="mutants of each module, chosen at random")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--least", type=float, default=95.0, help="the share in percent that must be killed")
    return parser.parse_args()


def _mutate(name: str, options: argparse.Namespace) -> float:
    """The share of mutants that the tests kill, in percent."""
    file = ROOT / "src" / Path(*name.split(".")).with_suffix(".py")
    source = file.read_text()
    if _run(name, Mutant(0, "", source)).is_killed:
        sys.exit(f"{name}: its tests fail without a change, so that no mutant proves anything")
    mutants = find_mutants(source)
    chosen = random.Random(options.seed).sample(mutants, min(options.count, len(mutants)))
    outcomes = [_run(name, mutant) for mutant in sorted(chosen)]
    killed = sum(outcome.is_killed for outcome in outcomes)
    print(f"{name}: {killed} of {len(outcomes)} mutants killed ({len(mutants)} in all)", flush=True)
    for outcome in outcomes:
        if not outcome.is_killed:
            print(f"  {file.relative_to(ROOT)}:{outcome.mutant.line}: {outcome.mutant.change}", flush=True)
    return 100.0 * killed / max(1, len(outcomes))


def _run(name: str, mutant: Mutant) -> Outcome:
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "mutant.py"
        file.write_text(mutant.source)
        run = MutantRun(name, file)
        is_killed = any(run.exit_code(tests) not in (0, NO_TESTS) for tests in _test_runs(name))
        return Outcome(mutant, is_killed)


def _test_runs(name: str) -> list[list[str]]:
    """The test file of the module alone, which ends most mutants, then the others."""
    _, *packages, module = name.split(".")
    nearest = Path("tests", *packages, f"test_{module}.py")
    if not (ROOT / nearest).exists() or str(nearest) == TARGETS[name]:
        return [[TARGETS[name]]]
    return [[str(nearest)], [TARGETS[name], f"--ignore={nearest}"]]


if __name__ == "__main__":
    sys.exit(main())
