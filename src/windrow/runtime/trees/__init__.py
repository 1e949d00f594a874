"""Queries that are trees of relations: leaves with windows, operators above them, one clock."""
