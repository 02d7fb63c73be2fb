"""The volume usage controller: decides when volumes with `storage.autogrow` grow.

Imports `multigres.controllers.postgres_access` and `common`.
"""
