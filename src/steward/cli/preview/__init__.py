"""Previews of changes, without writing: of registries and of clusters, and their text.

Imports the code of the operators, so that a preview decides as they do, and the modules of `cli` that read a cluster.
"""
