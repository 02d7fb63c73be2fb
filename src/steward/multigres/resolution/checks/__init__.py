"""Rules that a resolved cluster must obey, one subject a module. Pure."""
