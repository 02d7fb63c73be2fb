"""Queries of the exporter, on a real PostgreSQL server."""

import asyncpg
import pytest

from steward.multigres.objects.shard_shared import EXPORTER_QUERIES
from tests.support.database_servers import DatabaseServer
from tests.support.yaml_text import load_yaml

QUERIES = load_yaml(EXPORTER_QUERIES)


@pytest.mark.parametrize("name", sorted(QUERIES))
async def test_postgres_answers_a_query_with_a_number_for_each_metric(
    postgres: DatabaseServer, name: str
) -> None:
    connection = await asyncpg.connect(
        host=postgres.host,
        port=postgres.port,
        user=postgres.user,
        password=postgres.password,
        database="postgres",
    )
    try:
        [row] = await connection.fetch(QUERIES[name]["query"])
    finally:
        await connection.close()
    metrics = [column for metric in QUERIES[name]["metrics"] for column in metric]
    assert list(row.keys()) == metrics
    assert all(float(row[column]) >= 0 for column in metrics)
