"""The servers controller: observes the Postgres servers of each shard.

Imports `multigres.controllers.common`.
"""
