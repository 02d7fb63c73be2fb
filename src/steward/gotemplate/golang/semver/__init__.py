"""Masterminds/semver."""
