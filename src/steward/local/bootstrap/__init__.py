"""Gives a fresh control plane its nodes and storage classes.

Imports `local.settings`, `local.kwok`, `local.certificates` and `local.health`.
"""
