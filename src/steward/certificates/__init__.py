"""Certificate authorities and leaf certificates kept in Secrets, and their renewal.

Imports `kube`. Used by `runtime`, `admission`, `multigres`, `local` and `testkit`.
"""
