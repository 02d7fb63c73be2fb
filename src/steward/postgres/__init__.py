"""Connections to PostgreSQL servers that are not trusted.

Imports no other package of Steward.
"""
