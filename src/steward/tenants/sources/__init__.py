"""Reads rows from MySQL, PostgreSQL and SQLite, and decides which of them can become Tenants.

Imports `tenants.api`. Readers do I/O; `rows`, `values`, `identifiers` and `postgres_{columns,copy}` are pure.
"""
