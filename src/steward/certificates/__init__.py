"""Certificate authorities and leaf certificates kept in Secrets, and their renewal.

Imports `kube` and `runtime.observability`. Used by `admission` and by `multigres`.
"""
