"""Static analysis of templates: their problems, and the variables and functions that they use.

Imports all of `gotemplate`.
"""
