"""Gives a fresh control plane its nodes and storage classes.

Imports `local.settings` and `local.kwok`.
"""
