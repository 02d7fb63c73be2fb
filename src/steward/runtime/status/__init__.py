"""Status reporting that both operators share: throttling, condition transitions, stalls.

Imports `kube`, `runtime.plan` and `runtime.reconcile`.
"""
