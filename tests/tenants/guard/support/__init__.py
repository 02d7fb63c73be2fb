"""Helpers of the tests of the deletion guard."""
