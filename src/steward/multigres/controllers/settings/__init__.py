"""The settings controller: lets Postgres servers read changed settings.

Imports `multigres.controllers.postgres_access` and `common`.
"""
