"""The roles controller: creates and changes the roles of databases in Postgres.

Imports `multigres.controllers.common`.
"""
