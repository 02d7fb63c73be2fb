"""Template functions on digests, keys and random values."""
