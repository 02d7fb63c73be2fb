"""Which topology record belongs to a pod."""

from steward.multigres.servers.records import records_by_pod
from steward.multigres.topology.store_records import SHUTDOWN
from tests.multigres.support.servers import pooler_record


def test_records_are_found_by_the_names_of_pods() -> None:
    record = pooler_record("pg-0")
    assert records_by_pod([record, pooler_record("pg-9")], ["pg-0", "pg-1"]) == {"pg-0": record}


def test_record_of_an_earlier_pooler_of_the_pod_is_ignored() -> None:
    """With a random service id a pooler that starts again registers under another name."""
    old = pooler_record("pg-0", is_primary=True, lifecycle=SHUTDOWN)
    new = pooler_record("pg-0")._replace(name="x7f3")
    assert records_by_pod([old, new], ["pg-0"]) == {"pg-0": new}
