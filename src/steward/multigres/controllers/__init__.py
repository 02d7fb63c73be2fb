"""One controller a kind: read, observe, plan, carry out, report."""
