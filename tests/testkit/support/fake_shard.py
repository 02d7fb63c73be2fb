"""A shard of the fake data plane with a clock of its own: poolers come, go and fail, and the model follows."""

from steward.testkit.fake_data_plane.faults import NO_FAULTS, DataPlaneFault, DataPlaneFaults
from steward.testkit.fake_data_plane.rule import DurabilityPolicy, ServerId
from steward.testkit.fake_data_plane.shard_model import (
    Pooler,
    PoolerState,
    ShardState,
    ShardView,
    Timing,
    advance,
)

TIMING = Timing(start=2.0, stream=1.0, failover=5.0, switch=3.0, forget=100.0, restore=4.0)
STEP_SECONDS = 0.5
AT_LEAST_2 = DurabilityPolicy(2)


def server(name: str) -> ServerId:
    """The cell is the first letter: "a1" is a server in cell "a"."""
    return ServerId(name[0], name)


class FakeShard:
    def __init__(self, *names: str, policy: DurabilityPolicy = AT_LEAST_2) -> None:
        self.policy = policy
        self.now = 0.0
        self.faults: DataPlaneFaults = NO_FAULTS
        self.poolers: dict[ServerId, Pooler] = {}
        self.state = ShardState()
        self.restorable = ""
        self._pods = 0
        for name in names:
            self.start(name)

    def start(self, name: str, *faults: DataPlaneFault, may_lead: bool = True, volume: str = "") -> None:
        """A new pod of this name."""
        self._pods += 1
        found = Pooler(
            server(name), f"uid-{self._pods}", PoolerState.RUNNING, may_lead, frozenset(faults), volume
        )
        self.poolers[found.id] = found

    def set_faults(self, name: str, *faults: DataPlaneFault) -> None:
        self.poolers[server(name)] = self.poolers[server(name)]._replace(faults=frozenset(faults))

    def shut_down(self, name: str) -> None:
        self._set_state(name, PoolerState.SHUT_DOWN)

    def lose(self, name: str) -> None:
        """The pod is gone and its record says otherwise."""
        self._set_state(name, PoolerState.AWAY)

    def delete_record(self, name: str) -> None:
        del self.poolers[server(name)]

    def _set_state(self, name: str, state: PoolerState) -> None:
        self.poolers[server(name)] = self.poolers[server(name)]._replace(state=state)

    def wait(self, seconds: float) -> None:
        until = self.now + seconds
        self.state = advance(self.view, self.policy)
        while self.now < until:
            self.now = min(until, self.now + STEP_SECONDS)
            self.state = advance(self.view, self.policy)

    @property
    def view(self) -> ShardView:
        return ShardView(self.state, self.poolers, self.faults, self.now, TIMING, self.restorable)

    @property
    def primary(self) -> str:
        return self.view.primary.name if self.view.primary is not None else ""

    @property
    def cohort(self) -> set[str]:
        return {member.name for member in self.state.rule.cohort} if self.state.rule is not None else set()

    @property
    def streaming(self) -> set[str]:
        return {follower.name for follower in self.view.followers()}
