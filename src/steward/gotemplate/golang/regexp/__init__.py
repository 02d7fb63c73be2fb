"""Go's regexp package on RE2."""
