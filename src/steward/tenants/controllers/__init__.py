"""The three controllers: read, observe, plan, carry out, report."""
