"""Compiles parse trees to Python functions.

Imports `gotemplate.syntax`, `values` and `fmt`.
"""
