"""Shared by the three controllers: context, rollout state, document cache, child watches, cascade guard, debounce,
stall reporter, migration from the Go operator.

Imports the pure packages of `tenants` and `runtime`.
"""
