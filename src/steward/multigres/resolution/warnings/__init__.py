"""Warnings about specs that are valid and unwise, by subject. Pure.

Imports `multigres.resolution` and `multigres.api`.
"""
