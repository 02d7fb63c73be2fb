"""The Cell controller.

Imports `multigres.controllers.common`.
"""
