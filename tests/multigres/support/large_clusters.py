"""Specs whose lists multiply."""

from typing import Any


def product_spec(databases: int, groups: int, shards: int, cells: int, **shard: Any) -> dict[str, Any]:
    """A spec with as many databases, table groups in each, shards in each of those, and cells."""
    shard_entries = [{"name": f"s{number}", **shard} for number in range(shards)]
    group_entries = [{"name": f"g{number}", "shards": shard_entries} for number in range(groups)]
    return {
        "cells": [{"name": f"c{number}"} for number in range(cells)],
        "databases": [{"name": f"d{number}", "tablegroups": group_entries} for number in range(databases)],
    }


def small_shard() -> dict[str, Any]:
    """A shard with one server in each cell."""
    return {"spec": {"pools": {"main": {"replicasPerCell": 1}}}}
