"""The live view and the change feed of a select: rows that come and go and never change."""
