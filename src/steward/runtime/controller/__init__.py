"""Controllers: work queue, triggers, predicates, the worker loop.

Imports `kube`, `runtime.plan`, `runtime.observability` and `runtime.reconcile`.
"""
