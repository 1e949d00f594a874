"""Bounds and proofs: groups as columns of a linear program."""
