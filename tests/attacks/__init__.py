"""Attacks on the operators with their default flags: one file for each kind of attacker."""
