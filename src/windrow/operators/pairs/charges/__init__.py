"""Joined rows charged to the row that leaves first."""
