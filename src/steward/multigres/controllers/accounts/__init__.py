"""Accounts in Postgres: what the cluster controller and the roles controller share.

Imports `multigres.controllers.common`.
"""
