"""Previews of changes, without writing: of registries and of clusters, and their text.

Imports the operators' pure packages and `cli.inspect`.
"""
