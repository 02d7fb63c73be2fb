"""Plans and their execution: the steps, the executor, the dry run, the event recorder.

Imports `kube`, `runtime.observability` and `runtime.reconcile`.
"""
