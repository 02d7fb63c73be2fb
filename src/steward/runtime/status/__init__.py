"""Status reporting that both operators share: throttling, condition transitions, stalls.

Imports `kube` and `runtime.plan`.
"""
