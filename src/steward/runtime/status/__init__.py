"""What both operators need to report a status: throttling, condition transitions, stalls.

Imports `kube` and `runtime.plan`.
"""
