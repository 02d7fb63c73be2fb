"""Controllers: work queue, triggers, predicates, the worker loop.

Imports `kube`, `runtime.plan` and `runtime.observability`.
"""
