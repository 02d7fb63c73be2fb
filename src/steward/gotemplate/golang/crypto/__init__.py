"""The cryptography that sprig's functions use."""
