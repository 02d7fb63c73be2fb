"""The Shard controller.

Imports `multigres.controllers.common`.
"""
