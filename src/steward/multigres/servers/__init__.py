"""The Postgres servers of a shard: what the data plane reports about them, and what follows from it. Pure.

Imports `multigres.api`, `multigres.topology`, `multigres.views` and `kube.objects`.
"""
