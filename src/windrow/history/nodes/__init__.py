"""Nodes outside a region: archived, forgotten, or of several answers."""
