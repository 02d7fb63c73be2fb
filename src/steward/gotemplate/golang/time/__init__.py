"""Go's time package."""
