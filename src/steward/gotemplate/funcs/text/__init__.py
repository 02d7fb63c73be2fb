"""Template functions on text."""
