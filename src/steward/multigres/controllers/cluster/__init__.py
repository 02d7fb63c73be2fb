"""The MultigresCluster controller.

Imports `multigres.controllers.common`.
"""
