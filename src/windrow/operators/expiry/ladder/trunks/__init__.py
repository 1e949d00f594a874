"""Trunks of nodes in chunks, and the branches of nodes."""
