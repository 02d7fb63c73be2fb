"""Template text to tokens to parse trees.

Imports `gotemplate.golang`.
"""
