"""Template functions on dates."""
