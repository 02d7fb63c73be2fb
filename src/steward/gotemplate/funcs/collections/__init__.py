"""Template functions on lists and maps."""
