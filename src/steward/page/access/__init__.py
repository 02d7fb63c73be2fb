"""Who the reader is: sessions, identities, access reviews and rate limits."""
