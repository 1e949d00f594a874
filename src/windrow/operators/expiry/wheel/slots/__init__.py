"""Slots of chunks: a ring for the near ones, digits for the far ones."""
