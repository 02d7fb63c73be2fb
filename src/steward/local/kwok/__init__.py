"""The stages by which kwok simulates nodes, pods and volumes.

Pure.
"""
