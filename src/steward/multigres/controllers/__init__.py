"""One controller per kind: read, observe, plan, execute, report. `common` has the code that they share.

Imports `runtime`, `certificates`, `kube`, `etcd` and everything of `multigres` except `operator` and `webhooks`.
"""
