"""Shared by the three controllers: context, rollout state, document cache, child watches, cascade guard, finalizers.

Imports the pure packages of `tenants` and `runtime`.
"""
