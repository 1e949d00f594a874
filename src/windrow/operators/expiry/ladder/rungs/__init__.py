"""The rungs of a ladder."""
