"""Progress on a terminal: a live line, a live tree.

Imports `cli.inspect` and `local.progress`.
"""
