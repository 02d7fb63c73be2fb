"""The deletion guard: decides whether deletions that a read of the table implies are carried out or held.

Pure. Imports `tenants.api` and `tenants.sources.rows`.
"""
