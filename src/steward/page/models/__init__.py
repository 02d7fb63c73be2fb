"""View models: pure functions from a snapshot of the cluster to what a view shows.

May import `cli` and the API packages; does no I/O.
"""
