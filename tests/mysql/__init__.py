"""`make mysql`: reads from a real MySQL server. A plain run uses MariaDB, which has another default login method."""
