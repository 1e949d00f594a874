"""Leaves in columns, group by group, with blocks above them."""
