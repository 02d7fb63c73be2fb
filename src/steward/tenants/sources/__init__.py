"""Reads rows from MySQL, PostgreSQL and SQLite, and decides which of them can become Tenants.

Imports `tenants.api`. Readers do I/O; `rows`, `values`, `identifiers`, `error_text`, `mysql_packets` and
`postgres_{columns,copy}` are pure. `limits` has the bounds of what a database may send.
"""
