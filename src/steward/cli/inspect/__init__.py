"""Object trees for `status`, `tree` and `why`: reads objects, their owners and their health.

Imports `kube`, the pod checks of `multigres.status`, and `cli.connection`.
"""
