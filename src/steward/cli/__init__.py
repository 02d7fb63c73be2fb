"""The command line `steward`: `main` lists the verbs, `commands` has one module for each.

May import every other package; only `docgen` imports it.
"""
