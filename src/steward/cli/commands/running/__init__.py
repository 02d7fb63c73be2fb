"""Verbs about what runs in a cluster: one module for each, as in the folder above.

The decisions are in modules of `steward.cli`, without click.
"""
