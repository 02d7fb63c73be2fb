"""What a spec says about Postgres itself: roles of databases, settings of servers. Pure.

Imports `multigres.resolution` and `multigres.api`.
"""
