"""Go's net/url and net/netip."""
