"""The sorted end of a ladder."""
