"""One controller per kind: read, observe, plan, execute, report."""
