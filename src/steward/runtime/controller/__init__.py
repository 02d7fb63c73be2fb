"""Controllers: work queue, triggers, predicates, the worker loop.

Imports `runtime.plan` and `runtime.observability`.
"""
