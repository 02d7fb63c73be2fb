"""Template functions on numbers and versions."""
