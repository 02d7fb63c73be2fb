"""What controllers share that log in to Postgres: addresses, passwords, and what they asked for and found there.

Imports `multigres.controllers.common`.
"""
