"""Parse trees to Python functions, and static checks.

Imports `gotemplate.syntax`, `values` and `fmt`.
"""
